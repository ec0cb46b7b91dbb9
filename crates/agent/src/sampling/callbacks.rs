//! The callbacks of the runtime's sampler: native code in this library, as no OCaml code may run.
//!
//! # Faults of 5.3's sampler
//!
//! - ocaml/ocaml#14287: the callstack of a block that C code allocated is copied to the heap just before
//!   its callback. If the block is not young, and the 4 words of the sample's record make the minor heap
//!   be collected, the record points to where the callstack was. What stands there is believed only if
//!   it reads as a receipt of a callstack that is kept; otherwise the callstack counts as lost. Nothing
//!   is collected while the callback runs, as it allocates nothing and polls for nothing, and the record
//!   is dead when it returns. What remains: on a fiber, the runtime allocates a continuation between the
//!   two. If another domain asked for a collection in between, that would follow the pointer. This has
//!   not been seen, and is not excluded.
//! - ocaml/ocaml#14340: crashes were reported of callbacks in OCaml that take callstacks apart. They
//!   allocate while the record is in use; ours run no OCaml code and allocate nothing.
//! - ocaml/ocaml#14337: a continuation that is promoted while a callback runs on a fiber may be walked
//!   after it was dropped. No collection runs during ours, so it is never promoted.

use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::memprof::{Sample, Source as Cause};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Source, Words};

use crate::os::ffi_guard::guarded;
use crate::recording::active::active;
use crate::recording::installed;
use crate::recording::recorder::Recorder;
use crate::sampling::key::Key;
use crate::sampling::rate::{self, Kept};
use crate::sampling::state::{Sampling, sampling};
use crate::sampling::switch::is_on;
use crate::sampling::thread;
use crate::sampling::write::{Destination, Taken, domain_of, with_thread, write_alloc};

/// A block was sampled. `state` is the runtime's state of the domain.
pub(crate) extern "C" fn alloc_minor(sample: Value, state: u64) -> Value {
    guarded(UNIT, || sampled(sample, state, Source::Minor).unwrap_or(UNIT))
}

/// The same in the major heap.
pub(crate) extern "C" fn alloc_major(sample: Value, state: u64) -> Value {
    guarded(UNIT, || sampled(sample, state, Source::Major).unwrap_or(UNIT))
}

fn sampled(sample: Value, state: u64, heap: Source) -> Option<Value> {
    let deferred = rate::take_deferred();
    let Some(recorder) = active().filter(|_| is_on()) else {
        installed::missed();
        return None;
    };
    let sampling = sampling()?;
    let sample = Sample::read(&sampling.target.memory, sample)?;
    let kept = rate::keep(sample.n_samples);
    // The memory itself comes from `malloc`.
    let is_counted = is_external(&sample) && sampling.target.malloc.is_some();
    if kept.samples == 0 || is_counted {
        if deferred.is_none() {
            sampling.capturer.forgo(sample.callstack);
        }
        return None;
    }
    rate::metered(|| alloc(sampling, recorder, &sample, kept, deferred, state, heap))
}

fn alloc(
    sampling: &Sampling,
    recorder: &Recorder,
    sample: &Sample,
    kept: Kept,
    deferred: Option<isize>,
    state: u64,
    heap: Source,
) -> Option<Value> {
    let target = sampling.target;
    let domain = domain_of(target, state);
    recorder.look_at_minor_heap(state);
    let external = is_external(sample);
    let event = AllocEvent {
        length: Words(sample.size),
        samples: kept.samples,
        source: if external { Source::External } else { heap },
    };
    let taken = Taken { callstack: sample.callstack, deferred, kept };
    let to = Destination { sampling, recorder, domain, state };
    with_thread(recorder, |thread| {
        let (id, drawn) = write_alloc(&to, thread, &event, taken)?;
        if drawn.last {
            // SAFETY: the runtime gave its callback this state.
            unsafe { rate::adjust(target, state) };
        }
        let key = Key { id, domain, epoch: recorder.files.epoch, external };
        Some(thread.some.of(key.value()))
    })?
}

fn is_external(sample: &Sample) -> bool {
    matches!(sample.source, Cause::Custom | Cause::Other)
}

/// A sampled block of the minor heap survived; it stays tracked.
pub(crate) extern "C" fn promote(key: Value, state: u64) -> Value {
    guarded(UNIT, || rate::metered(|| promoted(key, state)))
}

fn promoted(key: Value, state: u64) -> Value {
    let Some(recorder) = active() else { return UNIT };
    let Some(known) = Key::of(&recorder.files, key) else { return UNIT };
    // What lies outside the heap does not move when its handle does.
    if !known.external
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.promote(&recorder.files, known.id);
    }
    thread::with_current(|thread| thread.some.of(key)).unwrap_or(UNIT)
}

/// A sampled block is gone.
pub(crate) extern "C" fn dealloc(key: Value, state: u64) -> Value {
    guarded(UNIT, || rate::metered(|| collected(key, state)))
}

fn collected(key: Value, state: u64) -> Value {
    let Some(recorder) = active() else { return UNIT };
    if let Some(known) = Key::of(&recorder.files, key)
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.collect(&recorder.files, known.id);
    }
    UNIT
}
