//! Looks at the recording, draws, and waits for keys, until the user has seen enough.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crossterm::event;
use memtrail_engine::RecordingId;
use memtrail_recording::Recording;
use memtrail_text::rounded::{bytes, seconds};

use super::Args;
use super::figures::{Figures, Wanted};
use super::keys::{self, Action};
use super::screen;
use super::state::State;
use super::subject::Subject;
use super::terminal::{Screen, Signals, end_by};
use crate::error::{Failure, Kind};
use crate::loading;
use crate::view::{Shown, Sources};

/// How long keys are waited for before there is another look at signals and the clock.
const TICK: Duration = Duration::from_millis(100);
/// Between two looks at the recording. Agents write twice a second.
const LOOK: Duration = Duration::from_secs(1);
/// A look at a large recording takes long: it may take this part of the time.
const SHARE: u32 = 10;

/// All that a session is about.
struct Session<'a> {
    args: &'a Args,
    subject: Subject,
    sources: Sources,
    id: RecordingId,
    state: State,
    figures: Figures,
    /// The page, once it was opened.
    page: Option<Shown>,
    next_look: Instant,
}

/// Watches a recording.
pub(super) fn run(subject: Subject, args: &Args) -> Result<ExitCode, Failure> {
    let mut session = Session::new(subject, args)?;
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
    fn new(subject: Subject, args: &'a Args) -> Result<Self, Failure> {
        let sources = Sources::new(loading::grows(&subject.recording));
        let id = sources.add(Recording::open(&subject.recording.path)?)?;
        let state = State::new(args.by.into());
        let wanted = Wanted { by: state.by, window: args.window };
        let figures = Figures::new(&sources.engine, id, &subject, wanted, None)?;
        let next_look = Instant::now() + LOOK;
        Ok(Self { args, subject, sources, id, state, figures, page: None, next_look })
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
            let Self { figures, state, .. } = self;
            screen.terminal.draw(|frame| screen::draw(frame, figures, state, &mut rows_shown))?;
            let mut wait = TICK;
            while event::poll(wait)? {
                wait = Duration::ZERO;
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
        let (engine, id) = (&self.sources.engine, self.id);
        let figures = Figures::new(engine, id, &self.subject, wanted, Some(&self.figures))?;
        let last = figures.snapshots.last();
        if let Some(last) = last.filter(|_| figures.snapshots.len() > self.figures.snapshots.len())
        {
            let size = bytes(last.file_bytes as f64);
            let pause = seconds(last.pause);
            self.state.say(format!(
                "snapshot {} is there: {size}; the program paused for {pause}",
                last.number
            ));
        }
        self.figures = figures;
        self.next_look = Instant::now() + LOOK.max(started.elapsed() * SHARE);
        Ok(())
    }

    fn request_snapshot(&mut self) {
        if let Some(why) = &self.figures.no_snapshot {
            let text = format!("no snapshot: {why}");
            self.state.say(text);
            return;
        }
        match self.subject.request_snapshot() {
            Ok(()) => self.state.say("a snapshot is requested"),
            Err(error) => self.state.say(format!("no snapshot: {error}")),
        }
    }

    fn open_viewer(&mut self) {
        if self.page.is_none() {
            match self.args.serving.start(&self.sources, &[]) {
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
