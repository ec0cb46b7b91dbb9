//! OCaml 4.11 to 4.14: one state, which a variable leads to.

use memtrail_ocaml::{Version, symbols};

use crate::context::frame_tables::FrameTables;
use crate::context::generation::Locate;
use crate::context::state::StateVariable;
use crate::os::symbol::required;

/// The generation.
pub(crate) struct Ocaml4;

impl Locate for Ocaml4 {
    fn state(&self) -> Result<StateVariable, &'static str> {
        Ok(StateVariable::Global(required(symbols::state::SINGLE)?.cast()))
    }

    fn frame_tables(&self, _: Version) -> Result<FrameTables, &'static str> {
        Ok(FrameTables::Variables {
            descriptors: required(symbols::callstack::DESCRIPTORS)? as u64,
            mask: required(symbols::callstack::DESCRIPTORS_MASK)? as u64,
        })
    }

    fn capture_function(&self) -> &'static str {
        symbols::callstack::COLLECT_SINGLE
    }
}
