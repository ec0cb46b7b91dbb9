//! `run --view`: the page beside the program, and after it.
//!
//! Everything happens in threads of the launcher. The program does not feel it, and whatever goes
//! wrong with the page is printed in a line and changes nothing else.

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use memtrail_recording::Recording;
use memtrail_recording::family::Family;
use memtrail_recording::session::{State, Status};
use serde::Serialize;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::json;
use crate::snapshot_file::MemoryArgs;
use crate::view::{Serving, Shown, Sources, follow_family};

/// Between two looks at what agents report.
const PAUSE: Duration = Duration::from_millis(100);

/// What `--json` prints when the page is there.
#[derive(Serialize)]
struct WatchedPage<'a> {
    url: &'a str,
}

/// How the page's address is printed.
#[derive(Clone, Copy)]
pub(super) enum Announcement {
    Nothing,
    Text,
    Json,
}

/// The page of a running program.
pub(super) struct Viewing {
    ended: Sender<()>,
    thread: JoinHandle<Option<Shown>>,
    announcement: Announcement,
}

impl Viewing {
    /// Waits for the first recording of the session, and shows it and all that follow; of a program with its children,
    /// whose recordings are in the folder `family`, also all processes together.
    pub(super) fn begin(
        session: &Path,
        family: Option<&Path>,
        serving: &Serving,
        announcement: Announcement,
    ) -> Self {
        let (ended, has_ended) = channel();
        let mut watch = Watch {
            session: session.to_path_buf(),
            family: family.map(Path::to_path_buf),
            serving: serving.clone(),
            announcement,
            sources: Sources::new(true, MemoryArgs::default()),
            known: HashSet::new(),
            shown: None,
            failed: false,
        };
        let thread = std::thread::spawn(move || {
            watch.until(&has_ended);
            watch.shown
        });
        Self { ended, thread, announcement }
    }

    /// The program has ended, and its recordings are complete. On a terminal someone may want to
    /// look on: the page stays until they say that it is enough. Elsewhere nobody could.
    pub(super) fn end(self) {
        // It fails when the thread has ended; then nobody is left to be told.
        let _ = self.ended.send(());
        let Ok(Some(shown)) = self.thread.join() else { return };
        if !std::io::stderr().is_terminal() {
            return;
        }
        // Only what comes from now on: the Ctrl-C that ended the program was meant for it.
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
        super::signals::unblock();
        if super::signals::end_requested() {
            return;
        }
        if !matches!(self.announcement, Announcement::Nothing) {
            message!("memtrail: the page stays until Ctrl-C: {}", shown.url());
        }
        signals.forever().next();
    }
}

struct Watch {
    session: PathBuf,
    /// The folder of a program with its children.
    family: Option<PathBuf>,
    serving: Serving,
    announcement: Announcement,
    sources: Sources,
    known: HashSet<PathBuf>,
    shown: Option<Shown>,
    failed: bool,
}

impl Watch {
    fn until(&mut self, has_ended: &Receiver<()>) {
        loop {
            let ended = !matches!(has_ended.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout));
            match self.family.clone() {
                Some(folder) => self.look_for_family(&folder),
                None => self.look(),
            }
            if ended || self.failed {
                return;
            }
        }
    }

    /// Takes in the recordings that have begun since the last look.
    fn look(&mut self) {
        for status in Status::load_all(&self.session).unwrap_or_default() {
            let State::Recording { folder, .. } = status.state else { continue };
            if self.known.contains(&folder) {
                continue;
            }
            // The agent may be just about to write it: the next look will find it.
            let Ok(recording) = Recording::open(&folder) else { continue };
            if recording.description.is_none() {
                continue;
            }
            self.known.insert(folder);
            match self.sources.add(recording) {
                Ok(id) => self.sources.recording_events.added(id),
                Err(failure) => self.complain(&failure),
            }
            if self.shown.is_none() && !self.failed {
                self.show();
            }
        }
    }

    /// Shows the family as soon as there is one. What its processes do then is followed by others.
    fn look_for_family(&mut self, folder: &Path) {
        if self.shown.is_some() || self.failed {
            return;
        }
        let Ok(Some(family)) = Family::open(folder) else { return };
        // The agent may be just about to write it: the next look will find it.
        if family.members.iter().all(|member| member.description().is_none()) {
            return;
        }
        match follow_family(&self.sources, folder) {
            Ok(()) => self.show(),
            Err(failure) => {
                self.failed = true;
                self.complain(&failure);
            }
        }
    }

    fn show(&mut self) {
        match self.serving.start(&self.sources, &[]) {
            Ok(mut shown) => {
                match self.announcement {
                    Announcement::Nothing => {}
                    Announcement::Text => message!("memtrail: watch it at {}", shown.url()),
                    Announcement::Json => {
                        json::report(&WatchedPage { url: shown.url() });
                    }
                }
                shown.open_browser();
                self.shown = Some(shown);
            }
            Err(failure) => {
                self.failed = true;
                self.complain(&failure);
            }
        }
    }

    fn complain(&self, failure: &crate::error::Failure) {
        if !matches!(self.announcement, Announcement::Nothing) {
            failure.report();
        }
    }
}
