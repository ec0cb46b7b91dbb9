//! The packet that says what the trace is.

use crate::header::Header;
use crate::info::TraceInfo;
use crate::units::SampleRate;
use crate::wire::{Cursor, TIME_BITS, event};

/// Reads a packet that begins with a trace-info event, header and all.
pub(super) fn parse(header: &Header, packet: &[u8]) -> Option<TraceInfo> {
    let mut at = Cursor::at(packet, header.header_len());
    if at.u32()? >> TIME_BITS != event::INFO {
        return None;
    }
    let text =
        |at: &mut Cursor<'_>| at.string().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let sample_rate = SampleRate(f64::from_bits(at.u64()?));
    let word_bits = at.u8()?;
    let executable = text(&mut at)?;
    let host = text(&mut at)?;
    let runtime_params = text(&mut at)?;
    let pid = at.u64()?;
    let context = match header.version {
        1 => None,
        _ => Some(text(&mut at)?).filter(|context| !context.is_empty()),
    };
    let plausible = sample_rate.0 > 0.0 && sample_rate.0 <= 1.0 && matches!(word_bits, 32 | 64);
    (plausible && at.is_empty()).then_some(TraceInfo {
        sample_rate,
        word_bits,
        executable,
        host,
        runtime_params,
        pid,
        start: header.begin,
        context,
    })
}
