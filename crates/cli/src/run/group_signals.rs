//! Tells signals that were sent to all processes of the group from those that were sent to memtrail alone.
//!
//! `kill -- -GROUP`, `timeout`, a shell's `kill %1`, a script's `kill 0` and a service manager that stops a service signal
//! each process, the program among them: passed on, it would have the signal twice, which ends many a server at once that
//! would have ended in order. The kernel does not tell one from the other. So a process of memtrail's, in the same group,
//! reports the signals that it is sent. It ends with memtrail.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::signals;
use crate::error::Failure;

/// Name of the command that is this process.
const COMMAND: &str = "watch-group";

/// It starts so long after the program: those that end sooner are hardly ever signalled.
const DELAY: Duration = Duration::from_millis(50);

/// How long its report is waited for. A signal to memtrail alone is passed on so much later.
const PATIENCE: Duration = Duration::from_millis(50);

/// A report that is older is of another signal.
const OLD: Duration = Duration::from_millis(100);

/// The process.
enum Watcher {
    NotStarted,
    Running(Child),
    Ended,
}

static WATCHER: Mutex<Watcher> = Mutex::new(Watcher::NotStarted);

/// Signals that it was sent, and when it reported them.
static REPORTED: Mutex<Vec<(i32, Instant)>> = Mutex::new(Vec::new());
static REPORT: Condvar = Condvar::new();

fn watcher() -> MutexGuard<'static, Watcher> {
    WATCHER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reported() -> MutexGuard<'static, Vec<(i32, Instant)>> {
    REPORTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts it. Where that fails all signals are taken for ones to memtrail alone.
pub(super) fn begin() {
    let _ = thread::Builder::new().stack_size(128 * 1024).spawn(|| {
        thread::sleep(DELAY);
        let Some(mut reports) = start() else { return };
        let mut signal = [0];
        while reports.read_exact(&mut signal).is_ok() {
            reported().push((signal[0].into(), Instant::now()));
            REPORT.notify_all();
        }
        end();
    });
}

/// What it reports, a byte each. `None` if it cannot be started, or need not be any more.
fn start() -> Option<impl io::Read> {
    let mut watcher = watcher();
    if !matches!(*watcher, Watcher::NotStarted) {
        return None;
    }
    let mut command = Command::new("/proc/self/exe");
    // Who looks for memtrail by name, to signal it, is not to find this one.
    command.arg0(COMMAND).arg(COMMAND).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let reports = child.stdout.take();
    *watcher = Watcher::Running(child);
    reports
}

/// Whether a signal that this process was sent now was sent to all of the group.
pub(super) fn is_for_all(signal: i32) -> bool {
    if !matches!(*watcher(), Watcher::Running(_)) {
        return false;
    }
    let begun = Instant::now();
    let mut all = reported();
    loop {
        all.retain(|(_, at)| at.elapsed() < OLD);
        // It stays there: `timeout` signals its child, then the group, and a program that was sent both at once has one.
        if all.iter().any(|&(reported, _)| reported == signal) {
            return true;
        }
        let Some(left) = PATIENCE.checked_sub(begun.elapsed()) else { return false };
        all = REPORT.wait_timeout(all, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Ends the process.
pub(super) fn end() {
    let was = std::mem::replace(&mut *watcher(), Watcher::Ended);
    if let Watcher::Running(mut child) = was {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Report signals that are sent to a process group
#[derive(clap::Args)]
pub(crate) struct Args {}

/// The program of that process: until its standard input ends.
#[allow(clippy::unnecessary_wraps, reason = "each subcommand has this signature")]
pub(crate) fn run(_: &Args) -> Result<ExitCode, Failure> {
    signals::block();
    thread::spawn(|| {
        signals::for_each(|signal| {
            let mut output = io::stdout().lock();
            // A pipe has room; if nobody reads it, this process ends soon.
            let _ = output.write_all(&[signal as u8]).and_then(|()| output.flush());
        })
    });
    let mut ends = Vec::new();
    let _ = io::stdin().lock().read_to_end(&mut ends);
    Ok(ExitCode::SUCCESS)
}
