//! The trace under way: events become packets, packets go to the file.

use std::sync::Arc;

use memtrail_recording::session::{State, WriteFailure};
use memtrail_recording::{
    Description, FileState, NO_LAST_SNAPSHOT, Outcome, SMALLEST_WITH_LAST_SNAPSHOT, Snapshot,
};
use memtrail_sampler::{Address, Allocation, Bytes, Samples};
use memtrail_trace::write::{AllocEvent, Refused, StreamWriter};
use memtrail_trace::{BlockId, Code, DomainId, Location, Source, Timestamp, Words};

use crate::context::halvings::Halvings;
use crate::native::setting::Setting;
use crate::os::clock::{Clock, RecentTime};
use crate::os::forked;
use crate::recording::folder::Folder;
use crate::recording::modules::Modules;
use crate::recording::output::Output;
use crate::recording::rate_log::RateLog;
use crate::recording::report::report;
use crate::recording::room::{Kept, Room};
use crate::recording::stream::FLUSH_PERIOD;

type Writer = StreamWriter<&'static mut [u8]>;

/// Stands for a callstack that could not be captured: readers cannot take an empty one.
const NO_CALLSTACK: Code = Code(2);

/// All threads are one domain to the trace.
pub(super) const DOMAIN: DomainId = DomainId(0);

/// The files of a recording.
pub(super) struct Files {
    pub(super) setting: &'static Setting,
    pub(super) clock: Clock,
    pub(super) folder: Arc<Folder>,
    pub(super) output: Output,
    pub(super) room: Room,
    pub(super) rates: RateLog,
    pub(super) modules: Modules,
    pub(super) description: Description,
}

/// The trace of a process: all threads are one domain to it.
pub(super) struct Stream {
    files: Files,
    writer: Writer,
    /// Scratch: the callstack, the outermost frame first.
    codes: Vec<Code>,
    /// The rate of the last block.
    halvings: Halvings,
    /// When the last event was.
    recent: RecentTime,
    /// When the file was last brought up to date.
    flushed: Timestamp,
    /// Bytes of all packets so far.
    appended: u64,
    /// The number of these bytes when the stream last began anew.
    begun: u64,
    /// The error that ended writing.
    failure: Option<i32>,
    blocks: u64,
    /// Samples in these blocks.
    samples: u64,
    lost: u64,
}

impl Stream {
    pub(super) fn new(files: Files, writer: Writer) -> Self {
        let mut recent = RecentTime::read(&files.clock);
        let flushed = recent.now(&files.clock);
        let codes = Vec::with_capacity(memtrail_sampler::MAX_FRAMES);
        Self {
            files,
            writer,
            codes,
            halvings: Halvings(0),
            recent,
            flushed,
            appended: 0,
            begun: 0,
            failure: None,
            blocks: 0,
            samples: 0,
            lost: 0,
        }
    }

    /// Writes an allocation.
    pub(super) fn alloc(&mut self, allocation: &Allocation<'_>) -> Option<BlockId> {
        let frames = allocation.callstack().frames();
        let kept = self.keep(allocation.size(), allocation.n_samples())?;
        self.block(frames, allocation.size(), kept, Source::Major)
    }

    /// Keeps the samples of a block that are to be written; gives nothing if all are declined because little room is left.
    pub(super) fn keep(&self, size: Bytes, samples: Samples) -> Option<Kept> {
        let samples = if self.is_exact() { words(size) } else { samples.0 };
        Some(self.files.room.keep(samples, Halvings(0))).filter(|kept| kept.samples > 0)
    }

    /// At one sample a word all words are samples.
    fn is_exact(&self) -> bool {
        self.files.setting.rate >= 1.0
    }

    /// Writes a block with this callstack, the innermost frame first.
    pub(super) fn block(
        &mut self,
        frames: &[Address],
        size: Bytes,
        Kept { samples, halvings }: Kept,
        source: Source,
    ) -> Option<BlockId> {
        if self.failure.is_some() {
            self.lost += 1;
            return None;
        }
        let words = words(size);
        let samples = if self.is_exact() && halvings == Halvings(0) { words } else { samples };
        let samples = samples.saturating_mul(halvings.weight());
        let now = self.recent.now(&self.files.clock);
        let Files { modules, folder, .. } = &mut self.files;
        modules.begin(folder, now);
        let mut codes = std::mem::take(&mut self.codes);
        codes.clear();
        let ours = frames.iter().take_while(|frame| self.files.modules.is_ours(frame.0 as u64));
        let frames = frames.get(ours.count()..).unwrap_or_default();
        codes.extend(frames.iter().rev().map(|frame| Code(frame.0 as u64)));
        if codes.is_empty() {
            codes.push(NO_CALLSTACK);
        }
        let shared = self.writer.shared(&codes, 0);
        for &code in codes.get(shared..).unwrap_or_default() {
            if !self.writer.knows(code) {
                self.define(now, code);
            }
        }
        // Blocks of the trace have a header besides, unless they are external; these have none.
        let header = u64::from(source != Source::External);
        let event = AllocEvent { length: Words(words.saturating_sub(header)), samples, source };
        let id = self.retried(now, |writer| writer.alloc(now, &event, &codes, shared));
        self.codes = codes;
        if let Some(id) = id
            && std::mem::replace(&mut self.halvings, halvings) != halvings
        {
            let Files { rates, folder, .. } = &mut self.files;
            rates.changed(folder, DOMAIN, id, halvings);
        }
        self.blocks += u64::from(id.is_some());
        self.samples += samples;
        self.lost += u64::from(id.is_none());
        if now.0.saturating_sub(self.flushed.0) >= FLUSH_PERIOD * 1000 {
            self.flush(now);
            self.begin_anew();
        }
        id
    }

    /// Takes a trace that the launcher has thinned, and lets it thin more. To be called between two events: a callstack
    /// that is being written refers to earlier packets.
    fn begin_anew(&mut self) {
        let Files { setting, output, room, folder, .. } = &mut self.files;
        let Some(segment) = setting.options.segment().filter(|_| forked::is_owner_itself()) else {
            return;
        };
        output.take_over(folder);
        room.has(output);
        if room.is_short() {
            Output::remove_abandoned(folder);
        }
        if self.appended - self.begun > segment && self.writer.restart().is_ok() {
            self.begun = self.appended;
        }
    }

    /// Writes that a block was freed.
    pub(super) fn collect(&mut self, id: BlockId) {
        if self.failure.is_none() {
            let now = self.recent.now(&self.files.clock);
            self.retried(now, |writer| writer.collect(now, id));
        }
    }

    /// The time now; no later event is before it.
    fn now(&mut self) -> Timestamp {
        self.recent = RecentTime::read(&self.files.clock);
        self.recent.now(&self.files.clock)
    }

    /// Rare, and with text at hand: kept apart from what happens at each event.
    #[cold]
    #[inline(never)]
    fn define(&mut self, now: Timestamp, code: Code) {
        let (function, file) = if code == NO_CALLSTACK {
            ("[no callstack]".into(), String::new())
        } else {
            // The call is before the address to which it returns.
            let Files { modules, folder, .. } = &mut self.files;
            modules.place(folder, code.0.saturating_sub(1), now)
        };
        let (function, file) = (function.as_bytes(), file.as_bytes());
        let location = Location { function, file, line: 0, start_col: 0, end_col: 0 };
        self.retried(now, |writer| writer.define(now, code, &[location]));
    }

    /// Writes into this packet, or into the next one if this one is full.
    fn retried<T>(
        &mut self,
        now: Timestamp,
        write: impl Fn(&mut Writer) -> Result<T, Refused>,
    ) -> Option<T> {
        write(&mut self.writer)
            .or_else(|_| {
                self.flush(now);
                write(&mut self.writer)
            })
            .ok()
    }

    /// Brings the packet to the file, and begins another one.
    fn flush(&mut self, now: Timestamp) {
        // A child of `vfork` has its parent's memory, but may see other files.
        if !forked::is_owner_itself() {
            return;
        }
        self.flushed = now;
        let Files { output, rates, folder, .. } = &mut self.files;
        output.append_waiting(folder);
        rates.append_waiting(folder);
        if self.writer.is_empty() {
            return;
        }
        self.appended += self.writer.packet_len() as u64;
        let Files { output, room, folder, description, .. } = &mut self.files;
        let appended = output.append(folder, self.writer.packet());
        room.has(output);
        let news = room.news();
        if !news.is_empty() {
            description.notes.extend(news);
            let _ = folder.save(description);
        }
        if let Err(errno) = appended
            && self.failure.replace(errno).is_none()
        {
            self.report_failure(errno);
        }
        self.writer.next_packet(now);
    }

    /// Tells the launcher that the trace ends before the program does.
    fn report_failure(&self, errno: i32) {
        self.report(Some(WriteFailure { errno, lost: self.lost }));
    }

    /// Tells the launcher of the recording, and what ended its trace, if anything did.
    pub(super) fn report(&self, failure: Option<WriteFailure>) {
        let Files { setting, folder, description, .. } = &self.files;
        let state = State::Recording { folder: folder.path().to_owned(), failure };
        report(&setting.session, description.pid, folder.image(), state);
    }

    /// Lets nothing more be written, in a forked child, which has a recording of its own.
    pub(super) fn close(&mut self) {
        self.files.output.close();
        self.files.rates.close();
        self.files.modules.close();
    }

    /// True if this is not the process that the user started.
    fn is_of_child(&self) -> bool {
        let Description { ancestors, forked_from, .. } = &self.files.description;
        self.files.setting.options.children && (!ancestors.is_empty() || forked_from.is_some())
    }

    /// True if this is a child in which nothing was sampled.
    pub(super) fn is_of_idle_child(&self) -> bool {
        self.blocks == 0 && self.is_of_child()
    }

    /// Notes something of the recording, which is written with its end.
    pub(super) fn add_note(&mut self, note: &str) {
        self.files.description.notes.push(note.to_owned());
    }

    /// True if this is a child that allocated too little for a snapshot at its end, which is noted if the user asked for
    /// one.
    pub(super) fn leaves_last_snapshot_out(&mut self) -> bool {
        let allocated = self.samples as f64 * 8.0 / self.files.setting.rate.min(1.0);
        let is_small = self.is_of_child() && allocated < SMALLEST_WITH_LAST_SNAPSHOT as f64;
        let is_asked =
            || self.files.setting.options.snapshots.as_ref().is_some_and(|asked| asked.exit);
        if is_small && is_asked() {
            self.files.description.notes.push(NO_LAST_SNAPSHOT.to_owned());
        }
        is_small
    }

    /// Whether somebody asks for a snapshot; it is not asked any more then.
    pub(super) fn take_request(&self) -> bool {
        self.files.folder.take_request()
    }

    /// Where the next snapshot goes: the folder and its number; and when that is.
    pub(super) fn next_snapshot(&self) -> (Arc<Folder>, u64, Timestamp) {
        let Files { folder, description, clock, .. } = &self.files;
        let taken = description.snapshots.iter().flatten().map(|snapshot| snapshot.number);
        (Arc::clone(folder), taken.max().unwrap_or(0) + 1, clock.now())
    }

    /// Notes a snapshot in the description, and brings what it refers to into the trace's file.
    pub(super) fn note_snapshot(&mut self, snapshot: Snapshot) {
        let now = self.now();
        self.flush(now);
        let Files { description, folder, output, .. } = &mut self.files;
        description.snapshots.get_or_insert_default().push(snapshot);
        description.trace.bytes = output.total();
        // The snapshot itself is there, whether it is listed or not.
        let _ = folder.save(description);
    }

    /// Brings all to the file, and notes why nothing is recorded from now on.
    pub(super) fn end_with_note(&mut self, state: FileState, words: &str, missed: u64) {
        self.files.description.notes.push(words.to_owned());
        self.note(None, missed);
        let now = self.now();
        let Files { description, folder, .. } = &mut self.files;
        description.ended_unix_us = Some(now.0);
        if description.trace.state == FileState::Growing {
            description.trace.state = state;
        }
        let _ = folder.save(description);
    }

    /// Brings all to the file, and notes how the recording ends, if it does.
    pub(super) fn note(&mut self, outcome: Option<Outcome>, missed: u64) {
        let now = self.now();
        self.flush(now);
        let failed = self.failure.map(|errno| Outcome::WriteFailed { errno });
        let Files { setting, description, folder, output, .. } = &mut self.files;
        if outcome.is_some() && setting.options.disk.is_some() {
            Output::remove_thinned(folder);
        }
        describe_end(description, failed.or(outcome), now.0);
        description.trace.bytes = output.total();
        description.trace.blocks = self.blocks;
        description.trace.lost = self.lost + missed;
        // Nobody is there to be told if this fails; the trace itself is whole.
        let _ = folder.save(description);
        if let Some(errno) = self.failure {
            self.report_failure(errno);
        }
    }
}

fn words(size: Bytes) -> u64 {
    size.0.div_ceil(8)
}

/// Sets what the description says of the end.
fn describe_end(description: &mut Description, outcome: Option<Outcome>, now: u64) {
    description.trace.state = match outcome {
        None => FileState::Growing,
        Some(Outcome::WriteFailed { .. }) => FileState::Cut,
        Some(_) => FileState::Complete,
    };
    description.ended_unix_us = outcome.as_ref().map(|_| now);
    description.outcome = outcome;
}
