//! Tells the launcher what became of a process.

use std::path::Path;

use memtrail_recording::relay::Operation;
use memtrail_recording::session::{State, Status};

use crate::os::limits::file_size_limit;
use crate::os::program::executable;
use crate::recording::relay;

/// Reports on an image of process `pid`.
pub(crate) fn report(session: &Path, pid: u32, image: u32, state: State) {
    report_program(session, pid, image, executable(), state);
}

/// Reports on a program that a process is about to become, or another one.
pub(crate) fn report_program(session: &Path, pid: u32, image: u32, program: String, state: State) {
    let status = Status { pid, image, program, state };
    // A file beyond the limit on their size would be a SIGXFSZ for the target.
    let is_allowed = file_size_limit() >= status.to_json().len() as u64;
    if !is_allowed || status.save(session).is_err() {
        // Without a launcher nobody listens.
        let _ = relay::call(pid, image, Operation::Report, &status.to_json());
    }
}
