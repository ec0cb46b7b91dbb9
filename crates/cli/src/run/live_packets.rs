//! Brings the packets that a process was filling when it ended into its trace.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_trace::allocations;
use memtrail_trace::header::Header;

/// Appends the packet in `tail` to `trace`, unless it is empty or the trace ends with it already. An
/// error comes with the number of blocks that are lost by it; the trace is as it was.
pub(super) fn append(tail: &Path, trace: &Path) -> Result<(), (io::Error, u64)> {
    let bytes = fs::read(tail).map_err(|error| (error, 0))?;
    let Some((header, packet)) = first_packet(&bytes) else { return Ok(()) };
    append_packet(&packet, trace)
        .map_err(|error| (error, header.end_id.saturating_sub(header.first_id)))
}

/// The packet in `tail`, which its process may be filling; none if nothing is in it.
pub(crate) fn read(tail: &Path) -> Option<Vec<u8>> {
    const READS: u32 = 5;
    let begun = |header: &Header| (header.begin, header.first_id);
    // The process may begin another packet while this one is read.
    (0..READS).find_map(|_| {
        let bytes = fs::read(tail).ok()?;
        let (header, packet) = first_packet(&bytes)?;
        let now = Header::parse(&fs::read(tail).ok()?).ok()?;
        (begun(&header) == begun(&now)).then_some(packet)
    })
}

/// The packet that these bytes begin with, unless nothing is in it.
fn first_packet(bytes: &[u8]) -> Option<(Header, Vec<u8>)> {
    let header = Header::parse(bytes).ok()?;
    let packet = bytes.get(..header.size).filter(|_| header.size > header.header_len())?;
    let packet = counted(packet, &header);
    Some((header, packet))
}

/// The whole packets of a trace.
pub(crate) fn whole_packets(trace: &[u8]) -> impl Iterator<Item = (Header, &[u8])> {
    let mut rest = trace;
    std::iter::from_fn(move || {
        let header = Header::parse(rest).ok().filter(|header| header.size > 0)?;
        let (packet, behind) = rest.split_at_checked(header.size)?;
        rest = behind;
        Some((header, packet))
    })
}

/// Their bytes together.
pub(crate) fn length_of_packets(trace: &[u8]) -> usize {
    whole_packets(trace).map(|(_, packet)| packet.len()).sum()
}

fn append_packet(packet: &[u8], trace: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().read(true).append(true).open(trace)?;
    // The process may have ended in the midst of writing it.
    let length = length_of_packets(&MappedFile::open(trace)?) as u64;
    if length < file.metadata()?.len() {
        file.set_len(length)?;
    }
    // Or between writing it and beginning the next one.
    if let Some(start) = length.checked_sub(packet.len() as u64) {
        let mut last = vec![0; packet.len()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut last)?;
        if last == packet {
            return Ok(());
        }
    }
    let written = file.write_all(packet);
    if written.is_err() {
        // Half a packet is none.
        let _ = file.set_len(length);
    }
    written
}

/// The packet with an `end_id` that counts the blocks which are in it. A process that ends between
/// the two stores of the writer, `end_id` and then the size, has counted one that is not.
fn counted(packet: &[u8], header: &Header) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if let Some(blocks) = allocations(&packet)
        && header.first_id + blocks + 1 == header.end_id
    {
        let at = header.header_len() - size_of::<u64>();
        packet[at..at + size_of::<u64>()].copy_from_slice(&(header.end_id - 1).to_le_bytes());
    }
    packet
}

/// Blocks in a trace, as its packets' headers say: of a process that was killed, nobody
/// else does. As far as the packets are whole.
pub(super) fn blocks(trace: &Path) -> io::Result<u64> {
    let bytes = MappedFile::open(trace)?;
    let blocks = |header: &Header| header.end_id.saturating_sub(header.first_id);
    Ok(whole_packets(&bytes).map(|(header, _)| blocks(&header)).sum())
}

#[cfg(test)]
mod tests {
    use memtrail_trace::write::{AllocEvent, TraceWriter};
    use memtrail_trace::{Code, DomainId, Location, Reader, Source, Timestamp, Words};

    use super::*;

    // Its write was interrupted by a signal handler that ended the process: the packet was then put
    // behind its own half.
    #[test]
    fn half_a_packet_is_replaced_by_the_whole() {
        let whole = include_bytes!("../../../trace/tests/fixtures/ocamlopt-upstream.ctf");
        let mut starts = vec![0];
        while let Ok(header) = Header::parse(&whole[starts[starts.len() - 1]..])
            && starts[starts.len() - 1] + header.size < whole.len()
        {
            starts.push(starts[starts.len() - 1] + header.size);
        }
        let last = *starts.last().expect("a packet");
        let size = whole.len() - last;
        let folder = tempfile::tempdir().expect("a folder");
        let (trace, tail) = (folder.path().join("trace"), folder.path().join("tail"));
        fs::write(&tail, &whole[last..]).expect("written");
        for there in [0, 1, 20, size / 2, size - 1, size] {
            fs::write(&trace, &whole[..last + there]).expect("written");
            append(&tail, &trace).expect("appended");
            assert!(fs::read(&trace).expect("read") == whole, "with {there} of {size} bytes there");
        }
    }

    // The trace was said to be damaged: its last packet ends with block 96611, and has those up to
    // 96610.
    #[test]
    fn a_block_that_was_counted_and_not_written_is_counted_no_more() {
        let whole = include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf");
        let (mut last, mut next) = (0, 0);
        while let Ok(header) = Header::parse(&whole[next..]) {
            (last, next) = (next, next + header.size);
        }
        assert!(last > 0, "several packets");
        let mut packet = whole[last..].to_vec();
        let header = Header::parse(&packet).expect("a header");
        let at = header.header_len() - 8;
        packet[at..at + 8].copy_from_slice(&(header.end_id + 1).to_le_bytes());
        let folder = tempfile::tempdir().expect("a folder");
        let (trace, tail) = (folder.path().join("trace"), folder.path().join("tail"));
        fs::write(&tail, &packet).expect("written");
        fs::write(&trace, &whole[..last]).expect("written");
        append(&tail, &trace).expect("appended");
        assert!(fs::read(&trace).expect("read") == whole);
    }

    // Blocks were counted by decoding the packet, which needs the names of those before it. What could
    // not be decoded was not counted: the traces of programs that were killed were said to be damaged.
    #[test]
    fn no_packet_needs_another_to_be_counted() {
        let fixture = include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf");
        let info = Reader::new(fixture).expect("a trace").info().clone();
        let mut trace = Vec::new();
        let mut writer = TraceWriter::new(&mut trace, &info).expect("written");
        let event = AllocEvent { length: Words(2), samples: 1, source: Source::Minor };
        for code in 1..=20 {
            // Names are written once, and referred to afterwards.
            let (function, file) = (&b"Unit.function"[..], &b"unit.ml"[..]);
            let place = Location { function, file, line: code, start_col: 2, end_col: 9 };
            let allocated = writer.alloc(
                DomainId(0),
                Timestamp(info.start.0 + u64::from(code)),
                &event,
                &[Code(u64::from(code))],
                |_, places| places.push(place),
            );
            allocated.and_then(|_| writer.flush_all()).expect("written");
        }
        writer.finish().expect("written");
        let (mut rest, mut packets) = (&trace[..], 0);
        while let Ok(header) = Header::parse(rest) {
            let (packet, behind) = rest.split_at(header.size);
            assert!(counted(packet, &header) == packet, "packet {packets}");
            (rest, packets) = (behind, packets + 1);
        }
        assert_eq!(packets, 21);
    }
}
