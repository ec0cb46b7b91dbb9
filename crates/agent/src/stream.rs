//! One domain's part of the trace: events become packets, packets go to the file.

use memtrail_trace::write::{AllocEvent, Refused, StreamWriter, Version};
use memtrail_trace::{BlockId, Code, DomainId, Timestamp};

use crate::recorder::Recorder;
use crate::symbolise::{NO_OCAML_CODE, with_locations};
use crate::threads::{Author, Identity};

type Writer = StreamWriter<&'static mut [u8]>;

/// Where an allocation comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The thread that allocated.
    pub(crate) author: Author,
    /// Frames that are as at the thread's last event; `None` if the callstack is not the one that
    /// the thread has now.
    pub(crate) unchanged: Option<usize>,
}

pub(crate) struct Stream {
    writer: Writer,
    domain: DomainId,
    /// Whose the last block is.
    author: Option<Author>,
    /// Whose callstack the last event has, if it was the thread's own at that time.
    last_stack: Option<Author>,
    pub(crate) blocks: u64,
    pub(crate) lost: u64,
}

impl Stream {
    pub(crate) fn new(
        recorder: &Recorder,
        domain: DomainId,
        version: Version,
        memory: &'static mut [u8],
    ) -> Option<Self> {
        let now = recorder.clock.now();
        let pid = u64::from(recorder.pid);
        let mut writer = StreamWriter::new(memory, version, pid, domain, now, BlockId(0)).ok()?;
        if version == Version::V3 {
            let (first, end) = recorder.next_ids();
            writer.set_ids(first, end).ok()?;
        }
        Some(Self { writer, domain, author: None, last_stack: None, blocks: 0, lost: 0 })
    }

    /// Writes an allocation.
    pub(crate) fn alloc(
        &mut self,
        recorder: &Recorder,
        event: &AllocEvent,
        stack: &[Code],
        origin: Origin,
        at_work: &mut Identity,
    ) -> Option<BlockId> {
        let now = recorder.clock.now();
        let stack_of = origin.unchanged.map(|_| origin.author);
        let same = std::mem::replace(&mut self.last_stack, stack_of) == stack_of;
        let unchanged = origin.unchanged.filter(|_| same).unwrap_or(0);
        let stack = if stack.is_empty() { &[NO_OCAML_CODE] } else { stack };
        let shared = self.writer.shared(stack, unchanged);
        for &code in stack.get(shared..).unwrap_or_default() {
            if !self.writer.knows(code) {
                self.define(recorder, now, code);
            }
        }
        if self.writer.ids_left() == 0 {
            self.flush(recorder, now);
            let (first, end) = recorder.next_ids();
            // Refused only by a packet that is not empty.
            let _ = self.writer.set_ids(first, end);
        }
        let id = self.retried(recorder, now, |w| w.alloc(now, event, stack, shared))?;
        if self.author.replace(origin.author) != Some(origin.author) {
            recorder.author_changes(self.domain, id, origin.author, at_work);
        }
        self.blocks += 1;
        Some(id)
    }

    pub(crate) fn promote(&mut self, recorder: &Recorder, id: BlockId) {
        let now = recorder.clock.now();
        self.retried(recorder, now, |writer| writer.promote(now, id));
    }

    pub(crate) fn collect(&mut self, recorder: &Recorder, id: BlockId) {
        let now = recorder.clock.now();
        self.retried(recorder, now, |writer| writer.collect(now, id));
    }

    fn define(&mut self, recorder: &Recorder, now: Timestamp, code: Code) {
        with_locations(recorder.target, code, |locations| {
            self.retried(recorder, now, |writer| writer.define(now, code, locations));
        });
    }

    /// Writes into this packet, or into the next one if this one is full.
    #[inline]
    fn retried<T>(
        &mut self,
        recorder: &Recorder,
        now: Timestamp,
        write: impl Fn(&mut Writer) -> Result<T, Refused>,
    ) -> Option<T> {
        if let Ok(done) = write(&mut self.writer) {
            return Some(done);
        }
        self.flush(recorder, now);
        let again = write(&mut self.writer).ok();
        self.lost += u64::from(again.is_none());
        again
    }

    /// Sends the packet to the file and begins the next one.
    pub(crate) fn flush(&mut self, recorder: &Recorder, now: Timestamp) {
        if !self.writer.is_empty() {
            recorder.append(self.writer.packet());
        }
        self.writer.next_packet(now);
    }

    /// From here on the trace has several domains.
    pub(crate) fn become_one_of_several(&mut self, recorder: &Recorder) {
        let now = recorder.clock.now();
        self.flush(recorder, now);
        let (first, end) = recorder.next_ids();
        // Refused only by a packet that is not empty.
        let _ = self.writer.set_version(Version::V3);
        let _ = self.writer.set_ids(first, end);
    }

    /// The id that the next allocation would get.
    pub(crate) fn next_id(&self) -> BlockId {
        self.writer.next_id()
    }
}
