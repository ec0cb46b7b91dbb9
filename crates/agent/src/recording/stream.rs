//! One domain's part of the trace: events become packets, packets go to the file.

use memtrail_trace::write::{AllocEvent, Refused, StreamWriter, Version};
use memtrail_trace::{BlockId, Code, DomainId, Source, Timestamp, malloc, omitted};

use crate::context::halvings::Halvings;
use crate::os::errno::keeping_errno;
use crate::os::heap::may_fail;
use crate::os::own_thread;
use crate::os::rest;
use crate::recording::files::RecordingFiles;
use crate::recording::room::Kept;
use crate::recording::threads::{Identity, ThreadId};
use crate::recording::work;
use crate::recording::written_check::{Expected, WrittenCheck};

/// Twice a second while the program works, so that the file is not a second behind. In milliseconds.
pub(crate) const FLUSH_PERIOD: u64 = 400;

/// Stands for the callstack of what the runtime allocates while no OCaml code runs: memtrace's tools
/// cannot take an empty one.
pub(crate) const NO_OCAML_CODE: Code = Code(2);

type Writer = StreamWriter<&'static mut [u8]>;

/// Where an allocation comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The thread that allocated.
    pub(crate) thread_id: ThreadId,
    /// Frames that are as at the thread's last event; `None` if the callstack is not the one that
    /// the thread has now.
    pub(crate) unchanged: Option<usize>,
    /// What is to be read of the callstack, if that is checked.
    pub(crate) expected: Option<Expected>,
    /// The rate that its samples were drawn with.
    pub(crate) halvings: Halvings,
}

pub(crate) struct Stream {
    writer: Writer,
    domain: DomainId,
    /// Whose the last block is.
    thread_id: Option<ThreadId>,
    /// The rate of the last block.
    halvings: Halvings,
    /// Whose callstack the last event has, if it was the thread's own at that time.
    last_stack: Option<ThreadId>,
    /// When the program last did what our threads would.
    looked: Timestamp,
    /// Bytes of the trace when the stream began, or began anew.
    begun: u64,
    /// Scratch: a callstack whose middle is left out.
    short: Vec<Code>,
    check: Option<Box<WrittenCheck>>,
    /// Blocks in the trace, and in the packet.
    pub(crate) blocks: u64,
    /// Those of the packet alone.
    unwritten: u64,
    pub(crate) lost: u64,
}

impl Stream {
    pub(crate) fn new(
        files: &RecordingFiles,
        domain: DomainId,
        version: Version,
        memory: &'static mut [u8],
    ) -> Option<Self> {
        let now = files.clock.now();
        let pid = u64::from(files.pid);
        let mut writer = StreamWriter::new(memory, version, pid, domain, now, BlockId(0)).ok()?;
        if version == Version::V3 {
            let (first, end) = files.next_ids();
            writer.set_ids(first, end).ok()?;
        }
        let checks = files.target.options.check_callstacks;
        let check = if checks { WrittenCheck::new(pid, now).map(Box::new) } else { None };
        Some(Self {
            writer,
            domain,
            thread_id: None,
            halvings: Halvings(0),
            last_stack: None,
            looked: now,
            begun: 0,
            short: Vec::new(),
            check,
            blocks: 0,
            unwritten: 0,
            lost: 0,
        })
    }

    /// Writes an allocation, unless it is declined because little room is left.
    pub(crate) fn alloc(
        &mut self,
        files: &RecordingFiles,
        event: &AllocEvent,
        stack: &[Code],
        origin: Origin,
        at_work: &mut Identity,
    ) -> Option<BlockId> {
        let Kept { samples, halvings } = files.room.keep(event.samples, origin.halvings);
        if samples == 0 {
            // The next callstack is told by what it has in common with this one, which is not written.
            self.last_stack = None;
            return None;
        }
        let now = files.clock.now();
        let stack_of = origin.unchanged.map(|_| origin.thread_id);
        let same = std::mem::replace(&mut self.last_stack, stack_of) == stack_of;
        let unchanged = origin.unchanged.filter(|_| same).unwrap_or(0);
        let (mut stack, mut expected) = (stack, origin.expected);
        if stack.is_empty() {
            stack = &[NO_OCAML_CODE];
            expected = expected.map(|_| Expected::of(stack));
        }
        let depth = stack.len();
        let mut shared = self.writer.shared(stack, unchanged);
        let mut short = std::mem::take(&mut self.short);
        if !self.writer.fits(stack, shared) {
            short.clear();
            if may_fail(|| short.try_reserve(stack.len())).is_ok() {
                short.extend_from_slice(stack);
                omitted::shorten(&mut short);
                stack = &short;
                shared = self.writer.shared(stack, shared.min(omitted::OUTERMOST));
                expected = expected.map(|_| Expected::of(stack));
            }
        }
        for &code in stack.get(shared..).unwrap_or_default() {
            if !self.writer.knows(code) {
                self.define(files, now, code);
            }
        }
        if self.writer.ids_left() == 0 {
            self.flush(files, now);
            let (first, end) = files.next_ids();
            // Refused only by a packet that is not empty.
            let _ = self.writer.set_ids(first, end);
        }
        let samples = samples.saturating_mul(halvings.weight());
        let event = AllocEvent { samples, ..*event };
        if event.source != Source::External {
            work::add(samples);
        }
        let id = self.retried(files, now, |w| w.alloc(now, &event, stack, shared));
        self.short = short;
        if self.writer.kept_at_most() != depth {
            // What was written is not the thread's callstack.
            self.last_stack = None;
        }
        let id = id?;
        if std::mem::replace(&mut self.halvings, halvings) != halvings {
            files.rate_changes(self.domain, id, halvings);
        }
        if let Some(check) = &mut self.check {
            check.expect(expected);
        }
        if self.thread_id.replace(origin.thread_id) != Some(origin.thread_id) {
            files.thread_changes(self.domain, id, origin.thread_id, at_work);
        }
        self.blocks += 1;
        self.unwritten += 1;
        rest::end_by_sample();
        if own_thread::main_has_ended() {
            self.do_without_flusher(files, now);
        }
        Some(id)
    }

    /// What the threads of ours would do, now and then.
    #[cold]
    fn do_without_flusher(&mut self, files: &RecordingFiles, now: Timestamp) {
        // Packets that are full are written before that.
        if now.0.saturating_sub(self.looked.0) >= FLUSH_PERIOD * 1_000 {
            self.looked = now;
            self.flush(files, now);
            keeping_errno(files.hooks.threads_are_gone);
        }
    }

    pub(crate) fn promote(&mut self, files: &RecordingFiles, id: BlockId) {
        let now = files.clock.now();
        self.retried(files, now, |writer| writer.promote(now, id));
    }

    pub(crate) fn collect(&mut self, files: &RecordingFiles, id: BlockId) {
        let now = files.clock.now();
        self.retried(files, now, |writer| writer.collect(now, id));
    }

    /// Rare, and with much text at hand: kept apart from what happens at each event.
    #[cold]
    #[inline(never)]
    fn define(&mut self, files: &RecordingFiles, now: Timestamp, code: Code) {
        let symbolise = if self.domain == malloc::DOMAIN {
            files.hooks.symbolise_of_malloc
        } else {
            files.hooks.symbolise
        };
        symbolise(files.target, code, &mut |locations| {
            self.retried(files, now, |writer| writer.define(now, code, locations));
        });
    }

    /// Writes into this packet, or into the next one if this one is full.
    #[inline]
    fn retried<T>(
        &mut self,
        files: &RecordingFiles,
        now: Timestamp,
        write: impl Fn(&mut Writer) -> Result<T, Refused>,
    ) -> Option<T> {
        if let Ok(done) = write(&mut self.writer) {
            return Some(done);
        }
        self.flush(files, now);
        let again = write(&mut self.writer).ok();
        self.lost += u64::from(again.is_none());
        again
    }

    /// Sends the packet to the file and begins the next one.
    pub(crate) fn flush(&mut self, files: &RecordingFiles, now: Timestamp) {
        if !self.writer.is_empty() {
            if !files.append(self.writer.packet()) {
                self.blocks -= self.unwritten;
                self.lost += self.unwritten;
            }
            if let Some(check) = &mut self.check {
                check.read(self.writer.packet());
                check.add_to(files.target.checked.as_ref());
            }
        }
        self.unwritten = 0;
        self.writer.next_packet(now);
    }

    /// Flushes between two events, where the stream may begin anew. Within an event it must not: a callstack that is
    /// being written refers to earlier packets.
    pub(crate) fn flush_between_events(&mut self, files: &RecordingFiles, now: Timestamp) {
        self.flush(files, now);
        if let Some(appended) = files.ends_segment(self.begun)
            && self.writer.restart().is_ok()
        {
            self.begun = appended;
            self.last_stack = None;
        }
    }

    /// From here on the trace has several domains.
    pub(crate) fn become_one_of_several(&mut self, files: &RecordingFiles) {
        let now = files.clock.now();
        self.flush(files, now);
        let (first, end) = files.next_ids();
        // Refused only by a packet that is not empty.
        let _ = self.writer.set_version(Version::V3);
        let _ = self.writer.set_ids(first, end);
    }

    /// The id that the next allocation would get.
    pub(crate) fn next_id(&self) -> BlockId {
        self.writer.next_id()
    }
}
