//! The tracker of a recording: queues events until they are written.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memtrail_trace::Timestamp;

use crate::rate::Rate;
use crate::recording::batch::{Batch, Event};
use crate::recording::clock::TraceClock;
use crate::recording::folder::Folder;
use crate::recording::writer::Writer;
use crate::tracker::{Allocation, Tracker};

/// Events from which on the thread that allocates writes them itself: some megabytes.
const LONG: usize = 1 << 16;

/// Queues events. The time of each is taken with the queue locked, so that times never decrease.
#[derive(Debug)]
pub(super) struct Queue {
    rate: Rate,
    /// The recorded process: forked children have the queue, too, and leave it alone.
    pid: u32,
    finished: AtomicBool,
    waiting: Mutex<Waiting>,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Waiting {
    batch: Batch,
    blocks: u64,
    clock: TraceClock,
    /// The code of each label.
    labels: HashMap<String, u64>,
}

/// Codes of labels are below this, where no code is.
const ABOVE_LABELS: u64 = 1 << 15;
/// The text of all labels beyond those that there are codes for.
const OTHERS: &str = "other labels";

impl Waiting {
    /// The code of a label.
    fn label(&mut self, text: &str) -> u64 {
        let text = if self.labels.len() as u64 >= ABOVE_LABELS - 2 { OTHERS } else { text };
        if let Some(&code) = self.labels.get(text) {
            return code;
        }
        let code = self.labels.len() as u64 + 1;
        self.labels.insert(text.to_owned(), code);
        self.batch.labels.push((code, text.to_owned()));
        code
    }
}

impl Queue {
    /// A queue for a recording, whose trace is begun.
    pub(super) fn new(folder: Folder, rate: Rate) -> io::Result<Self> {
        let waiting = Waiting {
            batch: Batch::default(),
            blocks: 0,
            clock: folder.clock(),
            labels: HashMap::new(),
        };
        Ok(Self {
            rate,
            pid: std::process::id(),
            finished: AtomicBool::new(false),
            waiting: Mutex::new(waiting),
            writer: Mutex::new(Writer::new(folder)?),
        })
    }

    /// Writes what is queued. `false` when no more will come.
    pub(super) fn write(&self) -> bool {
        let mut writer = lock(&self.writer);
        let batch = std::mem::take(&mut lock(&self.waiting).batch);
        let written = writer.write(&batch).and_then(|()| writer.flush());
        if written.is_err() {
            // The disk is full: what was written can be read.
            self.finished.store(true, Relaxed);
        }
        !self.finished.load(Relaxed)
    }

    /// Writes the rest; events from now on are left out.
    pub(super) fn finish(&self) {
        if self.is_ours() && !self.finished.swap(true, Relaxed) {
            self.write();
            lock(&self.writer).finish();
        }
    }

    fn is_ours(&self) -> bool {
        std::process::id() == self.pid
    }

    /// Queues an event, made with the time.
    fn push<R>(&self, event: impl FnOnce(&mut Waiting, Timestamp) -> R) -> Option<R> {
        if self.finished.load(Relaxed) || !self.is_ours() {
            return None;
        }
        let mut waiting = lock(&self.waiting);
        let now = waiting.clock.now();
        let result = event(&mut waiting, now);
        let is_long = waiting.batch.events.len() >= LONG;
        drop(waiting);
        if is_long {
            self.write();
        }
        Some(result)
    }
}

impl Tracker for Queue {
    /// The block's number.
    type Data = u64;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<u64> {
        let size = allocation.size().0;
        let samples =
            if self.rate == Rate::EXACT { size.div_ceil(8) } else { allocation.n_samples().0 };
        let frames = allocation.callstack().frames();
        self.push(|waiting, at| {
            waiting.batch.frames.extend(frames.iter().map(|frame| frame.0 as u64));
            let mut depth = frames.len();
            allocation.for_each_label(|text| {
                let code = waiting.label(text);
                waiting.batch.frames.push(code);
                depth += 1;
            });
            let event = Event::Allocated { at, size, samples, frames: depth };
            waiting.batch.events.push(event);
            waiting.blocks += 1;
            waiting.blocks - 1
        })
    }

    fn freed(&self, block: u64) {
        self.push(|waiting, at| waiting.batch.events.push(Event::Freed { at, block }));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
