//! Brings the packets that a process was filling when it ended into its trace.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_trace::header::Header;

/// Appends the packet in `tail` to `trace`, unless it is empty or the trace ends with it already. An
/// error comes with the number of blocks that are lost by it; the trace is as it was.
pub(super) fn append(tail: &Path, trace: &Path) -> Result<(), (io::Error, u64)> {
    let bytes = fs::read(tail).map_err(|error| (error, 0))?;
    let Ok(header) = Header::parse(&bytes) else { return Ok(()) };
    let Some(packet) = bytes.get(..header.size).filter(|_| header.size > header.header_len())
    else {
        return Ok(());
    };
    append_packet(packet, trace)
        .map_err(|error| (error, header.end_id.saturating_sub(header.first_id)))
}

fn append_packet(packet: &[u8], trace: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().read(true).append(true).open(trace)?;
    // The process may have ended between writing the packet and beginning the next one.
    let length = file.metadata()?.len();
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

/// Blocks of which a trace tells, as its packets' headers say: of a process that was killed, nobody
/// else does. As far as the packets are whole.
pub(super) fn blocks(trace: &Path) -> io::Result<u64> {
    let bytes = MappedFile::open(trace)?;
    let mut rest: &[u8] = &bytes;
    let mut blocks = 0;
    while let Ok(header) = Header::parse(rest)
        && let Some((_, behind)) = rest.split_at_checked(header.size)
    {
        blocks += header.end_id.saturating_sub(header.first_id);
        rest = behind;
    }
    Ok(blocks)
}
