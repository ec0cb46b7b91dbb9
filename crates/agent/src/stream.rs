//! One domain's part of the trace: events become packets, packets go to the file.

use memtrail_trace::write::{AllocEvent, Refused, StreamWriter, Version};
use memtrail_trace::{BlockId, Code, DomainId, Timestamp};

use crate::recorder::Recorder;
use crate::symbolise::{NO_OCAML_CODE, with_locations};

type Writer = StreamWriter<&'static mut [u8]>;

pub(crate) struct Stream {
    writer: Writer,
    /// Who made the last allocation event, as far as callstacks can be compared.
    last_thread: usize,
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
        Some(Self { writer, last_thread: 0, blocks: 0, lost: 0 })
    }

    /// Writes an allocation. `unchanged` frames of `stack` are as at the last event of `thread`.
    pub(crate) fn alloc(
        &mut self,
        recorder: &Recorder,
        event: &AllocEvent,
        stack: &[Code],
        thread: usize,
        unchanged: usize,
    ) -> Option<BlockId> {
        let now = recorder.clock.now();
        let same = std::mem::replace(&mut self.last_thread, thread) == thread;
        let stack = if stack.is_empty() { &[NO_OCAML_CODE] } else { stack };
        let shared = self.writer.shared(stack, if same { unchanged } else { 0 });
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
