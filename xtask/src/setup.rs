//! Bring what the tests need.

use crate::command::Outcome;
use crate::{compilers, packages, web, wild};

/// Idempotent; quiet when there is nothing to do. `with_flambda` brings compilers with options of their own, too.
pub(crate) fn run(with_flambda: bool) -> Outcome {
    packages::install()?;
    web::install()?;
    compilers::install(with_flambda)?;
    wild::install()
}
