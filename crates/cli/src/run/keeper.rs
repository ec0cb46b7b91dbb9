//! What `memtrail run` leaves behind if recorded processes outlive the program that it started, as
//! daemons do: a process that goes on writing for them, and completes their recordings at their end.
//!
//! It has no terminal, no descriptor and no environment that anyone waits for, and ends with the last
//! of them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use memtrail_recording::session::Options;
use memtrail_recording::{is_alive, started_at};

use super::disk::Keeper;
use super::ending;
use super::process::{self, End};
use super::relay::Service;
use super::session::Session;
use super::survivors::{is_one, loaded, survivors};
use crate::error::{Failure, Kind};

/// Between looks at whether they have ended.
const LOOK: Duration = Duration::from_millis(500);

/// Keep a session for the processes of it that run on
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The session's folder
    session: PathBuf,
    /// A folder for recordings, to be removed if there are none
    #[arg(long)]
    family: Option<PathBuf>,
}

/// Starts it, if recorded processes run on; whether the session is its own from now on. Before it
/// answers them, `relay` has ended to.
pub(super) fn take_over(
    session: &Path,
    family: Option<&Path>,
    relay: Option<&mut Service>,
) -> bool {
    let begin = started_at(std::process::id()).unwrap_or(0);
    let options = Options::load(session).ok();
    if kept_for(session, options.as_ref(), begin).is_empty() {
        return false;
    }
    start(session, family, relay)
}

/// The processes for whose sake a session is kept: those that are recorded, and with `--children` all that may start some. A
/// shell may wait in the background before it starts its program.
fn kept_for(session: &Path, options: Option<&Options>, begin: u64) -> Vec<u32> {
    let mut all = survivors(session, begin);
    if all.is_empty() && options.is_some_and(|options| options.children) {
        all = loaded(session, begin);
    }
    all
}

/// Starts it, whichever processes the session has.
pub(super) fn start(session: &Path, family: Option<&Path>, relay: Option<&mut Service>) -> bool {
    if let Some(relay) = relay {
        relay.pause();
    }
    let mut command = Command::new("/proc/self/exe");
    command.arg("keep-session").arg(session).current_dir("/");
    if let Some(family) = family {
        command.arg("--family").arg(family);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    process::detach(&mut command);
    command.spawn().is_ok()
}

/// The program of that process.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let failed = |error| Failure::new(Kind::Work, format_args!("cannot keep the session: {error}"));
    let options = Options::load(&args.session).map_err(failed)?;
    let session = Session::adopt(args.session.clone());
    let relay = Service::go_on(session.folder(), &options).ok();
    // Without it, the agents keep to their own limits.
    let disk = Keeper::start(session.folder(), &options).ok();
    loop {
        let known = kept_for(session.folder(), Some(&options), 0);
        if known.is_empty() {
            break;
        }
        // They may have children by then.
        // An attached process may be detached.
        let is_recorded = |pid| !options.attached || is_one(session.folder(), pid);
        while known.iter().any(|&pid| is_alive(pid) && is_recorded(pid)) {
            thread::sleep(LOOK);
        }
    }
    drop(disk);
    // `memtrail detach` does it if this is late to begin.
    let Ok(_completion) = session.claim_completion() else {
        session.leave();
        return Ok(ExitCode::SUCCESS);
    };
    // How they ended is not known, and nothing is printed.
    ending::finalize(&session, 0, End::Exited(0));
    drop(relay);
    if let Some(family) = &args.family {
        // Fails if there are recordings.
        let _ = std::fs::remove_dir(family);
    }
    Ok(ExitCode::SUCCESS)
}
