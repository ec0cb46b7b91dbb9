//! The launcher's variables as this process got them, kept for programs that it becomes or starts.

use std::sync::OnceLock;

use crate::lifecycle::environment::Injected;

static INJECTED: OnceLock<Injected> = OnceLock::new();

/// Keeps them for the life of the process.
pub(crate) fn keep(injected: Injected) -> &'static Injected {
    INJECTED.get_or_init(|| injected)
}

/// The variables, if this process was started by a launcher.
pub(crate) fn injected() -> Option<&'static Injected> {
    INJECTED.get()
}
