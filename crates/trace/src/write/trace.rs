//! A whole trace file, from events of any domains in any order that makes sense.

use std::io::{self, Write};

use crate::header::MEMTRACE_PACKET;
use crate::info::{Location, TraceInfo};
use crate::omitted;
use crate::units::{BlockId, Code, DomainId, Timestamp};
use crate::write::event::{AllocEvent, Refused, Version};
use crate::write::info::info_packet;
use crate::write::stream::StreamWriter;

/// Ids that a domain takes at a time, as memtrace's domains do.
const CHUNK: u64 = 10_000;
/// The end of the ids of blocks that have theirs already.
const LAST_ID: BlockId = BlockId(1 << 62);

/// Writes a trace: version 2 until an event of a domain other than 0 arrives, then version 3.
///
/// Times are in microseconds and must not decrease within a domain; those that do are raised.
/// Each packet reaches `W` whole. Nothing is written when the writer is dropped:
/// [`finish`](Self::finish) it.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    version: Version,
    pid: u64,
    start: Timestamp,
    streams: Vec<StreamWriter<Box<[u8]>>>,
    /// Ids from here on belong to nobody, in version 3.
    next_chunk: u64,
    keeps_ids: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the first packet.
    pub fn new(mut out: W, info: &TraceInfo) -> io::Result<Self> {
        let mut packet = vec![0; MEMTRACE_PACKET];
        let len = info_packet(&mut packet, info, Version::V2).map_err(io::Error::other)?;
        out.write_all(packet.get(..len).unwrap_or_default())?;
        Ok(Self {
            out,
            version: Version::V2,
            pid: info.pid,
            start: info.start,
            streams: Vec::new(),
            next_chunk: 0,
            keeps_ids: false,
        })
    }

    /// Starts a trace of blocks that have ids already: the trace is of version 3 from the beginning.
    pub fn keeping_ids(out: W, info: &TraceInfo) -> io::Result<Self> {
        Ok(Self { version: Version::V3, keeps_ids: true, ..Self::new(out, info)? })
    }

    /// True if blocks have ids already.
    pub fn keeps_ids(&self) -> bool {
        self.keeps_ids
    }

    /// A block was allocated in `domain`. `locate` appends what stands at a code, the outermost
    /// caller first; it is asked when a domain meets a code for the first time. Of a backtrace that
    /// does not fit a packet, the middle is [left out](crate::omitted).
    pub fn alloc<'a>(
        &mut self,
        domain: DomainId,
        now: Timestamp,
        event: &AllocEvent,
        backtrace: &[Code],
        mut locate: impl FnMut(Code, &mut Vec<Location<'a>>),
    ) -> io::Result<BlockId> {
        let index = self.stream(domain)?;
        let mut locations = Vec::new();
        let mut short = Vec::new();
        let stream = self.at(index)?;
        let shared = stream.shared(backtrace, 0);
        let (backtrace, shared) = if stream.fits(backtrace, shared) {
            (backtrace, shared)
        } else {
            short.extend_from_slice(backtrace);
            omitted::shorten(&mut short);
            (&short[..], stream.shared(&short, 0))
        };
        // The codes of the previous backtrace are known.
        for &code in backtrace.get(shared..).unwrap_or_default() {
            if !self.at(index)?.knows(code) {
                locations.clear();
                match omitted::location(code) {
                    Some(location) => locations.push(location),
                    None => locate(code, &mut locations),
                }
                self.put(index, now, |stream| stream.define(now, code, &locations))?;
            }
        }
        self.put(index, now, |stream| stream.alloc(now, event, backtrace, shared))
    }

    /// Says how often the trace's rate was halved for the blocks of `domain` that come next, if the trace is to say so.
    pub fn set_halvings(&mut self, domain: DomainId, halvings: Option<u8>) -> io::Result<()> {
        let index = self.stream(domain)?;
        if self.at(index)?.halvings() != halvings {
            self.flush(index, None)?;
            self.at(index)?.set_halvings(halvings).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// A block that has an id already was allocated, sampled at the trace's rate halved so often. The ids of a domain
    /// must ascend. For writers that are [keeping ids](Self::keeping_ids), otherwise as [`alloc`](Self::alloc).
    #[expect(clippy::too_many_arguments, reason = "those of alloc, and what the block has already")]
    pub fn alloc_as<'a>(
        &mut self,
        id: BlockId,
        halvings: Option<u8>,
        domain: DomainId,
        now: Timestamp,
        event: &AllocEvent,
        backtrace: &[Code],
        locate: impl FnMut(Code, &mut Vec<Location<'a>>),
    ) -> io::Result<()> {
        let index = self.stream(domain)?;
        let stream = self.at(index)?;
        if stream.next_id() != id || stream.ids_left() == 0 {
            self.flush(index, None)?;
            self.at(index)?.set_ids(id, LAST_ID).map_err(io::Error::other)?;
        }
        self.set_halvings(domain, halvings)?;
        self.alloc(domain, now, event, backtrace, locate).map(drop)
    }

    /// Block `id` moved to the major heap, said by `domain`.
    pub fn promote(&mut self, domain: DomainId, now: Timestamp, id: BlockId) -> io::Result<()> {
        let index = self.after_others(domain, id)?;
        self.put(index, now, |stream| stream.promote(now, id))
    }

    /// Block `id` was found dead by `domain`.
    pub fn collect(&mut self, domain: DomainId, now: Timestamp, id: BlockId) -> io::Result<()> {
        let index = self.after_others(domain, id)?;
        self.put(index, now, |stream| stream.collect(now, id))
    }

    /// Nothing more will come of `domain`, nor of its blocks: what is left of it is written, and its memory
    /// is free.
    pub fn close(&mut self, domain: DomainId) -> io::Result<()> {
        let found = self.streams.iter().position(|stream| stream.domain() == domain);
        let Some(index) = found else { return Ok(()) };
        self.flush(index, None)?;
        let stream = self.streams.swap_remove(index);
        // In version 2 ids are not given out in chunks.
        self.next_chunk = self.next_chunk.max(stream.next_id().0);
        Ok(())
    }

    /// Writes what is left and returns the underlying writer, flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_all()?;
        Ok(self.out)
    }

    /// Writes all events so far, in packets that may be small, so that readers see them.
    pub fn flush_all(&mut self) -> io::Result<()> {
        for index in 0..self.streams.len() {
            self.flush(index, None)?;
        }
        self.out.flush()
    }

    /// The stream of a domain. All others are written out if they speak of `id`: readers must see
    /// that first.
    fn after_others(&mut self, domain: DomainId, id: BlockId) -> io::Result<usize> {
        let index = self.stream(domain)?;
        for other in (0..self.streams.len()).filter(|&other| other != index) {
            if self.at(other)?.holds(id) {
                self.flush(other, None)?;
            }
        }
        Ok(index)
    }

    fn stream(&mut self, domain: DomainId) -> io::Result<usize> {
        if let Some(index) = self.streams.iter().position(|stream| stream.domain() == domain) {
            return Ok(index);
        }
        if domain != DomainId(0) && self.version == Version::V2 {
            self.become_v3()?;
        }
        let buf = vec![0; MEMTRACE_PACKET].into_boxed_slice();
        let first = BlockId(self.next_chunk);
        let stream = StreamWriter::new(buf, self.version, self.pid, domain, self.start, first)
            .map_err(io::Error::other)?;
        self.streams.push(stream);
        Ok(self.streams.len() - 1)
    }

    fn become_v3(&mut self) -> io::Result<()> {
        self.version = Version::V3;
        for index in 0..self.streams.len() {
            self.flush(index, None)?;
            let next = self.at(index)?.next_id();
            self.next_chunk = self.next_chunk.max(next.0);
            let stream = self.at(index)?;
            stream.set_version(Version::V3).map_err(io::Error::other)?;
            // None left: the first block takes a chunk.
            stream.set_ids(next, next).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Does `event`, after a flush if there is no room for it.
    fn put<T>(
        &mut self,
        index: usize,
        now: Timestamp,
        mut event: impl FnMut(&mut StreamWriter<Box<[u8]>>) -> Result<T, Refused>,
    ) -> io::Result<T> {
        let mut result = event(self.at(index)?);
        if matches!(result, Err(Refused::Full)) {
            self.flush(index, Some(now))?;
            result = event(self.at(index)?);
        }
        result.map_err(|refused| io::Error::new(io::ErrorKind::InvalidInput, refused))
    }

    fn flush(&mut self, index: usize, now: Option<Timestamp>) -> io::Result<()> {
        let Some(stream) = self.streams.get_mut(index) else { return Ok(()) };
        if !stream.is_empty() {
            self.out.write_all(stream.packet())?;
        }
        stream.next_packet(now.unwrap_or_default());
        if stream.ids_left() == 0 && now.is_some() {
            let begin = self.next_chunk;
            self.next_chunk += CHUNK;
            stream.set_ids(BlockId(begin), BlockId(self.next_chunk)).map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn at(&mut self, index: usize) -> io::Result<&mut StreamWriter<Box<[u8]>>> {
        self.streams.get_mut(index).ok_or_else(|| io::Error::other("no such stream"))
    }
}
