//! Bring what the tests need.

use crate::command::Outcome;
use crate::{compilers, packages, web, wild};

/// Idempotent; quiet when there is nothing to do.
pub(crate) fn run() -> Outcome {
    packages::install()?;
    web::install()?;
    compilers::install()?;
    wild::install()
}
