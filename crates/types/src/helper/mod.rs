//! The OCaml helper: built with the user's own compiler, run once for all units.

mod build;
mod run;
mod terms;

pub use build::{BuildError, build};
pub(crate) use run::{Answer, Request, run};
pub(crate) use terms::terms;
