//! What is recorded, and how: the runtime of this process, and the options.

pub(crate) mod checked_memory;
pub(crate) mod frame_tables;
pub(crate) mod functions;
pub(crate) mod generation;
pub(crate) mod halvings;
pub(crate) mod ocaml4;
pub(crate) mod ocaml5;
pub(crate) mod runtime;
pub(crate) mod state;
pub(crate) mod target;
