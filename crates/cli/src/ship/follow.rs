//! A recording that is read once, window after window.
//!
//! Windows are in the trace's own time, which is monotonic. Of what was read, live blocks and those since the last window
//! are kept. An event that comes after its window was shipped counts for the next one, so that sums over windows are those
//! of the recording.

use std::path::PathBuf;
use std::time::Duration;

use memtrail_export::pprof::Profile as Message;
use memtrail_export::{Format, Selection, Window, pprof};
use memtrail_profile::Profile;
use memtrail_profile::filter::Filter;
use memtrail_profile::time::Elapsed;
use memtrail_recording::Recording;

use super::redact::Redaction;
use super::state::{ErrorNote, StateFile, now_unix_us};
use super::tail::{Step, Tail};
use crate::error::{Failure, Kind};
use crate::{caveats, recording_facts};

/// Agents write twice a second, and less often while a program waits.
const SETTLED: u64 = 3_000_000;

/// A window to be shipped.
pub(super) struct DueWindow {
    window: Window,
    /// A profile; none if nothing was allocated or live.
    pub(super) profile: Option<Message>,
    alloc_bytes: f64,
    /// A window that is made again has the same id.
    pub(super) id: String,
}

/// A recording and the place up to which it was read.
pub(super) struct Follower {
    pub(super) path: PathBuf,
    pub(super) recording: Recording,
    pub(super) file: StateFile,
    tail: Tail,
}

impl Follower {
    pub(super) fn open(path: PathBuf, destination: &str, every: Duration) -> Result<Self, Failure> {
        let recording = Recording::open(&path)?;
        if recording_facts::is_snapshot_alone(&recording) {
            let message = format_args!("{} is a snapshot alone", path.display());
            return Err(Failure::new(Kind::Usage, message).hint("name a recording"));
        }
        let mut file = StateFile::open(&path, destination)?;
        file.state.every_us = every.as_micros() as u64;
        Ok(Self { path, recording, file, tail: Tail::new() })
    }

    /// The next window, if it is complete. `is_once`: nobody will look again.
    pub(super) fn due(
        &mut self,
        is_once: bool,
        redaction: Option<&Redaction>,
    ) -> Result<Option<DueWindow>, Failure> {
        if self.file.state.is_over {
            return Ok(None);
        }
        // The state first: all is there once it shows that the recording is complete.
        self.recording = Recording::open(&self.path)?;
        let is_closed = self.tail.is_closed(&self.recording, is_once);
        let mut is_at_end = self.tail.is_finished;
        loop {
            let from = self.file.state.shipped_to_us;
            let every = self.file.state.every_us.max(1);
            let behind = (from / every + 1) * every;
            let latest = self.tail.latest();
            if self.tail.is_finished {
                if from > latest || latest == 0 {
                    self.file.state.is_over = true;
                    self.file.save()?;
                    return Ok(None);
                }
                return Ok(self.window(from, (behind - 1).min(latest), redaction));
            }
            let settled = behind.saturating_add(SETTLED);
            if latest >= settled || (is_at_end && latest > 0 && self.tail.present() >= settled) {
                return Ok(self.window(from, behind - 1, redaction));
            }
            if is_at_end && !is_closed {
                return Ok(None);
            }
            is_at_end |= self.read(is_closed)? == Step::AtEnd;
        }
    }

    /// Notes a window that the destination has.
    pub(super) fn shipped(&mut self, due: &DueWindow) -> Result<(), Failure> {
        let state = &mut self.file.state;
        if due.profile.is_some() {
            state.windows += 1;
            state.last_shipped_unix_us = Some(now_unix_us());
        } else {
            state.empty += 1;
        }
        state.alloc_bytes = state.alloc_bytes.saturating_add(due.alloc_bytes.round() as u64);
        self.done(due)
    }

    /// Notes a window that the destination does not want.
    pub(super) fn refused(&mut self, due: &DueWindow, reason: String) -> Result<(), Failure> {
        self.file.state.refused += 1;
        self.file.state.last_error = Some(ErrorNote::now(reason));
        self.done(due)
    }

    /// Notes a window that waits.
    pub(super) fn failed(&mut self, reason: String) -> Result<(), Failure> {
        self.file.state.last_error = Some(ErrorNote::now(reason));
        self.file.save()
    }

    fn done(&mut self, due: &DueWindow) -> Result<(), Failure> {
        let state = &mut self.file.state;
        state.shipped_to_us = due.window.to.0 + 1;
        (state.trace, state.read_to) = (self.tail.file, self.tail.growing.offset());
        let earliest = Elapsed(state.shipped_to_us);
        self.file.save()?;
        self.tail.growing.not_before(earliest);
        self.tail.forget(earliest);
        Ok(())
    }

    /// Reads on. Shipped windows are of the bytes before the bound, and had nothing of later ones.
    fn read(&mut self, is_closed: bool) -> Result<Step, Failure> {
        let state = &self.file.state;
        let (shipped, bound) = (state.trace, state.read_to);
        let known = |file| if shipped == Some(file) { bound } else { 0 };
        let step = self.tail.read(&self.recording, is_closed, known)?;
        self.note_start()?;
        match step {
            Step::Advanced => {
                let known = self.tail.file.map_or(0, known);
                if self.tail.growing.offset() >= known {
                    let earliest = if known > 0 { self.file.state.shipped_to_us } else { 0 };
                    self.tail.growing.not_before(Elapsed(earliest));
                }
                if self.tail.is_full() {
                    self.tail.forget(Elapsed(self.file.state.shipped_to_us));
                }
            }
            // The file was written anew in place: what is known of it does not hold.
            Step::Bound => self.file.state.trace = None,
            Step::More | Step::AtEnd => {}
        }
        Ok(step)
    }

    /// Another recording in the same place begins anew.
    fn note_start(&mut self) -> Result<(), Failure> {
        let Some(profile) = self.tail.profile() else { return Ok(()) };
        let start = profile.info.start.0;
        let state = &mut self.file.state;
        if state.start_unix_us == start {
            return Ok(());
        }
        if state.start_unix_us != 0 {
            (state.shipped_to_us, state.windows, state.empty, state.refused) = (0, 0, 0, 0);
            (state.alloc_bytes, state.is_over, state.trace) = (0, false, None);
        }
        state.start_unix_us = start;
        self.file.save()
    }

    /// A window of what was read.
    fn window(&self, from: u64, to: u64, redaction: Option<&Redaction>) -> Option<DueWindow> {
        let profile = self.tail.profile()?;
        let window = Window { from: Elapsed(from), to: Elapsed(to) };
        let id = id(profile, window);
        let filter = Filter::default().resolve(profile).ok()?;
        let program = (self.recording.description.as_ref())
            .map_or(profile.info.executable.clone(), |known| known.program.clone());
        let caveats = profile.caveats(&caveats::reported(&self.recording));
        let (format, window_of) = (Format::Pprof, Some(window));
        let selection =
            Selection::within(format, window_of, profile, &filter, |_| true, program, Vec::new())
                .with_caveats(caveats);
        let total = selection.total();
        let message = || {
            let message = pprof::profile(&selection);
            match redaction {
                Some(redaction) => redaction.profile(message, &self.recording.path),
                None => message,
            }
        };
        Some(DueWindow {
            window,
            profile: (!total.is_nothing()).then(message),
            alloc_bytes: total.samples as f64 * selection.bytes_per_sample(),
            id,
        })
    }
}

/// A UUID of what identifies the process and the window (version 8: by our own rule).
fn id(profile: &Profile, window: Window) -> String {
    use sha2::{Digest as _, Sha256};
    let info = &profile.info;
    let (from, to) = (window.from.0, window.to.0);
    let text = format!("{}\0{}\0{}\0{from}\0{to}", info.host, info.pid, info.start.0);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    let number = u128::from_be_bytes(bytes);
    let number = number & !(0xf << 76) | 8 << 76;
    let hex = format!("{:032x}", number & !(3 << 62) | 2 << 62);
    let [a, b, c, d] = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20]];
    format!("{a}-{b}-{c}-{d}-{}", &hex[20..])
}
