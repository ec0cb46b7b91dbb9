//! Goes from packet to packet, and finds the next one where a packet is not what it should be.

use std::ops::ControlFlow;

use super::anomaly::{Anomalies, Cause};
use super::backtrace::{CODES, MARKS, STACKS};
use super::domain::Domains;
use super::error::Error;
use super::event::{Detail, Event};
use super::info_packet;
use super::packet::{self, Context, End, PAD, Packet};
use super::tables::Tables;
use super::walk;
use crate::header::{Header, HeaderError, LEN_V3, MAGIC, MEMTRACE_PACKET};
use crate::info::TraceInfo;
use crate::units::Timestamp;

/// Zeros that a growing file must show ahead to be taken for room that nothing is written to yet.
const ROOM: usize = 4096;

/// The state of reading a trace, between packets.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(super) detail: Detail,
    pub(crate) info: Option<TraceInfo>,
    pub(crate) tables: Tables,
    pub(crate) anomalies: Anomalies,
    /// Byte of the file at which the next packet is expected.
    pub(crate) offset: u64,
    /// Time of the latest event.
    pub(crate) end: Timestamp,
    pub(crate) packets: u64,
    domains: Domains,
    /// The id after the last allocation, where ids are contiguous.
    next_id: Option<u64>,
    /// A packet at the end of the buffer, and [`PAD`] zeros.
    padded: Vec<u8>,
}

/// What to do at a place in the file.
enum Step {
    /// A packet of this many bytes; `true` if the file ends inside it.
    Packet(Header, usize, bool),
    /// Bytes to pass over, and what they are.
    Skip(usize, Cause),
    /// Nothing more can be read from what is there.
    Rest,
}

impl Decoder {
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            detail,
            info: None,
            tables: Tables::default(),
            anomalies: Anomalies::default(),
            offset: 0,
            end: Timestamp(0),
            packets: 0,
            domains: Domains::default(),
            next_id: None,
            padded: Vec::new(),
        }
    }

    /// Reads what is readable of `tail`, the bytes of the file from `self.offset` on. With
    /// `is_all`, no more will follow.
    pub(crate) fn advance<B>(
        &mut self,
        tail: &[u8],
        is_all: bool,
        f: &mut impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.detail {
            Detail::Marks => self.advance_with::<MARKS, B>(tail, is_all, f),
            Detail::Codes => self.advance_with::<CODES, B>(tail, is_all, f),
            Detail::Stacks => self.advance_with::<STACKS, B>(tail, is_all, f),
        }
    }

    /// Reads up to the trace information of a whole file.
    pub(crate) fn find_info(&mut self, bytes: &[u8]) -> Result<TraceInfo, Error> {
        let mut ignore = |_: Event<'_>, _: &Tables| ControlFlow::<()>::Continue(());
        let mut tail = bytes;
        while let ControlFlow::Continue(used @ 1..) = self.one::<MARKS, ()>(tail, true, &mut ignore)
        {
            if let Some(info) = self.info.take() {
                return Ok(info);
            }
            tail = tail.get(used..).unwrap_or_default();
        }
        Err(self.error(bytes))
    }

    /// Why a trace that begins with `bytes`, read to its end, shows no information.
    pub(crate) fn error(&self, bytes: &[u8]) -> Error {
        let packets = self.anomalies.count(Cause::BeforeInfo.name()) > 0;
        match Header::parse(bytes) {
            _ if bytes.is_empty() => Error::Empty,
            Err(HeaderError::Version(version)) => Error::Version(version),
            Err(HeaderError::Magic(_)) if !packets => {
                Error::NotATrace(bytes.iter().take(8).copied().collect())
            }
            _ => Error::NoInfo,
        }
    }

    fn advance_with<const MODE: u8, B>(
        &mut self,
        mut tail: &[u8],
        is_all: bool,
        f: &mut impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        loop {
            match self.one::<MODE, B>(tail, is_all, f)? {
                0 => return ControlFlow::Continue(()),
                used => tail = tail.get(used..).unwrap_or_default(),
            }
        }
    }

    /// Reads what stands at the beginning of `tail`: how many bytes were used, none if there is
    /// nothing to do (yet).
    fn one<const MODE: u8, B>(
        &mut self,
        tail: &[u8],
        is_all: bool,
        f: &mut impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let used = match step(tail, is_all) {
            Step::Rest => 0,
            Step::Skip(len, cause) => {
                self.anomalies.report(self.offset, cause);
                if !cause.is_harmless() {
                    self.domains.suspect_all();
                }
                len
            }
            Step::Packet(header, end, cut) => {
                let damaged = self.packet::<MODE, B>(header, tail, end, cut, f)?;
                match damaged.then(|| header_inside(tail, end)).flatten() {
                    // Its size is wrong, and a packet that it seems to hold is not lost.
                    Some(inside) => {
                        let (said, found) = (header.size as u64, inside as u64);
                        self.anomalies.report(self.offset, Cause::PacketSize { said, found });
                        inside
                    }
                    None => end,
                }
            }
        };
        self.offset += used as u64;
        ControlFlow::Continue(used)
    }

    /// Reads the packet that is the first `end` bytes of `tail`. Whether it is damaged.
    fn packet<const MODE: u8, B>(
        &mut self,
        header: Header,
        tail: &[u8],
        end: usize,
        cut: bool,
        f: &mut impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B, bool> {
        let offset = self.offset;
        if cut {
            let (size, have) = (header.size as u64, end as u64);
            self.anomalies.report(offset, Cause::TruncatedPacket { size, have });
        } else if end < header.size {
            let (said, found) = (header.size as u64, end as u64);
            self.anomalies.report(offset, Cause::PacketSize { said, found });
        } else if header.size > MEMTRACE_PACKET {
            self.anomalies.report(offset, Cause::LargePacket(header.size as u64));
        }
        let Some(info) = &self.info else {
            let bytes = tail.get(..end).unwrap_or_default();
            match info_packet::parse(&header, bytes) {
                Some(info) => {
                    self.end = info.start;
                    self.info = Some(info);
                    self.packets += 1;
                }
                None => self.anomalies.report(offset, Cause::BeforeInfo),
            }
            return ControlFlow::Continue(false);
        };
        if header.pid != info.pid {
            self.anomalies.report(offset, Cause::ForeignPid(header.pid));
            return ControlFlow::Continue(false);
        }
        self.packets += 1;
        let padded;
        let bytes = if tail.len() >= end + PAD {
            tail
        } else {
            padded = {
                let mut buffer = std::mem::take(&mut self.padded);
                buffer.clear();
                buffer.extend_from_slice(tail.get(..end).unwrap_or_default());
                buffer.resize(end + PAD, 0);
                buffer
            };
            &padded
        };
        let start = info.start;
        let first_id = self.first_id(&header, bytes.get(..end).unwrap_or_default());
        let domain = self.domains.get(header.domain, start);
        if packet::has_times(&header) {
            let begin = header.begin.0.wrapping_add(domain.skew);
            if let Some(back) = domain.last.0.checked_sub(begin).filter(|&back| back > 0) {
                self.anomalies.report(offset, Cause::ClockBackwards(back));
                domain.skew = domain.skew.wrapping_add(back);
            }
        } else {
            let cause = Cause::PacketTimes { begin: header.begin.0, end: header.end.0 };
            self.anomalies.report(offset, cause);
        }
        if MODE != MARKS
            && let Some(verify) = &header.verify
            && !domain.backtraces.agrees(verify)
        {
            self.anomalies.report(offset, Cause::Verifier(verify.bucket));
            domain.suspect = true;
        }
        let packet = Packet { header, bytes, end, offset, cut };
        let context = Context { domain, tables: &mut self.tables, anomalies: &mut self.anomalies };
        let ended = packet.events::<MODE, B>(first_id, context, f);
        self.end = self.end.max(domain.last);
        let damaged = match ended {
            End::Stopped(value) => return ControlFlow::Break(value),
            End::Whole(next_id) => {
                if next_id != header.end_id && !cut {
                    let cause = Cause::IdSync { expected: header.end_id, found: next_id };
                    self.anomalies.report(offset, cause);
                }
                false
            }
            End::Damaged(at, cause) => {
                // That the last event of a file is cut short has been said already.
                if !(cut && cause == Cause::CutEvent) {
                    self.anomalies.report(offset + at as u64, cause);
                }
                domain.suspect = true;
                true
            }
        };
        self.next_id = Some(header.end_id);
        ControlFlow::Continue(damaged)
    }

    /// The id of a packet's first allocation. Before version 3 ids are contiguous over the file,
    /// so that of two ids, the one is right that agrees with the packet's end.
    fn first_id(&mut self, header: &Header, packet: &[u8]) -> u64 {
        let found = header.first_id;
        // Packets before a restart may have been written anew, with fewer blocks.
        let is_contiguous = header.version < 3 && !header.note.restarts;
        let Some(expected) = self.next_id.filter(|_| is_contiguous) else { return found };
        if found == expected {
            return found;
        }
        self.anomalies.report(self.offset, Cause::IdGap { expected, found });
        let fits = |first: u64| {
            walk::allocations(packet, header.header_len())
                .is_some_and(|n| first.wrapping_add(n) == header.end_id)
        };
        if !fits(found) && fits(expected) {
            return expected;
        }
        self.domains.suspect_all();
        found
    }
}

/// What stands at the beginning of `tail`.
fn step(tail: &[u8], is_all: bool) -> Step {
    let rest = |cause| if is_all { Step::Skip(tail.len(), cause) } else { Step::Rest };
    if tail.is_empty() {
        return Step::Rest;
    }
    let header = match Header::parse(tail) {
        Ok(header) => header,
        Err(error) => {
            let looked_at = if is_all { tail } else { tail.get(..ROOM).unwrap_or(tail) };
            if looked_at.iter().all(|&byte| byte == 0) {
                return rest(Cause::Padding(tail.len() as u64));
            }
            if error == HeaderError::Short {
                return rest(Cause::TruncatedHeader(tail.len() as u64));
            }
            return match next_header(tail, 1) {
                Some(found) => Step::Skip(found, Cause::Garbage(found as u64)),
                None => rest(Cause::Garbage(tail.len() as u64)),
            };
        }
    };
    if header.size <= tail.len() {
        return Step::Packet(header, header.size, false);
    }
    if !is_all {
        return Step::Rest;
    }
    match next_header(tail, header.header_len()) {
        Some(found) => Step::Packet(header, found, false),
        None => Step::Packet(header, tail.len(), true),
    }
}

/// The first byte from `from` on at which a packet seems to begin.
pub(crate) fn next_header(bytes: &[u8], from: usize) -> Option<usize> {
    let [first, ..] = MAGIC.to_le_bytes();
    let mut at = from;
    loop {
        let rest = bytes.get(at..)?;
        at += rest.iter().position(|&byte| byte == first)?;
        let candidate = bytes.get(at..)?;
        if let Ok(header) = Header::parse(candidate.get(..LEN_V3).unwrap_or(candidate))
            && header.begin <= header.end
        {
            return Some(at);
        }
        at += 1;
    }
}

/// Where a packet begins inside of one that ends at `end` and is damaged, if what follows its end
/// is no packet.
fn header_inside(tail: &[u8], end: usize) -> Option<usize> {
    let after = tail.get(end..)?;
    let ends_well = after.iter().take(LEN_V3).all(|&byte| byte == 0)
        || !matches!(Header::parse(after), Err(HeaderError::Magic(_) | HeaderError::Size(_)));
    if ends_well {
        return None;
    }
    next_header(tail.get(..end + LEN_V3).unwrap_or(tail), 4).filter(|&found| found < end)
}
