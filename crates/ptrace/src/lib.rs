//! Stops the threads of a process that runs, and makes a frozen copy of it or loads a library into it, with `ptrace(2)`. For
//! Linux on x86-64.
//!
//! ```text
//! let mut stopped = StoppedProcess::stop(pid, limit)?;   // all threads are stopped
//! let copy = stopped.copy(way)?;                         // one of them was made to call clone
//! stopped.resume();                                      // as if nothing had happened
//! // read /proc/COPY/mem for as long as it takes
//! copy.end()?;
//!
//! let stopped = StoppedProcess::stop(pid, limit)?;
//! stopped.load(thread, &library, &functions, limit)?;     // that thread calls dlopen; the others run meanwhile
//! ```
//!
//! Invariants:
//!
//! - If the caller is killed at any moment, the process runs on. The kernel detaches from its threads, and the code that one
//!   of them was made to run ends by itself: it restores each register and goes back to where the thread was.
//! - The process's stacks are not written to. There are no breakpoints.
//! - The copy closes its descriptors, blocks all signals and sleeps. It is killed with its tracer, and ends after ten minutes
//!   in any case.
//!
//! The kernel takes requests from the thread alone that attached, and [`ProcessCopy`] and [`StoppedProcess`] wait for any
//! child: use them on the main thread of a process that has no other children.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod code;
mod copy;
mod error;
mod injection;
mod load;
mod load_code;
mod padding;
mod registers;
mod request;
mod status;
mod stop;

pub use copy::{ProcessCopy, Way};
pub use error::{CopyError, LoadError, StopError};
pub use load_code::{LibcFunctions, Library};
pub use registers::Registers;
pub use status::Status;
pub use stop::{StoppedProcess, StoppedThread};
