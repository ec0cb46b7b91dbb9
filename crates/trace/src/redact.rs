//! Copies a trace, packet by packet, with other names in it. Blocks keep their ids, and everything
//! that is not a name its bytes, so that what speaks of the trace elsewhere stays true.
//!
//! What cannot be read is not copied, as it may hold anything: 0xff stands for bytes between packets,
//! a packet with one unknown event for one that is damaged. A reader of the copy finds that something is missing.

use crate::header::Header;
use crate::info::TraceInfo;
use crate::read::{next_header, over};
use crate::wire::{Cursor, TIME_BITS, event, location};
use crate::write::{Version, info_packet};

/// Bytes of a packet with trace information at most.
const INFO_ROOM: usize = 32 << 10;
/// An event that there is not, in place of those of a damaged packet.
const NO_EVENT: [u8; 4] = [0xff; 4];
/// The process of packets that belong to another process than the trace.
const FOREIGN: u64 = u64::MAX;

/// What replaces names in the copy.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The information that the trace begins with. Its process is that of all packets.
    pub info: TraceInfo,
    /// The part of a source file's name that stays.
    pub file: fn(&[u8]) -> &[u8],
    /// The part of a function's name that stays.
    pub function: fn(&[u8]) -> &[u8],
}

/// A copy of the trace `bytes`, whose process is `pid`.
pub fn redact(bytes: &[u8], pid: u64, replaced: &Replaced) -> Vec<u8> {
    let mut copy = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(tail) = bytes.get(at..).filter(|tail| !tail.is_empty()) {
        let Ok(header) = Header::parse(tail) else {
            let skipped = next_header(tail, 1).unwrap_or(tail.len());
            let filler = if tail.iter().all(|&byte| byte == 0) { 0 } else { 0xff };
            copy.resize(copy.len() + skipped, filler);
            at += skipped;
            continue;
        };
        let next = next_header(tail, header.header_len()).unwrap_or(tail.len());
        let end = header.size.min(if header.size > tail.len() { next } else { tail.len() });
        let packet = tail.get(..end).unwrap_or_default();
        copy.extend_from_slice(&redact_packet(&header, packet, pid, replaced));
        at += end;
    }
    copy
}

fn redact_packet(header: &Header, packet: &[u8], pid: u64, replaced: &Replaced) -> Vec<u8> {
    let start = header.header_len();
    let mut events = Vec::with_capacity(packet.len());
    let ours = header.pid == pid;
    if is_info(packet, start) {
        let mut buffer = vec![0; INFO_ROOM];
        let version = if header.version == 3 { Version::V3 } else { Version::V2 };
        let size = info_packet(&mut buffer, &replaced.info, version).unwrap_or(0);
        buffer.truncate(size);
        return buffer;
    }
    // Of a packet that the file's end cuts off, the events before are whole.
    let is_cut = packet.len() < header.size;
    let mut allocations = 0;
    let mut at = Cursor::at(packet, start);
    let read = ours && copy_events(&mut at, &mut events, &mut allocations, replaced).is_some();
    let sound = read && header.first_id.wrapping_add(allocations) == header.end_id;
    if !sound && !is_cut {
        events = NO_EVENT.to_vec();
    }
    let size = start + events.len();
    let header = Header {
        size: if is_cut { size + 1 } else { size },
        pid: if ours { replaced.info.pid } else { FOREIGN },
        ..*header
    };
    let mut copy = header.encode().get(..start).unwrap_or_default().to_vec();
    copy.extend_from_slice(&events);
    copy
}

fn is_info(packet: &[u8], start: usize) -> bool {
    Cursor::at(packet, start).u32().is_some_and(|word| word >> TIME_BITS == event::INFO)
}

/// Copies events up to the packet's end, or up to one that makes no sense.
fn copy_events(
    at: &mut Cursor<'_>,
    events: &mut Vec<u8>,
    allocations: &mut u64,
    replaced: &Replaced,
) -> Option<()> {
    while !at.is_empty() {
        let before = *at;
        let id = at.u32()? >> TIME_BITS;
        if id == event::LOCATION {
            let mut event = Vec::new();
            event.extend_from_slice(before.rest().get(..4)?);
            copy_locations(at, &mut event, replaced)?;
            events.extend_from_slice(&event);
        } else {
            *allocations += u64::from(over(id, at)?);
            events.extend_from_slice(before.rest().get(..at.pos() - before.pos())?);
        }
    }
    Some(())
}

/// Copies the payload of a location event.
fn copy_locations(at: &mut Cursor<'_>, event: &mut Vec<u8>, replaced: &Replaced) -> Option<()> {
    event.extend_from_slice(&at.u64()?.to_le_bytes());
    let count = at.u8()?;
    event.push(count);
    for _ in 0..count {
        let (low, high) = (at.u32()?, at.u16()?);
        event.extend_from_slice(&low.to_le_bytes());
        event.extend_from_slice(&high.to_le_bytes());
        let word = u64::from(low) | u64::from(high) << 32;
        let file = location::LINE_BITS + location::START_BITS + location::END_BITS;
        let function = file + location::INDEX_BITS;
        for (shift, rule) in [(file, replaced.file), (function, replaced.function)] {
            // All bits of the index: a new name, which follows.
            let mask = (1 << location::INDEX_BITS) - 1;
            if word >> shift & mask == mask {
                event.extend_from_slice(rule(at.string()?));
                event.push(0);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    use crate::read::{Detail, Event, Reader};

    const CACHE: &[u8] = include_bytes!("../tests/fixtures/cache-v2.ctf");
    const DOMAINS: &[u8] = include_bytes!("../tests/fixtures/domains-v3.ctf");

    fn replaced(trace: &[u8]) -> (u64, Replaced) {
        let info = Reader::new(trace).unwrap().info().clone();
        let pid = info.pid;
        let info = TraceInfo { pid: 0, host: "removed".into(), ..info };
        (pid, Replaced { info, file: |_| b"file", function: |name| name })
    }

    /// All events with their names, files left out.
    fn events(trace: &[u8]) -> (Vec<String>, u64) {
        let reader = Reader::new(trace).unwrap();
        let mut events = Vec::new();
        let decoded = reader.for_each(Detail::Codes, |event, tables| {
            let mut line = format!("{event:?}");
            if let Event::Alloc(alloc) = event {
                for code in alloc.backtrace {
                    for site in tables.locations.of(*code) {
                        let at = tables.locations.resolve(*site);
                        let _ = write!(line, " {:?} {}", at.function, at.line);
                    }
                }
            }
            events.push(line);
        });
        (events, decoded.anomalies.total())
    }

    #[test]
    fn all_but_the_replaced_names_stays() {
        for trace in [CACHE, DOMAINS] {
            let (pid, replaced) = replaced(trace);
            let copy = redact(trace, pid, &replaced);
            assert_eq!(events(&copy), events(trace));
            let reader = Reader::new(&copy).unwrap();
            assert_eq!(reader.info(), &replaced.info);
            let decoded = reader.for_each(Detail::Codes, |_, _| ());
            let mut files = 0;
            for (_, function) in decoded.tables.locations.files().iter() {
                assert_eq!(function, b"file");
                files += 1;
            }
            assert_eq!(files, 1);
        }
    }

    #[test]
    fn nothing_of_what_cannot_be_read_is_copied_and_its_loss_can_be_seen() {
        let (pid, replaced) = replaced(CACHE);
        // A file that ends within a packet, garbage behind the first packet, and garbage inside one.
        let first = Header::parse(CACHE).unwrap().size;
        let second = first + Header::parse(&CACHE[first..]).unwrap().header_len();
        let cut = CACHE[..CACHE.len() * 2 / 3].to_vec();
        let between = [&CACHE[..first], b"a secret between packets", &CACHE[first..]].concat();
        let mut inside = CACHE.to_vec();
        inside[second + 3] = 0xff;
        inside[second + 40..second + 48].copy_from_slice(b"a secret");
        for damaged in [cut, between, inside] {
            let copy = redact(&damaged, pid, &replaced);
            assert!(!copy.windows(8).any(|bytes| bytes == b"a secret"));
            let (seen, was) = (events(&copy).1, events(&damaged).1);
            assert!(seen > 0 && was > 0, "the damage is seen: {seen} of {was}");
        }
    }
}
