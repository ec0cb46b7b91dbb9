//! What the functions before those that map memory call.
//!
//! While sampled mappings are unmapped, their table is held: until it says so, no other thread notes a new mapping in their
//! place.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memtrail_sampler::{Address, Bytes, Registers, events};
use memtrail_trace::Source;

use crate::native::calls::called;
use crate::native::children::current;
use crate::native::current::Recording;
use crate::native::mappings::{Mapping, Mappings};
use crate::os::lock::LockGuard;
use crate::os::{heap, private_stack};

/// Whether mappings are recorded.
static RECORDED: AtomicBool = AtomicBool::new(false);

/// From now on mappings are recorded.
pub(super) fn record() {
    RECORDED.store(true, Relaxed);
}

/// Further mappings are not recorded.
pub(super) fn record_no_more() {
    RECORDED.store(false, Relaxed);
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
            if let Some(mappings) = &mut held
                && let Some(mut stream) = recording.stream()
            {
                for part in replaced {
                    mappings.unmap(&mut stream, part);
                }
            }
            let mapping = Mapping::new(address.addr(), length.0 as usize);
            let size = Bytes(mapping.0.len() as u64);
            events::drawn(size, function, |samples, callstack| {
                let mut stream = recording.stream()?;
                let kept = stream.keep(size, samples)?;
                let id = stream.block(callstack, size, kept, Source::External)?;
                drop(stream);
                let mut mappings = held.or_else(|| recording.mappings())?;
                mappings.note(&mapping, id, kept, callstack);
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
            if let Some(mut stream) = current().and_then(Recording::stream) {
                let [part] = &parts;
                events::suspended(|| held.unmap(&mut stream, part));
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
