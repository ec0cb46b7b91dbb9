//! Other memtrails at work on the same process.
//!
//! The kernel lets one process at a time trace another. Two people may ask for a snapshot at once, and the tracer of a command
//! that was interrupted takes a moment to end.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_ptrace::{StopError, StoppedProcess};

/// A tracer that makes a copy lets the process go sooner.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
/// Times that the kernel forbids it before that is believed.
const FORBIDDEN: u32 = 3;

/// Stops a process, after another memtrail has let it go. Other tracers are not waited for: a debugger stays.
///
/// # Errors
/// The errors of [`StoppedProcess::stop`].
pub(crate) fn stop(pid: u32, limit: Duration) -> Result<StoppedProcess, StopError> {
    let (begun, mut forbidden) = (Instant::now(), 0);
    loop {
        let result = StoppedProcess::stop(pid, limit);
        let may_help = match &result {
            Err(StopError::Traced(tracer)) => is_memtrail(*tracer) && begun.elapsed() < PATIENCE,
            // If the other memtrail lets the process go meanwhile, the kernel names no tracer.
            Err(StopError::NotPermitted) => {
                forbidden += 1;
                forbidden < FORBIDDEN
            }
            _ => false,
        };
        if !may_help {
            return result;
        }
        thread::sleep(LOOK);
    }
}

fn is_memtrail(tracer: u32) -> bool {
    let own = program("self");
    own.is_some() && program(&tracer.to_string()) == own
}

/// The file that a process runs, by device and number: it may have been replaced since.
fn program(process: &str) -> Option<(u64, u64)> {
    let file = fs::metadata(format!("/proc/{process}/exe")).ok()?;
    Some((file.dev(), file.ino()))
}
