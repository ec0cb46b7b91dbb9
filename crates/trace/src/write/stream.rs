//! The packets of one domain, one after another in the same buffer.

use std::ops::DerefMut;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::header::{Header, LEN_V3, MEMTRACE_PACKET, Note};
use crate::info::{Location, Source};
use crate::units::{BlockId, Code, DomainId, Timestamp};
use crate::wire::{TIME_BITS, TIME_MASK, event};
use crate::write::backtrace::{self, Backtraces, real};
use crate::write::defined::Defined;
use crate::write::event::{AllocEvent, Refused, Version};
use crate::write::locations::{NameTables, fitting};
use crate::write::sink::Sink;

/// Microseconds after which a packet is full: an event header has 25 bits of the time.
const MAX_SPAN: u64 = 30_000_000;
/// Bytes of an alloc event without its codewords, at most.
const ALLOC_HEAD: usize = 4 + 9 + 9 + 1 + 9 + 2;
/// Bytes of an alloc event, at most.
const MAX_ALLOC: usize = ALLOC_HEAD + backtrace::MAX_BYTES;
/// Bytes of a promote or collect event, at most.
const MAX_MARK: usize = 4 + 9;
/// The smallest buffer that takes any event.
const MIN_BUFFER: usize = LEN_V3 + MAX_ALLOC;

// Where the header keeps what changes with each event.
const SIZE_AT: usize = 4;
const END_AT: usize = 16;

/// Why there is no new stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NewStreamError {
    /// The buffer cannot hold every event; 32,768 bytes are right.
    #[error("a buffer of {0} bytes is too small for a packet")]
    Buffer(usize),
    /// A stream takes 300 KiB.
    #[error("no memory for a stream's tables")]
    Memory,
}

/// Writes the stream of one domain, packet by packet, into one buffer.
///
/// After every call, [`packet`](Self::packet), the first [`packet_len`](Self::packet_len) bytes of
/// the buffer, is a whole packet. On [`Refused::Full`] the caller takes it away, calls
/// [`next_packet`](Self::next_packet) and tries again. When two domains speak of one block, their
/// packets must be in the file in that order: see [`holds`](Self::holds).
///
/// Events are as late as their `now` says, but never earlier than the one before.
///
/// `B` is `&mut [u8]`, or anything else that holds bytes.
#[derive(Debug)]
pub struct StreamWriter<B> {
    buf: B,
    /// Bytes of the packet, header included.
    len: usize,
    header: Header,
    /// Time of the last event.
    last: Timestamp,
    /// The id of the next block.
    next_id: u64,
    /// Ids end here.
    ids_end: u64,
    /// The lowest and the highest block that moved or died in this packet.
    marked: Option<(u64, u64)>,
    backtraces: Backtraces,
    defined: Defined,
    names: NameTables,
}

impl<B: DerefMut<Target = [u8]>> StreamWriter<B> {
    /// A stream whose first packet begins at `start`, in a buffer of which at most 32,768 bytes
    /// are used. In version 2 the blocks' ids follow one another from `first_id`; in version 3
    /// there are none until [`set_ids`](Self::set_ids).
    pub fn new(
        buf: B,
        version: Version,
        pid: u64,
        domain: DomainId,
        start: Timestamp,
        first_id: BlockId,
    ) -> Result<Self, NewStreamError> {
        if buf.len() < MIN_BUFFER {
            return Err(NewStreamError::Buffer(buf.len()));
        }
        let header = Header {
            size: 0,
            begin: start,
            end: start,
            note: Note::default(),
            version: version.number(),
            pid,
            domain,
            verify: None,
            first_id: first_id.0,
            end_id: first_id.0,
        };
        let mut stream = Self {
            buf,
            len: 0,
            header,
            last: start,
            next_id: first_id.0,
            ids_end: if version == Version::V2 { u64::MAX } else { first_id.0 },
            marked: None,
            backtraces: Backtraces::new().ok_or(NewStreamError::Memory)?,
            defined: Defined::new(),
            names: NameTables::default(),
        };
        stream.open();
        Ok(stream)
    }

    /// The packet so far. Whole, if perhaps without an event.
    pub fn packet(&self) -> &[u8] {
        self.buf.get(..self.len).unwrap_or_default()
    }

    /// Bytes in the packet so far.
    pub fn packet_len(&self) -> usize {
        self.len
    }

    /// Whether the packet has no event.
    pub fn is_empty(&self) -> bool {
        self.len == self.header.header_len()
    }

    /// When the packet began: the time of its first event.
    pub fn begin(&self) -> Timestamp {
        self.header.begin
    }

    /// Whether there is room for any event, be it the largest.
    pub fn room(&self) -> bool {
        self.free() >= MAX_ALLOC
    }

    /// The domain whose packets it writes.
    pub fn domain(&self) -> DomainId {
        self.header.domain
    }

    /// Whether the packet so far may say something of block `id`. Before the stream of another
    /// domain says more, this packet must be in the file: readers follow a block in file order.
    pub fn holds(&self, id: BlockId) -> bool {
        (self.header.first_id..self.next_id).contains(&id.0)
            || self.marked.is_some_and(|(low, high)| (low..=high).contains(&id.0))
    }

    /// The id of the next block, if [`ids_left`](Self::ids_left) is not 0.
    pub fn next_id(&self) -> BlockId {
        BlockId(self.next_id)
    }

    /// How many blocks can be allocated before [`set_ids`](Self::set_ids).
    pub fn ids_left(&self) -> u64 {
        self.ids_end.saturating_sub(self.next_id)
    }

    /// Gives the stream the ids from `begin` up to, not including, `end`. Ids given later must be
    /// higher. Only an empty packet takes new ids.
    pub fn set_ids(&mut self, begin: BlockId, end: BlockId) -> Result<(), Refused> {
        if !self.is_empty() {
            return Err(Refused::Full);
        }
        (self.next_id, self.ids_end) = (begin.0, end.0);
        self.open();
        Ok(())
    }

    /// Changes the version from this packet on, which must be empty. A recording begins as
    /// version 2 and turns to 3 when it meets a second domain; memtrace's reader of version 3
    /// takes the version from each packet. Then [`set_ids`](Self::set_ids) must follow, lest
    /// streams use the same ids.
    pub fn set_version(&mut self, version: Version) -> Result<(), Refused> {
        if !self.is_empty() {
            return Err(Refused::Full);
        }
        self.header.version = version.number();
        self.open();
        Ok(())
    }

    /// Begins the next packet in the same buffer. An empty packet is begun anew.
    pub fn next_packet(&mut self, now: Timestamp) {
        self.last = self.last.max(now);
        if !self.is_empty() {
            self.header.verify = self.backtraces.verify();
            self.header.note.restarts = false;
        }
        self.open();
    }

    /// Forgets what readers know: from this packet on, which must be empty, nothing refers to earlier packets of the
    /// stream, whatever they say. So somebody else may replace these with others. Blocks keep their ids.
    pub fn restart(&mut self) -> Result<(), Refused> {
        if !self.is_empty() {
            return Err(Refused::Full);
        }
        self.backtraces.restart();
        self.defined.clear();
        self.names = NameTables::default();
        self.header.verify = None;
        self.header.note.restarts = true;
        self.open();
        Ok(())
    }

    /// Number of times that the trace's rate was halved for the blocks of this packet, as the packet says.
    pub fn halvings(&self) -> Option<u8> {
        self.header.note.halvings
    }

    /// Notes in this packet, which must be empty, and in those after it how often the trace's rate was halved for
    /// their blocks.
    pub fn set_halvings(&mut self, halvings: Option<u8>) -> Result<(), Refused> {
        if !self.is_empty() {
            return Err(Refused::Full);
        }
        self.header.note.halvings = halvings;
        self.open();
        Ok(())
    }

    /// Whether this stream has defined a code.
    #[inline]
    pub fn knows(&self, code: Code) -> bool {
        // The cache is about to be looked at anyway; the set is memory that nothing else touches.
        let code = real(code);
        self.backtraces.has(code) || self.defined.contains(code)
    }

    /// Says what stands at a code, the outermost caller first when calls were inlined, nothing
    /// when there is no debug information. Each code is to be defined in each stream before a
    /// backtrace uses it, always in the same way.
    ///
    /// More than 255 locations, or more than fit 4,096 bytes, become one unknown location; names
    /// end at their first NUL or after 1,024 bytes; lines stop at 1,048,575, start columns at
    /// 255, end columns at 1,023.
    pub fn define(
        &mut self,
        now: Timestamp,
        code: Code,
        locations: &[Location<'_>],
    ) -> Result<(), Refused> {
        let code = real(code);
        let (locations, bytes) = fitting(locations);
        self.begin_event(now, bytes)?;
        let mut out = Sink::new(&mut self.buf, self.len);
        out.u32(event_header(event::LOCATION, self.last));
        self.names.put(&mut out, code, locations);
        let end = out.finish();
        self.defined.insert(code);
        self.commit(end);
        Ok(())
    }

    /// How many outer frames a backtrace has in common with the previous alloc's, of which `kept`
    /// are known to be equal. The codes of the others must be known before [`alloc`](Self::alloc).
    pub fn shared(&self, backtrace: &[Code], kept: usize) -> usize {
        self.backtraces.shared(backtrace, kept)
    }

    /// Whether a backtrace that has its first `kept` frames in common with the previous alloc's can
    /// be written whole. One that cannot is to be [shortened](crate::omitted::shorten): then it can.
    pub fn fits(&self, backtrace: &[Code], kept: usize) -> bool {
        self.backtraces.fits(backtrace.get(kept..).unwrap_or_default())
    }

    /// A block was allocated, with this backtrace, the outermost frame first. `kept` says how many
    /// frames at least are equal to those of the stream's previous alloc; 0 if that is not known.
    /// Returns the block's id.
    ///
    /// Of a backtrace that does not [fit](Self::fits), frames in the middle may be left out.
    pub fn alloc(
        &mut self,
        now: Timestamp,
        event: &AllocEvent,
        backtrace: &[Code],
        kept: usize,
    ) -> Result<BlockId, Refused> {
        let kept = kept.min(backtrace.len()).min(self.backtraces.depth());
        let suffix = backtrace.get(kept..).unwrap_or_default();
        self.alloc_with(now, event, kept, suffix.iter().copied())
    }

    /// The same, with only the frames after the first `kept`. The stream's previous backtrace must
    /// have [`kept_at_most`](Self::kept_at_most) frames to refer to, or this one is cut there, too.
    pub fn alloc_with(
        &mut self,
        now: Timestamp,
        event: &AllocEvent,
        kept: usize,
        suffix: impl ExactSizeIterator<Item = Code> + Clone,
    ) -> Result<BlockId, Refused> {
        let lost = kept > self.backtraces.depth();
        let upper = if lost { 0 } else { suffix.len() };
        let kept = kept.min(self.backtraces.depth());
        let bytes = self.backtraces.estimate(suffix.clone()).min(backtrace::MAX_BYTES);
        let mut suffix = suffix.take(upper).peekable();
        let common = self.backtraces.common(kept, &mut suffix);
        let frames = upper.saturating_sub(common - kept);
        if self.ids_left() == 0 {
            return Err(Refused::Full);
        }
        self.begin_event(now, ALLOC_HEAD + bytes)?;

        let mut out = Sink::new(&mut self.buf, self.len);
        let length = int(event.length.0);
        let short = (1..=i64::from(event::SHORT_MAX)).contains(&length)
            && event.samples == 1
            && event.source == Source::Minor
            && u8::try_from(frames).is_ok();
        if short {
            out.u32(event_header(event::SHORT_ALLOC + length as u32, self.last));
            out.vint(common as i64);
            let count_at = out.at();
            out.u8(0);
            let count = self.backtraces.put(&mut out, common, suffix, frames, bytes);
            out.patch(count_at, [count as u8]);
        } else {
            out.u32(event_header(event::ALLOC, self.last));
            out.vint(length);
            out.vint(int(event.samples));
            out.u8(event.source as u8);
            out.vint(common as i64);
            let count_at = out.at();
            out.u16(0);
            let count = self.backtraces.put(&mut out, common, suffix, frames, bytes);
            out.patch(count_at, count.to_le_bytes());
        }
        let end = out.finish();
        let id = BlockId(self.next_id);
        self.next_id += 1;
        self.commit(end);
        Ok(id)
    }

    /// How many frames of the previous alloc's backtrace the reader has: all, unless it was cut.
    pub fn kept_at_most(&self) -> usize {
        self.backtraces.depth()
    }

    /// A block of any stream moved to the major heap.
    pub fn promote(&mut self, now: Timestamp, id: BlockId) -> Result<(), Refused> {
        self.mark(now, event::PROMOTE, id, false)
    }

    /// A block of any stream was found dead.
    pub fn collect(&mut self, now: Timestamp, id: BlockId) -> Result<(), Refused> {
        self.mark(now, event::COLLECT, id, self.header.version >= 3)
    }

    fn mark(
        &mut self,
        now: Timestamp,
        event: u32,
        id: BlockId,
        unborn: bool,
    ) -> Result<(), Refused> {
        if id.0 >= self.next_id && !unborn {
            return Err(Refused::Unborn);
        }
        self.begin_event(now, MAX_MARK)?;
        let back = (self.next_id as i64).wrapping_sub(1).wrapping_sub(id.0 as i64);
        let mut out = Sink::new(&mut self.buf, self.len);
        out.u32(event_header(event, self.last));
        out.vint(back);
        let end = out.finish();
        let (low, high) = self.marked.unwrap_or((id.0, id.0));
        self.marked = Some((low.min(id.0), high.max(id.0)));
        self.commit(end);
        Ok(())
    }

    fn free(&self) -> usize {
        self.buf.len().min(MEMTRACE_PACKET).saturating_sub(self.len)
    }

    /// Makes sure that an event of so many bytes can be written, and sets its time.
    #[inline]
    fn begin_event(&mut self, now: Timestamp, bytes: usize) -> Result<(), Refused> {
        let now = now.max(self.last);
        if self.is_empty() {
            // The packet begins with its first event, whenever it was opened.
            if now > self.header.begin {
                self.last = now;
                self.open();
            }
        } else if now.0.saturating_sub(self.header.begin.0) > MAX_SPAN {
            return Err(Refused::Full);
        }
        if bytes > self.free() {
            return Err(Refused::Full);
        }
        self.last = now;
        Ok(())
    }

    /// Makes the event that was written up to `end` part of the packet. The size comes last: until
    /// then the event does not exist.
    #[inline]
    fn commit(&mut self, end: Option<usize>) {
        let Some(end) = end else { return };
        self.header.end = self.last;
        let end_id_at = self.header.header_len() - 8;
        let mut out = Sink::new(&mut self.buf, 0);
        compiler_fence(Ordering::Release);
        out.patch(END_AT, self.last.0.to_le_bytes());
        out.patch(end_id_at, self.next_id.to_le_bytes());
        compiler_fence(Ordering::Release);
        out.patch(SIZE_AT, ((end * 8) as u32).to_le_bytes());
        self.len = end;
    }

    /// Puts an empty packet into the buffer.
    fn open(&mut self) {
        self.header.size = self.header.header_len();
        self.marked = None;
        (self.header.begin, self.header.end) = (self.last, self.last);
        (self.header.first_id, self.header.end_id) = (self.next_id, self.next_id);
        let encoded = self.header.encode();
        self.len = self.header.size;
        if let (Some(to), Some(from)) = (self.buf.get_mut(..self.len), encoded.get(..self.len)) {
            to.copy_from_slice(from);
        }
    }
}

#[inline]
fn event_header(event: u32, now: Timestamp) -> u32 {
    event << TIME_BITS | (now.0 & TIME_MASK) as u32
}

/// The greatest number that an OCaml int holds stands for all beyond.
fn int(value: u64) -> i64 {
    value.min(i64::MAX as u64 >> 1) as i64
}
