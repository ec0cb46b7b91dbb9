//! OCaml 5: a state for each domain, which a thread-local variable leads to.

use std::ffi::c_void;
use std::mem::transmute;

use memtrail_ocaml::{Version, symbols};

use crate::context::frame_tables::{FrameTables, GivenPair, GivenTable};
use crate::context::generation::Locate;
use crate::context::state::StateVariable;
use crate::os::symbol::required;

type GetPair = unsafe extern "C" fn() -> GivenPair;
type GetTable = unsafe extern "C" fn() -> GivenTable;
type GetStructure = unsafe extern "C" fn() -> u64;

/// The generation.
pub(crate) struct Ocaml5;

impl Locate for Ocaml5 {
    fn state(&self) -> Result<StateVariable, &'static str> {
        Ok(StateVariable::thread_local(required(symbols::state::MULTICORE)?.cast()))
    }

    fn frame_tables(&self, version: Version) -> Result<FrameTables, &'static str> {
        let get = required(symbols::callstack::GET_DESCRIPTORS)?;
        // SAFETY: the function has these types in these versions (see `symbols`).
        Ok(unsafe {
            match version {
                Version::V5_0 => FrameTables::GivenPair(transmute::<*mut c_void, GetPair>(get)),
                Version::V5_1 | Version::V5_2 => {
                    FrameTables::Given(transmute::<*mut c_void, GetTable>(get))
                }
                _ => FrameTables::Structure(transmute::<*mut c_void, GetStructure>(get)()),
            }
        })
    }

    fn capture_function(&self) -> &'static str {
        symbols::callstack::COLLECT_MULTICORE
    }
}
