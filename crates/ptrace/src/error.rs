//! Reasons why a process cannot be stopped or copied.

use std::io;

/// Why the threads of a process do not stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// It ended, or was never there.
    #[error("it has ended")]
    Ended,
    /// Another tracer has it.
    #[error("process {0} traces it")]
    Traced(u32),
    /// The kernel refuses.
    #[error("the kernel does not allow it to be traced")]
    NotPermitted,
    /// A thread does not come out of the kernel.
    #[error("its thread {0} does not stop")]
    DoesNotStop(u32),
    /// Another failure of the kernel's.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

/// Why there is no copy of a process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// It ended meanwhile.
    #[error("it has ended")]
    Ended,
    /// A thread was given a signal before anything was done: stop it and try again.
    #[error("a signal came in between")]
    Interrupted,
    /// Its `clone` failed.
    #[error("it cannot be copied: {0}")]
    Clone(io::Error),
    /// It may be ended for a system call.
    #[error("it runs under a filter of system calls")]
    Filtered,
    /// No code can be put anywhere.
    #[error("its code has no room for a call of the kernel")]
    NoRoom,
    /// Another failure of the kernel's.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

/// Why no library was loaded into a process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No thread could be made to run code.
    #[error(transparent)]
    NotRun(#[from] CopyError),
    /// The dynamic linker refuses; its message.
    #[error("{0}")]
    Linker(String),
    /// The library's entry returned a number.
    #[error("the library's entry returned {0}")]
    Entry(i32),
    /// The thread waits for another one. It goes on, and may load the library later.
    #[error("the thread that is to load the library waits for another one")]
    TakesTooLong,
    /// Another failure of the kernel's.
    #[error(transparent)]
    Failed(#[from] io::Error),
}
