//! The session of a process that runs already, for `memtrail attach` and `memtrail detach`.

use std::fs;
use std::path::{Path, PathBuf};

use memtrail_recording::session::{DETACH_FILE, Options, State, Status};

use super::native::Native;
use super::process::End;
use super::relay::Service;
use super::session::Session;
use super::{agent, ending, keeper, signals};
use crate::error::{Failure, Kind};

/// A session that `memtrail attach` makes.
pub(crate) struct AttachedSession {
    session: Session,
    relay: Option<Service>,
    library: PathBuf,
}

impl AttachedSession {
    /// Makes the session, and unpacks the agent for a native program, or for an OCaml one.
    pub(crate) fn create(options: &Options, is_native: bool) -> Result<Self, Failure> {
        let failed = |what: &str, error: std::io::Error| {
            Failure::new(Kind::Work, format_args!("cannot {what}: {error}"))
        };
        let memory = if is_native { Native::Only } else { Native::None };
        let library = agent::unpacked(agent::for_memory(memory)).map_err(|error| {
            failed("unpack the agent", error)
                .hint("XDG_CACHE_HOME names a folder it can be kept in, and be loaded from")
        })?;
        let session =
            Session::create(options).map_err(|error| failed("make a session folder", error))?;
        // The thread that answers takes no signals.
        signals::block();
        let relay = Service::start(session.folder(), options).ok();
        signals::unblock();
        Ok(Self { session, relay, library })
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        self.session.folder()
    }

    /// The agent's file.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// The report of the agent in a process, by the number that the process has for itself.
    pub(crate) fn state(&self, pid: u32) -> Option<State> {
        state(self.folder(), pid)
    }

    /// Leaves a process behind that writes for the agent where that cannot, and completes the recording in the end.
    pub(crate) fn leave_behind(mut self) {
        let is_kept = keeper::start(self.session.folder(), None, self.relay.as_mut());
        if let Some(relay) = self.relay.take() {
            relay.end(!is_kept);
        }
        // The agent writes into it, kept or not.
        self.session.leave();
    }
}

/// The report of the agent of a session in a process.
pub(crate) fn state(session: &Path, pid: u32) -> Option<State> {
    let all = Status::load_all(session).ok()?;
    all.into_iter().rev().find(|status| status.pid == pid).map(|status| status.state)
}

/// Asks the agent of a session to end its recording. The error is what hinders.
pub(crate) fn ask_to_detach(session: &Path) -> std::io::Result<()> {
    fs::File::create(session.join(DETACH_FILE)).map(drop)
}

/// True if a session is one of `memtrail attach`.
pub(crate) fn is_attached(session: &Path) -> bool {
    Options::load(session).is_ok_and(|options| options.attached)
}

/// Completes the recordings of a session, and removes it, unless another process does. Returns true if they are complete.
pub(crate) fn complete(session: PathBuf) -> bool {
    let session = Session::adopt(session);
    match session.try_claim_completion() {
        Ok(Some(_completion)) => {
            ending::finalize(&session, 0, End::Exited(0));
            true
        }
        Ok(None) => {
            session.leave();
            false
        }
        Err(_) => {
            session.leave();
            true
        }
    }
}
