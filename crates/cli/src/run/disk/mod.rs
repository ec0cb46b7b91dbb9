//! Keeps the recordings of a session within the bytes of `--disk`.
//!
//! A thread of the launcher, or of the process that it leaves behind for daemons, looks at the recordings each second,
//! and more often when they grow fast.
//! The budget is what the disk has room for, if that is less.
//! If their traces have more than [`FULL`] of what other files leave of the budget, it thins the largest trace ([`thin`]) and leaves it to the
//! agent, which goes on with it ([`memtrail_recording::thinned`]). While both traces are there, they are within the
//! budget together. An agent whose trace grows faster than that, or whose launcher was killed, writes fewer samples the
//! nearer its trace comes to a limit of its own.

mod moments;
mod thin;
mod usage;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use memtrail_recording::disk::bytes_of;
use memtrail_recording::session::{Options, State, Status};
use memtrail_recording::thinned::THINNED_FILE;

use thin::Offer;
use usage::trace_bytes;
pub(crate) use usage::{Disk, within_room};

use super::process;

/// Between two looks, at most: if there is so much room that the fastest of programs takes longer to fill it.
const MAX_LOOK: Duration = Duration::from_secs(16);
/// Before the first look, at most: the disk may have less room than the budget.
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// Between two looks before it is known how fast recordings grow, and while none can be thinned; at most.
const USUAL_LOOK: Duration = Duration::from_secs(1);
/// Bytes a second that a trace grows by, at most. Where more come, the agent writes fewer samples.
const FASTEST: u64 = 20 << 20;
/// Between two looks at recordings that are about to be full, or were offered a thinned trace.
const MIN_LOOK: Duration = Duration::from_millis(50);
/// Part of the budget for traces, in parts of ten, from which on the largest trace is thinned.
const FULL: u64 = 3;
/// Traces have one part in so many of the budget at least, however much snapshots and indexes have.
const LEAST: u64 = 4;
/// A trace is thinned to this part of its size at least, in parts of ten.
const LEFT: u64 = 5;
/// An agent that has not taken a thinned trace for so long does not take it any more: its program has ended, or cannot
/// reach its recording.
const PATIENCE: Duration = Duration::from_secs(20);
/// After a trace that cannot be thinned at all, others and this one are left alone for so long.
const PAUSE: Duration = Duration::from_secs(30);
/// After an attempt for which there was no room yet, the next one comes once so many times its time have passed.
const WAIT: u32 = 8;

/// The thread; it ends with the value.
pub(super) struct Keeper {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts looking after the recordings of a session that has a budget.
    pub(super) fn start(session: &Path, options: &Options) -> io::Result<Option<Self>> {
        let Some(budget) = options.disk else { return Ok(None) };
        let ended = Arc::new(AtomicBool::new(false));
        let mut looking = Looking {
            session: session.to_path_buf(),
            budget,
            offered: None,
            paused_until: None,
            seen: None,
        };
        let told = Arc::clone(&ended);
        let thread = std::thread::Builder::new().name("disk".into()).spawn(move || {
            // Short programs have nothing to be thinned. It is not known yet where the recordings are.
            std::thread::park_timeout(at_fastest(budget / 10 * FULL).min(FIRST_LOOK));
            while !told.load(Relaxed) {
                let next = looking.look(&told);
                std::thread::park_timeout(next);
            }
            looking.withdraw();
        })?;
        Ok(Some(Self { ended, thread: Some(thread) }))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.ended.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does not panic.
            let _ = thread.join();
        }
    }
}

struct Looking {
    session: PathBuf,
    budget: u64,
    /// The recording whose agent is to take a thinned trace, and since when.
    offered: Option<(PathBuf, Instant)>,
    paused_until: Option<Instant>,
    /// The last look, and the bytes of all traces then.
    seen: Option<(Instant, u64)>,
}

/// The time in which the fastest of programs fills so many bytes, as far as it is worth waiting for.
fn at_fastest(room: u64) -> Duration {
    Duration::from_secs_f64(room as f64 / FASTEST as f64).clamp(MIN_LOOK, USUAL_LOOK)
}

impl Looking {
    /// Does what is to be done, and gives the time until the next look.
    fn look(&mut self, ended: &AtomicBool) -> Duration {
        if let Some((folder, since)) = &self.offered {
            if folder.join(THINNED_FILE).exists() {
                if since.elapsed() > PATIENCE {
                    self.withdraw();
                    self.pause(PAUSE);
                }
                return MIN_LOOK;
            }
            self.offered = None;
        }
        let pause = self.paused_until.map(|until| until.saturating_duration_since(Instant::now()));
        if let Some(left) = pause.filter(|left| !left.is_zero()) {
            return left.clamp(MIN_LOOK, USUAL_LOOK);
        }
        let recordings = self.recordings();
        let used: u64 = recordings.iter().map(|folder| bytes_of(folder)).sum();
        let budget = self.available(recordings.first(), used);
        let traces: Vec<(u64, PathBuf)> =
            recordings.into_iter().map(|folder| (trace_bytes(&folder), folder)).collect();
        let of_traces = traces.iter().map(|(size, _)| size).sum();
        // Snapshots and their indexes are left as they are: they have a limit of their own.
        let others = used.saturating_sub(of_traces);
        let full = budget.saturating_sub(others).max(budget / LEAST) / 10 * FULL;
        if of_traces < full {
            return self.until_full(of_traces, full);
        }
        let Some((size, folder)) = traces.into_iter().max() else { return USUAL_LOOK };
        // The new file takes space beside the old one, which grows meanwhile.
        let room = budget.saturating_sub(used) / 2;
        let target = (size / 10 * LEFT).min(room);
        let begun = Instant::now();
        match thin::offer(&folder, target, ended) {
            Ok(Offer::Made) => self.offered = Some((folder, Instant::now())),
            Ok(Offer::NotYet) => {}
            Ok(Offer::NoRoom) => self.pause((begun.elapsed() * WAIT).min(PAUSE)),
            // The trace has nothing to be thinned, or the disk is full. The agent has its own limit.
            Ok(Offer::Nothing) | Err(_) => self.pause(PAUSE),
        }
        MIN_LOOK
    }

    /// The budget, or what the disk has room for if that is less.
    fn available(&self, folder: Option<&PathBuf>, used: u64) -> u64 {
        let free = folder.and_then(|folder| process::free_space(folder));
        free.map_or(self.budget, |free| self.budget.min(used.saturating_add(free)))
    }

    /// A quarter of the time in which traces that have `used` bytes will have `full`, if they grow as since the last
    /// look.
    fn until_full(&mut self, used: u64, full: u64) -> Duration {
        let now = Instant::now();
        let room = full - used;
        let Some((then, before)) = self.seen.replace((now, used)) else { return at_fastest(room) };
        let grown = used.saturating_sub(before) as f64 / (now - then).as_secs_f64().max(1e-3);
        let most = Duration::from_secs_f64(room as f64 / FASTEST as f64).clamp(MIN_LOOK, MAX_LOOK);
        let seconds = room as f64 / grown.max(1.0) / 4.0;
        Duration::try_from_secs_f64(seconds).map_or(most, |time| time.clamp(MIN_LOOK, most))
    }

    /// Takes back what no agent has taken.
    fn withdraw(&mut self) {
        if let Some((folder, _)) = self.offered.take() {
            let _ = std::fs::remove_file(folder.join(THINNED_FILE));
        }
    }

    fn pause(&mut self, time: Duration) {
        self.paused_until = Some(Instant::now() + time);
    }

    /// The folders of all recordings of the session.
    fn recordings(&self) -> Vec<PathBuf> {
        let all = Status::load_all(&self.session).unwrap_or_default();
        let mut folders: Vec<PathBuf> = all
            .into_iter()
            .filter_map(|status| match status.state {
                State::Recording { folder, .. } => Some(folder),
                _ => None,
            })
            .collect();
        folders.sort();
        folders.dedup();
        folders
    }
}
