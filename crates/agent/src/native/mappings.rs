//! The program's mappings as blocks: which parts of the address space are of sampled ones.
//!
//! A mapping may be unmapped in parts. Then its block is freed, and what is left of it is allocated, by the same
//! callstack: of its samples those stay that are drawn for what is left.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memtrail_sampler::draw::Draws;
use memtrail_sampler::{Address, Bytes, Rate, Registers, Samples, events};
use memtrail_trace::{BlockId, Source};

use crate::native::calls::called;
use crate::native::children::current;
use crate::native::current::Recording;
use crate::os::lock::{Lock, LockGuard};
use crate::os::{heap, private_stack};

const PAGE: usize = 4096;

/// Whether mappings are recorded.
static RECORDED: AtomicBool = AtomicBool::new(false);

/// A part of the address space.
#[derive(Clone, Debug)]
pub struct Mapping(Range<usize>);

impl Mapping {
    /// So many bytes, rounded up to pages.
    pub fn new(start: usize, length: usize) -> Self {
        let length = length.checked_next_multiple_of(PAGE).unwrap_or(length);
        Self(start..start.saturating_add(length))
    }
}

/// A sampled mapping, or what is left of one.
struct Sampled {
    end: usize,
    id: BlockId,
    samples: Samples,
    callstack: Box<[Address]>,
}

/// All sampled mappings of a recording, by where they begin.
pub(super) struct Mappings {
    sampled: BTreeMap<usize, Sampled>,
    draws: Draws,
}

/// From now on mappings are recorded.
pub(super) fn record() {
    RECORDED.store(true, Relaxed);
}

/// Whether mappings are recorded, and this one is the program's: none of ours.
pub fn are_recorded() -> bool {
    RECORDED.load(Relaxed) && !private_stack::is_in_use() && !heap::is_under_way()
}

/// The return address of a function with these registers.
pub fn caller(function: &Registers) -> Option<Address> {
    called(None, || events::suspended(|| function.caller()))
}

/// Runs `call`, which gives an address, and records the mapping there. The parts of `replaced` have no mapping then, if
/// it does not fail.
pub fn mapped(
    length: Bytes,
    replaced: &[Mapping],
    function: &Registers,
    call: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    let held = held(replaced);
    let address = call();
    if address != libc::MAP_FAILED {
        called((), || {
            let Some(recording) = current() else { return };
            let mut held = held;
            if let Some(mappings) = &mut held {
                for part in replaced {
                    mappings.unmap(recording, part);
                }
            }
            let mapping = Mapping::new(address.addr(), length.0 as usize);
            let size = Bytes(mapping.0.len() as u64);
            events::drawn(size, function, |samples, callstack| {
                let id = recording.stream()?.block(callstack, size, samples, Source::External)?;
                let mut mappings = held.or_else(|| recording.mappings())?;
                let callstack = callstack.into();
                let sampled = Sampled { end: mapping.0.end, id, samples, callstack };
                mappings.sampled.insert(mapping.0.start, sampled);
                Some(())
            });
        });
    }
    address
}

/// Runs `call`, which unmaps a part, and gives 0 if it did.
pub fn unmapped(part: Mapping, call: impl FnOnce() -> c_int) -> c_int {
    let parts = [part];
    let held = held(&parts);
    let result = call();
    if result == 0
        && let Some(mut held) = held
    {
        called((), || {
            if let Some(recording) = current() {
                let [part] = &parts;
                events::suspended(|| held.unmap(recording, part));
            }
        });
    }
    result
}

/// The mappings, held while parts of sampled ones are unmapped: until then no other thread can note a new one in
/// their place.
fn held(parts: &[Mapping]) -> Option<LockGuard<'static, Mappings>> {
    if parts.iter().all(|part| part.0.is_empty()) {
        return None;
    }
    called(None, || {
        let mappings = current()?.mappings()?;
        parts.iter().any(|part| mappings.overlapping(part).next().is_some()).then_some(mappings)
    })
}

impl Mappings {
    pub(super) fn new(rate: Rate, seed: u64) -> Lock<Self> {
        Lock::new(Self { sampled: BTreeMap::new(), draws: Draws::new(rate, !seed) })
    }

    /// Where the mappings begin that overlap with a part.
    fn overlapping(&self, part: &Mapping) -> impl Iterator<Item = usize> {
        let start = part.0.start;
        let before = self.sampled.range(..part.0.end).rev();
        before.take_while(move |(_, found)| found.end > start).map(|(&start, _)| start)
    }

    /// A part has no mapping any more.
    fn unmap(&mut self, recording: &Recording, part: &Mapping) {
        let overlapping: Vec<usize> = self.overlapping(part).collect();
        for start in overlapping {
            let Some(found) = self.sampled.remove(&start) else { continue };
            let Some(mut stream) = recording.stream() else { continue };
            stream.collect(found.id);
            let (mut of, mut samples) = (found.end - start, found.samples);
            for left in [start..part.0.start.max(start), part.0.end.min(found.end)..found.end] {
                let size = Bytes(left.len() as u64);
                let own = self.draws.samples_of_part(samples, size, Bytes(of as u64));
                (of, samples) = (of - left.len(), Samples(samples.0 - own.0));
                let callstack = &found.callstack;
                if own.0 > 0
                    && let Some(id) = stream.block(callstack, size, own, Source::External)
                {
                    let (callstack, end) = (callstack.clone(), left.end);
                    self.sampled.insert(left.start, Sampled { end, id, samples: own, callstack });
                }
            }
        }
    }
}
