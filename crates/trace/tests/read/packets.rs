//! Packets put together byte by byte, for what no recorder at hand writes.

use memtrail_trace::header::{Header, Note};
use memtrail_trace::{DomainId, Timestamp};

/// Time of all events.
pub(crate) const NOW: u64 = 1_700_000_000_000_000;
const PID: u64 = 7;

/// The payload of a packet under construction.
#[derive(Clone, Default)]
pub(crate) struct Packet {
    bytes: Vec<u8>,
    first_id: u64,
    allocs: u64,
}

/// A location with its indices as they are to be in the file: 31 is followed by the name.
pub(crate) struct Raw<'a> {
    pub(crate) line: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) file: (u64, &'a str),
    pub(crate) function: (u64, &'a str),
}

impl Packet {
    pub(crate) fn new(first_id: u64) -> Self {
        Self { bytes: Vec::new(), first_id, allocs: 0 }
    }

    pub(crate) fn event(mut self, id: u32, payload: &[u8]) -> Self {
        let head = (NOW & 0x1FF_FFFF) as u32 | id << 25;
        self.bytes.extend(head.to_le_bytes());
        self.bytes.extend(payload);
        self
    }

    /// A one-word block, short form. `codewords` in bytes, `count` of them.
    pub(crate) fn alloc(mut self, prefix: u8, count: u8, codewords: &[u8]) -> Self {
        self.allocs += 1;
        let payload = [&[prefix, count], codewords].concat();
        self.event(101, &payload)
    }

    /// As memtrace up to 0.2.3 writes it: columns cut to 12 bits spill over into the next field.
    pub(crate) fn location(self, code: u64, locations: &[Raw<'_>]) -> Self {
        let mut payload = code.to_le_bytes().to_vec();
        payload.push(locations.len() as u8);
        for raw in locations {
            let word = raw.line
                | raw.start.min(0xFFF) << 20
                | raw.end.min(0xFFF) << 28
                | raw.file.0 << 38
                | raw.function.0 << 43;
            payload.extend(&word.to_le_bytes()[..6]);
            for (index, name) in [raw.file, raw.function] {
                if index == 31 {
                    payload.extend(name.as_bytes());
                    payload.push(0);
                }
            }
        }
        self.event(1, &payload)
    }

    fn finish(&self, version: u16) -> Vec<u8> {
        let mut header = Header {
            size: 0,
            begin: Timestamp(NOW),
            end: Timestamp(NOW),
            note: Note::default(),
            version,
            pid: PID,
            domain: DomainId(0),
            verify: None,
            first_id: self.first_id,
            end_id: self.first_id + self.allocs,
        };
        header.size = header.header_len() + self.bytes.len();
        let mut packet = header.encode()[..header.header_len()].to_vec();
        packet.extend(&self.bytes);
        packet
    }
}

/// A whole trace of these packets.
pub(crate) fn trace(version: u16, packets: &[Packet]) -> Vec<u8> {
    let mut info = 1e-4_f64.to_bits().to_le_bytes().to_vec();
    info.push(64);
    info.extend(b"exe\0host\0v=0\0");
    info.extend(PID.to_le_bytes());
    if version > 1 {
        info.push(0);
    }
    let mut trace = Packet::default().event(0, &info).finish(version);
    for packet in packets {
        trace.extend(packet.finish(version));
    }
    trace
}

/// A codeword that fills a bucket.
pub(crate) fn miss(bucket: u16, code: u64) -> Vec<u8> {
    [&(bucket << 2 | 3).to_le_bytes()[..], &code.to_le_bytes()].concat()
}
