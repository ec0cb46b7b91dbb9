//! The OCaml helper: built with the user's own compiler, run once for all units.

mod build;
mod run;

pub use build::{BuildError, build};
pub(crate) use run::{Answer, Request, run};
