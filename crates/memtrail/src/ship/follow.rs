//! A recording that is read once, window after window.
//!
//! Windows are in the trace's own time, which is monotonic. Of what was read, live blocks and those since the last window
//! are kept. An event that comes after its window was shipped counts for the next one, so that sums over windows are those
//! of the recording.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use memtrail_export::{Format, Selection, Window, pprof};
use memtrail_profile::Profile;
use memtrail_profile::filter::Filter;
use memtrail_profile::growing::GrowingProfile;
use memtrail_profile::time::Elapsed;
use memtrail_recording::{Recording, is_alive};

use super::state::{ErrorNote, StateFile, now_unix_us};
use crate::error::{Failure, Kind};
use crate::{caveats, loading, rates, recording_facts};

/// Agents write twice a second, and less often while a program waits.
const SETTLED: u64 = 3_000_000;
/// Bytes that are read at once. A packet that is larger gets more.
const CHUNK: u64 = 1 << 20;
/// Looks after a program's death in which its recording must be closed.
const LOOKS_AFTER_DEATH: u32 = 6;
/// Collected blocks are forgotten when there are so many more blocks.
const FORGET_AFTER: usize = 20_000;

/// A window to be shipped.
pub(super) struct DueWindow {
    window: Window,
    /// A pprof file; none if nothing was allocated or live.
    pub(super) pprof: Option<Vec<u8>>,
    alloc_bytes: f64,
    /// A window that is made again has the same id.
    pub(super) id: String,
}

/// A recording and the place up to which it was read.
pub(super) struct Follower {
    pub(super) path: PathBuf,
    pub(super) recording: Recording,
    pub(super) file: StateFile,
    profile: GrowingProfile,
    /// Device and inode of the trace that is being read.
    trace: Option<(u64, u64)>,
    chunk: u64,
    /// Blocks that were left when blocks were forgotten last.
    left: usize,
    /// The latest event, and when it was seen.
    seen: (Instant, u64),
    looks_after_death: u32,
    is_finished: bool,
}

/// The result of a look at a trace.
#[derive(PartialEq, Eq)]
enum Look {
    More,
    AtEnd,
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
        Ok(Self {
            path,
            recording,
            file,
            profile: GrowingProfile::new(),
            trace: None,
            chunk: CHUNK,
            left: 0,
            seen: (Instant::now(), 0),
            looks_after_death: 0,
            is_finished: false,
        })
    }

    /// The next window, if it is complete. `is_once`: nobody will look again.
    pub(super) fn due(&mut self, is_once: bool) -> Result<Option<DueWindow>, Failure> {
        if self.file.state.is_over {
            return Ok(None);
        }
        // The state first: all is there once it shows that the recording is complete.
        self.recording = Recording::open(&self.path)?;
        let is_closed = self.is_closed(is_once);
        let mut is_at_end = self.is_finished;
        loop {
            let from = self.file.state.shipped_to_us;
            let every = self.file.state.every_us.max(1);
            let behind = (from / every + 1) * every;
            let latest = self.latest();
            if self.is_finished {
                if from > latest || latest == 0 {
                    self.file.state.is_over = true;
                    self.file.save()?;
                    return Ok(None);
                }
                return Ok(self.window(from, (behind - 1).min(latest)));
            }
            // The clock that the system may set plays no part in this.
            let present = self.seen.1 + self.seen.0.elapsed().as_micros() as u64;
            let settled = behind.saturating_add(SETTLED);
            if latest >= settled || (is_at_end && latest > 0 && present >= settled) {
                return Ok(self.window(from, behind - 1));
            }
            if is_at_end && !is_closed {
                return Ok(None);
            }
            if self.read(is_closed)? == Look::AtEnd {
                is_at_end = true;
            }
        }
    }

    /// Notes a window that the destination has.
    pub(super) fn shipped(&mut self, due: &DueWindow) -> Result<(), Failure> {
        let state = &mut self.file.state;
        if due.pprof.is_some() {
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
        (state.trace, state.read_to) = (self.trace, self.profile.offset());
        let earliest = Elapsed(state.shipped_to_us);
        self.file.save()?;
        self.profile.not_before(earliest);
        self.forget();
        Ok(())
    }

    fn latest(&self) -> u64 {
        self.profile.profile().map_or(0, |profile| profile.end.0)
    }

    /// True if no more will be written.
    fn is_closed(&mut self, is_once: bool) -> bool {
        if !recording_facts::grows(&self.recording) {
            return true;
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let is_gone = self.recording.description.as_ref().is_some_and(|description| {
            description.host == host.trim() && !is_alive(description.pid)
        });
        self.looks_after_death = if is_gone { self.looks_after_death + 1 } else { 0 };
        is_gone && (is_once || self.looks_after_death >= LOOKS_AFTER_DEATH)
    }

    /// Reads on.
    fn read(&mut self, is_closed: bool) -> Result<Look, Failure> {
        let unreadable = |error: io::Error| loading::unreadable(&self.recording.trace, &error);
        let mut file = match File::open(&self.recording.trace) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_closed => {
                return Ok(Look::AtEnd);
            }
            opened => opened.map_err(unreadable)?,
        };
        let metadata = file.metadata().map_err(unreadable)?;
        let identity = (metadata.dev(), metadata.ino());
        if self.trace != Some(identity) || metadata.len() < self.profile.offset() {
            // A trace that was thinned, or whose functions were named, is another file: it is read again.
            self.profile = GrowingProfile::new();
            (self.trace, self.left) = (Some(identity), 0);
        }
        let offset = self.profile.offset();
        let state = &self.file.state;
        // Shipped windows are of these bytes, and had nothing of later ones.
        let known = if state.trace == self.trace { state.read_to } else { 0 };
        let limit = if offset < known { known - offset } else { u64::MAX };
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        let bytes = self.chunk.min(limit);
        file.take(bytes).read_to_end(&mut tail).map_err(unreadable)?;
        let is_all = offset + tail.len() as u64 >= metadata.len();
        if let Some(list) = rates::list(&self.recording) {
            self.profile.rates(list.into());
        }
        let has_more = self.profile.advance(&tail);
        self.note_start()?;
        if has_more {
            self.chunk = CHUNK;
            let latest = self.latest();
            if latest > self.seen.1 {
                self.seen = (Instant::now(), latest);
            }
            if self.profile.offset() >= known {
                self.profile.not_before(Elapsed(if known > 0 {
                    self.file.state.shipped_to_us
                } else {
                    0
                }));
            }
            let blocks = self.profile.profile().map_or(0, |profile| profile.blocks.len());
            if blocks > 2 * self.left + FORGET_AFTER {
                self.forget();
            }
            return Ok(Look::More);
        }
        if !is_all && bytes == limit {
            // The file was written anew in place: what is known of it does not hold.
            self.file.state.trace = None;
            return Ok(Look::More);
        }
        if !is_all {
            self.chunk = self.chunk.saturating_mul(2);
            return Ok(Look::More);
        }
        if is_closed {
            let rest = tail;
            let finished = self.profile.finish(&rest);
            finished.map_err(|error| loading::no_trace(&self.recording.trace, &error))?;
            self.is_finished = true;
        }
        Ok(Look::AtEnd)
    }

    /// Another recording in the same place begins anew.
    fn note_start(&mut self) -> Result<(), Failure> {
        let Some(profile) = self.profile.profile() else { return Ok(()) };
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

    fn forget(&mut self) {
        self.profile.forget(Elapsed(self.file.state.shipped_to_us));
        self.left = self.profile.profile().map_or(0, |profile| profile.blocks.len());
    }

    /// A window of what was read.
    fn window(&self, from: u64, to: u64) -> Option<DueWindow> {
        let profile = self.profile.profile()?;
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
        Some(DueWindow {
            window,
            pprof: (!total.is_nothing()).then(|| pprof::write(&selection)),
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
