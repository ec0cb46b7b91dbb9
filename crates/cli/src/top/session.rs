//! Looks at the recording, draws, and waits for keys, until the user has seen enough.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crossterm::event;
use memtrail_recording::Recording;
use memtrail_text::rounded::{bytes, grouped, seconds};

use super::args::Args;
use super::figures::Wanted;
use super::keys::{self, Action};
use super::screen;
use super::state::State;
use super::terminal::{Screen, Signals, end_by};
use super::watched::Watched;
use super::watched_process::Process;
use crate::error::{Failure, Kind};
use crate::view::{Shown, Sources, follow_family};

/// How long keys are waited for before there is another look at signals and the clock.
const TICK: Duration = Duration::from_millis(100);
/// How long another key is waited for, before what one has changed is drawn. Without any wait, what was read from the
/// terminal already is not looked at.
const BETWEEN_KEYS: Duration = Duration::from_millis(1);
/// Between two looks at the recording. Agents write twice a second.
const LOOK: Duration = Duration::from_secs(1);
/// A look at a large recording takes long: it may take this part of the time.
const SHARE: u32 = 10;

/// All that a session is about.
struct Session<'a> {
    args: &'a Args,
    watched: Watched,
    sources: Sources,
    state: State,
    /// The page, once it was opened.
    page: Option<Shown>,
    next_look: Instant,
}

/// Watches a process, or a family.
pub(super) fn run(watched: Watched, args: &Args) -> Result<ExitCode, Failure> {
    let mut session = Session::new(watched, args)?;
    let failed = |error: io::Error| {
        Failure::new(Kind::Work, format_args!("cannot use the terminal: {error}"))
            .hint("--once prints one table")
    };
    let signals = Signals::note().map_err(failed)?;
    let mut screen = Screen::enter().map_err(failed)?;
    let ended = session.watch(&mut screen, &signals);
    drop(screen);
    if let Some(signal) = ended? {
        end_by(signal);
    }
    Ok(ExitCode::SUCCESS)
}

impl<'a> Session<'a> {
    fn new(watched: Watched, args: &'a Args) -> Result<Self, Failure> {
        let sources = Sources::new(watched.may_grow(), args.memory);
        let state = State::new(args.by.into(), watched.is_family());
        let next_look = Instant::now();
        let mut session = Self { args, watched, sources, state, page: None, next_look };
        session.look()?;
        Ok(session)
    }

    /// Until a key ends it, or a signal: that one.
    fn watch(&mut self, screen: &mut Screen, signals: &Signals) -> Result<Option<i32>, Failure> {
        let mut rows_shown = 1;
        loop {
            if let Some(signal) = signals.end() {
                return Ok(Some(signal));
            }
            if signals.suspend() {
                screen.suspend()?;
            }
            if signals.continued() {
                // Others have written on the terminal meanwhile.
                screen.redraw()?;
            }
            if Instant::now() >= self.next_look {
                self.look()?;
            }
            let Self { watched, state, .. } = self;
            if let Some(shown) = watched.shown(state.opened) {
                screen.terminal.draw(|frame| screen::draw(frame, shown, state, &mut rows_shown))?;
            }
            let mut wait = TICK;
            while event::poll(wait)? {
                wait = BETWEEN_KEYS;
                match keys::handle(&mut self.state, &event::read()?, rows_shown) {
                    Action::Nothing => {}
                    Action::Quit => return Ok(None),
                    Action::Snapshot => self.request_snapshot(),
                    Action::View => self.open_viewer(),
                    Action::Suspend => screen.suspend()?,
                    Action::Redraw => screen.redraw()?,
                    Action::Refresh => self.look()?,
                }
            }
        }
    }

    /// Asks for figures anew, and says what happened since.
    fn look(&mut self) -> Result<(), Failure> {
        let started = Instant::now();
        let wanted = Wanted { by: self.state.by, window: self.args.window };
        let (sources, opened) = (&self.sources, self.state.opened);
        let before = self.watched.shown(opened).map(|shown| shown.figures.snapshots.len());
        self.watched.look(&sources.engine, wanted, opened, |recording| {
            sources.add(Recording::open(&recording.path)?)
        })?;
        let snapshots = self.watched.shown(opened).map(|shown| &shown.figures.snapshots);
        if let (Some(before), Some(snapshots)) = (before, snapshots)
            && let Some(last) = snapshots.last().filter(|_| snapshots.len() > before)
        {
            let size = bytes(last.file_bytes as f64);
            let pause = seconds(last.pause);
            let text = format!(
                "snapshot {} is there: {size}; the program paused for {pause}",
                last.number
            );
            self.state.say(text);
        }
        self.next_look = Instant::now() + LOOK.max(started.elapsed() * SHARE);
        Ok(())
    }

    fn request_snapshot(&mut self) {
        let opened = self.state.opened;
        let shown = self.watched.shown(opened);
        if let Some(why) = shown.and_then(|shown| shown.figures.no_snapshot.as_ref()) {
            let text = format!("no snapshot: {why}");
            self.state.say(text);
            return;
        }
        let processes = (0..).zip(self.watched.processes());
        let asked = processes.filter(|(number, process): &(usize, &Process)| {
            opened.is_none_or(|opened| opened == *number) && process.can_snapshot()
        });
        let requests: Vec<io::Result<()>> =
            asked.map(|(_, process)| process.subject.request_snapshot()).collect();
        let text = match requests.iter().find_map(|request| request.as_ref().err()) {
            Some(error) => format!("no snapshot: {error}"),
            None if requests.len() > 1 => {
                format!("snapshots of {} processes are requested", grouped(requests.len() as u64))
            }
            None => "a snapshot is requested".to_owned(),
        };
        self.state.say(text);
    }

    /// Serves a page with what is watched. That of a family reads it by itself, as it has all processes together, too.
    fn serve(&self) -> Result<Shown, Failure> {
        let Some(folder) = self.watched.family_folder() else {
            return self.args.serving.start(&self.sources, &[]);
        };
        let sources = Sources::new(true, self.args.memory);
        follow_family(&sources, folder)?;
        self.args.serving.start(&sources, &[])
    }

    fn open_viewer(&mut self) {
        if self.page.is_none() {
            match self.serve() {
                Ok(page) => self.page = Some(page),
                Err(failure) => {
                    self.state.say(format!("no page: {}", failure.message()));
                    return;
                }
            }
        }
        if let Some(page) = &mut self.page {
            page.open_browser();
            self.state.say_on(page.url());
        }
    }
}
