//! OCaml 5.3 and later: a state for each domain, which a thread-local variable leads to.

use std::ffi::c_void;

use memtrail_ocaml::symbols;

use crate::context::family::Locate;
use crate::context::frame_tables::FrameTables;
use crate::context::state::StateVariable;
use crate::os::symbol::required;

/// The family.
pub(crate) struct Ocaml5;

impl Locate for Ocaml5 {
    fn state(&self) -> Result<StateVariable, &'static str> {
        Ok(StateVariable::thread_local(required(symbols::state::MULTICORE)?.cast()))
    }

    fn frame_tables(&self) -> Result<FrameTables, &'static str> {
        let get = required(symbols::callstack::GET_DESCRIPTORS)?;
        // SAFETY: from 5.3 on the function has this type; earlier ones cannot sample.
        let structure =
            unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(get)() };
        Ok(FrameTables::Structure(structure))
    }

    fn capture_function(&self) -> &'static str {
        symbols::callstack::COLLECT_MULTICORE
    }
}
