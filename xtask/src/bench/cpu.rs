//! CPU time of a finished command.

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::command::Outcome;

/// Run to the end, output thrown away; user and system time of it and all it waited for.
pub(super) fn of(command: &mut Command) -> Outcome<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = children()?;
    let status = command.status().map_err(|e| format!("cannot start {command:?}: {e}"))?;
    if !status.success() {
        return Err(format!("{command:?} ended with {status}"));
    }
    let after = children()?;
    Ok(total(&after).saturating_sub(total(&before)))
}

/// CPU time of all that was run and has ended.
pub(super) fn so_far() -> Outcome<Duration> {
    children().map(|usage| total(&usage))
}

fn children() -> Outcome<Usage> {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("getrusage: {e}"))
}

fn total(usage: &Usage) -> Duration {
    let duration = |time: TimeVal| {
        Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec()).unwrap_or(0))
    };
    duration(usage.user_time()) + duration(usage.system_time())
}
