//! Traces made for tests, written and read again.

use memtrail_profile::Profile;
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{Code, DomainId, Location, SampleRate, Source, Timestamp, TraceInfo, Words};

pub const START: u64 = 1_700_000_000_000_000;

/// A block as a test thinks of it. Times in microseconds since the start.
#[derive(Clone, Debug)]
pub struct Spec {
    pub allocated: u64,
    pub promoted: Option<u64>,
    pub collected: Option<u64>,
    pub length: u64,
    pub samples: u64,
    pub source: Source,
    pub domain: u16,
    /// Codes, outermost first.
    pub stack: Vec<u64>,
}

impl Spec {
    /// A small block, never promoted nor collected.
    pub fn at(allocated: u64, stack: &[u64]) -> Self {
        Self {
            allocated,
            promoted: None,
            collected: None,
            length: 2,
            samples: 1,
            source: Source::Minor,
            domain: 0,
            stack: stack.to_vec(),
        }
    }
}

/// One site: function, file, line.
pub type Named = (&'static str, &'static str, u32);

pub fn info(rate: f64) -> TraceInfo {
    TraceInfo {
        sample_rate: SampleRate(rate),
        word_bits: 64,
        executable: "/bin/test".into(),
        host: "host".into(),
        runtime_params: String::new(),
        pid: 1,
        start: Timestamp(START),
        context: None,
    }
}

/// Writes the trace of these blocks. `sites` tells what stands at a code, the caller first.
pub fn write(rate: f64, blocks: &[Spec], sites: impl Fn(u64) -> Vec<Named>) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &info(rate)).unwrap();
    // (time, kind, block): allocations before ends of the same time, in a stable order.
    let mut events: Vec<(u64, u8, usize)> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        events.push((block.allocated, 0, index));
        events.extend(block.promoted.map(|time| (time, 1, index)));
        events.extend(block.collected.map(|time| (time, 2, index)));
    }
    events.sort_unstable();
    let mut ids = vec![None; blocks.len()];
    for (time, kind, index) in events {
        let block = &blocks[index];
        let (domain, time) = (DomainId(block.domain), Timestamp(START + time));
        match kind {
            0 => {
                let event = AllocEvent {
                    length: Words(block.length),
                    samples: block.samples,
                    source: block.source,
                };
                let codes: Vec<Code> = block.stack.iter().map(|&code| Code(code)).collect();
                let id = writer.alloc(domain, time, &event, &codes, |code, to| {
                    to.extend(sites(code.0).into_iter().map(|(function, file, line)| Location {
                        function: function.as_bytes(),
                        file: file.as_bytes(),
                        line,
                        start_col: 0,
                        end_col: 1,
                    }));
                });
                ids[index] = Some(id.unwrap());
            }
            1 => writer.promote(domain, time, ids[index].unwrap()).unwrap(),
            _ => writer.collect(domain, time, ids[index].unwrap()).unwrap(),
        }
    }
    writer.finish().unwrap()
}

/// Writes a trace and reads it; nothing may be wrong with it.
pub fn profile(rate: f64, blocks: &[Spec], sites: impl Fn(u64) -> Vec<Named>) -> Profile {
    let profile = Profile::read(&write(rate, blocks, sites), &mut |_| {}).unwrap();
    assert_eq!((profile.damage.serious(), profile.inconsistent.total()), (0, 0));
    profile
}
