//! A frozen copy of a process.

use std::time::Duration;

use crate::code::Task;
use crate::error::{CopyError, StopError};
use crate::injection;
use crate::request::{self, Event, Tid};
use crate::status::Status;
use crate::stop::StoppedProcess;

/// The parent of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The first process of the system or of the container: a child of the process makes the copy, and ends at once.
    ByChild,
    /// The process itself, which is not told of its end. For the first process of a container.
    Direct,
}

/// A copy of a process that sleeps. It is killed when this is dropped.
#[derive(Debug)]
pub struct ProcessCopy {
    tid: Tid,
    /// The process it is a copy of.
    original: u32,
    has_ended: bool,
}

/// How long a process may take to stop once more.
const STOP_LIMIT: Duration = Duration::from_secs(2);

impl StoppedProcess {
    /// Makes a frozen copy.
    ///
    /// # Errors
    /// Those of the process's calls of the kernel.
    pub fn copy(&mut self, way: Way) -> Result<ProcessCopy, CopyError> {
        let task = match way {
            Way::ByChild => Task::CopyByChild,
            Way::Direct => Task::Copy,
        };
        let tid = injection::run(self, task)?.ok_or(CopyError::Ended)?;
        Ok(ProcessCopy { tid, original: self.pid, has_ended: false })
    }
}

impl ProcessCopy {
    /// Its number.
    pub const fn id(&self) -> u32 {
        self.tid.cast_unsigned()
    }

    /// Kills the copy. If the process is its parent, the process is made to forget it.
    ///
    /// # Errors
    /// Those of stopping the process once more.
    pub fn end(mut self) -> Result<(), StopError> {
        let status = Status::of_process(self.id()).unwrap_or_default();
        self.kill();
        if status.parent != self.original {
            return Ok(());
        }
        let stopped = StoppedProcess::stop(self.original, STOP_LIMIT)?;
        match injection::run(&stopped, Task::WaitFor(status.inner_pid)) {
            Err(CopyError::Failed(error)) => Err(error.into()),
            // The process may have waited for it by itself.
            _ => Ok(()),
        }
    }

    fn kill(&mut self) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        request::kill(self.tid);
        // Its parent hears of its end after its tracer.
        while !matches!(request::wait(self.tid, true), Ok(Some((_, Event::Ended))) | Err(_)) {}
    }
}

impl Drop for ProcessCopy {
    fn drop(&mut self) {
        self.kill();
    }
}
