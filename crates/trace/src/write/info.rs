//! The first packet of a trace.

use crate::header::{Header, Note};
use crate::info::TraceInfo;
use crate::units::DomainId;
use crate::wire::{TIME_MASK, event};
use crate::write::event::{Refused, Version};
use crate::write::sink::{Sink, until_nul};

/// Bytes of each string that are kept; all four fit a packet of 32 KiB.
const MAX_STRING: usize = 7 * 1024;

/// Writes the packet that every trace begins with into `buf`, and returns its length in bytes.
/// Strings end at their first NUL and are cut to fit a packet.
pub fn info_packet(buf: &mut [u8], info: &TraceInfo, version: Version) -> Result<usize, Refused> {
    let mut header = Header {
        size: 0,
        begin: info.start,
        end: info.start,
        note: Note::default(),
        version: version.number(),
        pid: info.pid,
        domain: DomainId(0),
        verify: None,
        first_id: 0,
        end_id: 0,
    };
    let mut out = Sink::new(buf, header.header_len());
    out.u32(event::INFO << crate::wire::TIME_BITS | (info.start.0 & TIME_MASK) as u32);
    out.u64(info.sample_rate.0.to_bits());
    out.u8(info.word_bits);
    out.string(until_nul(info.executable.as_bytes(), MAX_STRING));
    out.string(until_nul(info.host.as_bytes(), MAX_STRING));
    out.string(until_nul(info.runtime_params.as_bytes(), MAX_STRING));
    out.u64(info.pid);
    out.string(until_nul(info.context.as_deref().unwrap_or_default().as_bytes(), MAX_STRING));
    header.size = out.finish().ok_or(Refused::Full)?;
    let encoded = header.encode();
    let to = buf.get_mut(..header.header_len()).ok_or(Refused::Full)?;
    to.copy_from_slice(encoded.get(..header.header_len()).unwrap_or_default());
    Ok(header.size)
}
