//! Stops all threads of a process, and lets them go on.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StopError;
use crate::registers::Registers;
use crate::request::{self, Event, Tid};
use crate::status::Status;

/// Between looks at whether a thread is stopped.
const LOOK: Duration = Duration::from_micros(20);

/// A thread that is stopped.
#[derive(Clone, Copy, Debug)]
pub struct StoppedThread {
    pub(crate) tid: Tid,
    pub(crate) registers: Registers,
}

impl StoppedThread {
    /// The kernel's number.
    pub const fn id(&self) -> u32 {
        self.tid.cast_unsigned()
    }

    /// The registers that it goes on with.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }
}

/// A process whose threads are all stopped. They go on when this is dropped.
#[derive(Debug)]
pub struct StoppedProcess {
    pub(crate) pid: u32,
    pub(crate) threads: Vec<StoppedThread>,
    memory: File,
}

impl StoppedProcess {
    /// Stops all threads of a process. Each of them has to come out of the kernel within `limit`.
    ///
    /// # Errors
    /// Those of the kernel. Threads that were stopped go on when this process ends, at the latest.
    pub fn stop(pid: u32, limit: Duration) -> Result<Self, StopError> {
        let deadline = Instant::now() + limit;
        let mut attached = HashSet::new();
        let mut threads: Vec<StoppedThread> = Vec::new();
        // Threads may be made while others are stopped.
        loop {
            let mut fresh = Vec::new();
            for tid in tasks(pid)? {
                if attached.insert(tid) && seize(pid, tid)? {
                    fresh.push(tid);
                }
            }
            if fresh.is_empty() {
                break;
            }
            for tid in fresh {
                threads.extend(stopped(tid, deadline)?);
            }
        }
        let first = threads.first().ok_or(StopError::Ended)?.id();
        // The main thread may have ended, and has no memory then.
        let memory = File::open(format!("/proc/{pid}/task/{first}/mem"))?;
        Ok(Self { pid, threads, memory })
    }

    /// All threads.
    pub fn threads(&self) -> &[StoppedThread] {
        &self.threads
    }

    /// Reads memory of the process; false unless all of it is there.
    pub fn read(&self, at: u64, into: &mut [u8]) -> bool {
        self.memory.read_exact_at(into, at).is_ok()
    }

    /// The kernel's list of the process's mappings.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn mappings(&self) -> io::Result<Vec<u8>> {
        let first = self.threads.first().map_or(self.pid, StoppedThread::id);
        fs::read(format!("/proc/{}/task/{first}/maps", self.pid))
    }

    /// Lets all threads go on. A process that had been stopped stays stopped.
    pub fn resume(self) {}
}

impl Drop for StoppedProcess {
    fn drop(&mut self) {
        for thread in &self.threads {
            // It may have been killed.
            let _ = request::detach(thread.tid);
        }
    }
}

fn tasks(pid: u32) -> Result<Vec<Tid>, StopError> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).map_err(ended_or)?;
    let names = entries.flatten().map(|entry| entry.file_name());
    Ok(names.filter_map(|name| name.to_str()?.parse().ok()).collect())
}

fn ended_or(error: io::Error) -> StopError {
    if error.kind() == io::ErrorKind::NotFound { StopError::Ended } else { error.into() }
}

/// Attaches to a thread; false if it has ended.
fn seize(pid: u32, tid: Tid) -> Result<bool, StopError> {
    match request::seize(tid).and_then(|()| request::interrupt(tid)) {
        Ok(()) => Ok(true),
        Err(error) => {
            let status = Status::of_thread(pid, tid.cast_unsigned());
            match (status, error.raw_os_error()) {
                (Err(_), _) | (_, Some(libc::ESRCH)) => Ok(false),
                (Ok(status), _) if status.has_ended() => Ok(false),
                (Ok(status), _) if status.tracer != 0 => Err(StopError::Traced(status.tracer)),
                (_, Some(libc::EPERM | libc::EACCES)) => Err(StopError::NotPermitted),
                _ => Err(error.into()),
            }
        }
    }
}

/// Waits until a thread is stopped; `None` if it ended.
fn stopped(tid: Tid, deadline: Instant) -> Result<Option<StoppedThread>, StopError> {
    loop {
        match request::wait(tid, false)? {
            Some((_, Event::Stopped)) => break,
            Some((_, Event::Ended)) => return Ok(None),
            Some((_, Event::Signal(signal))) => go_on(tid, signal)?,
            Some(_) => go_on(tid, 0)?,
            None if Instant::now() > deadline => {
                return Err(StopError::DoesNotStop(tid.cast_unsigned()));
            }
            None => thread::sleep(LOOK),
        }
    }
    let Ok(mut registers) = request::registers(tid) else { return Ok(None) };
    if registers.undo_interruption() {
        // At once: the process must not see it if this one is killed.
        request::set_registers(tid, &registers)?;
    }
    Ok(Some(StoppedThread { tid, registers }))
}

/// A thread that is killed at this moment is reported by the next wait.
fn go_on(tid: Tid, signal: i32) -> io::Result<()> {
    match request::go_on(tid, signal) {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Err(error),
        _ => Ok(()),
    }
}
