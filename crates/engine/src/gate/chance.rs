//! How probable it is that chance makes an estimate differ so much.

/// Chance may fail a recording that keeps all limits so often, whatever the number of gates.
pub(super) const ALPHA: f64 = 1e-3;
