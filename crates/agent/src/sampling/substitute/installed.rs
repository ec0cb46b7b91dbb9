//! What takes the place of the runtime's sampler, once it is installed.

use std::sync::OnceLock;

use super::functions::Functions;
use crate::context::target::Target;

/// What takes the place of the runtime's sampler.
pub(super) struct Substitute {
    pub(super) target: &'static Target,
    pub(super) functions: Functions,
}

static SUBSTITUTE: OnceLock<Substitute> = OnceLock::new();

/// Installs it. `None` if one is installed already.
pub(super) fn install(substitute: Substitute) -> Option<&'static Substitute> {
    SUBSTITUTE.set(substitute).ok()?;
    SUBSTITUTE.get()
}

/// There once it is installed.
pub(super) fn substitute() -> Option<&'static Substitute> {
    SUBSTITUTE.get()
}
