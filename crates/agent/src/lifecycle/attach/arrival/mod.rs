//! Brings a program that runs to a moment at which its runtime is whole, and does something there.
//!
//! A thread of ours waits for it. The program's own thread gets there by a hook of the runtime's; a program that waits in a
//! system call is replaced by our thread for a moment.

mod ocaml4;
mod ocaml5;
mod work;

use memtrail_ocaml::{Generation, Version};

pub(super) use work::{Arrival, work_at};

/// Finds how a program of this version is brought there. `main_thread` is the thread pointer of its main thread. The name of
/// what is missing is the error.
pub(super) fn find(version: Version, main_thread: u64) -> Result<Box<dyn Arrival>, &'static str> {
    Ok(match version.generation() {
        Generation::Single => Box::new(ocaml4::Ocaml4Arrival::find(version)?),
        Generation::Multicore => Box::new(ocaml5::Ocaml5Arrival::find(version, main_thread)?),
    })
}
