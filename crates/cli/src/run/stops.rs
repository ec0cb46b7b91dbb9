//! The program is stopped: this process stops as well, so that a shell sees its job stopped, and goes on with it.
//!
//! A stopped process cannot see that its child goes on. Whoever continues the program alone (`kill -CONT`, tools that limit
//! its CPU time) does not continue memtrail, so a process of memtrail's looks at both and does that.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use super::signals;
use crate::error::Failure;

/// Name of the command that is that process.
const COMMAND: &str = "wake-up";

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Wake a stopped process when another one goes on
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The process that is stopped
    sleeper: u32,
    /// The process that it waits for
    program: u32,
}

/// Stops by `signal` until the program, or this process, is continued.
pub(super) fn stop_with(program: u32, signal: i32) {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(COMMAND).arg(COMMAND).arg(std::process::id().to_string()).arg(program.to_string());
    command.env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal to this group must not stop it.
    command.process_group(0);
    // Without it nobody would wake us.
    let Ok(mut waker) = command.spawn() else { return };
    signals::set_waker(waker.id());
    signals::stop_by(signal);
    let _ = waker.kill();
    let _ = waker.wait();
    signals::set_waker(0);
}

/// The program of that process.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    loop {
        match (state(args.sleeper), state(args.program)) {
            (None | Some('Z'), _) => return Ok(ExitCode::SUCCESS),
            (Some('T'), program) if program != Some('T') => signals::wake(args.sleeper),
            _ => thread::sleep(LOOK),
        }
    }
}

/// The letter of a process's state; `None` if it is gone.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may have blanks and parentheses.
    stat.rsplit_once(") ")?.1.chars().next()
}
