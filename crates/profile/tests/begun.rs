//! The beginning of histories that tests write: a trace with its description, and a stream that goes on behind it.

use memtrail_trace::write::{StreamWriter, Version, info_packet};
use memtrail_trace::{BlockId, DomainId, SampleRate, Timestamp, TraceInfo};

/// Bytes of a buffer.
const BUFFER: usize = 1 << 15;

/// A trace of one domain that begins at a time, in microseconds since 1970, and is sampled at this rate.
pub(crate) fn begin_history(rate: f64, start: u64) -> (Vec<u8>, StreamWriter<Vec<u8>>) {
    let info = TraceInfo {
        sample_rate: SampleRate(rate),
        word_bits: 64,
        executable: "thinned".into(),
        host: String::new(),
        runtime_params: String::new(),
        pid: 1,
        start: Timestamp(start),
        context: None,
    };
    let mut trace = vec![0; BUFFER];
    let length = info_packet(&mut trace, &info, Version::V2).unwrap();
    trace.truncate(length);
    let (buffer, domain, first) = (vec![0; BUFFER], DomainId(0), BlockId(0));
    let stream = StreamWriter::new(buffer, Version::V2, 1, domain, info.start, first).unwrap();
    (trace, stream)
}
