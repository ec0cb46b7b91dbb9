//! The runtime's sampler, started with callbacks that are native code in this library.
//!
//! The tracker, its closures and the rate are static data to the runtime; starting runs no OCaml
//! code, and no callback does. What a block is known by, its *key*, holds the block's id, the
//! domain in whose part of the trace it is, and whether it lies outside the heap.
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

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memtrail_ocaml::Family;
use memtrail_ocaml::block::{self, UNIT, Value, as_integer};
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::memprof::{Callback, Sample, Source as Cause, TRACKER_WOSIZE};
use memtrail_recording::session::Pace;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{BlockId, DomainId, Source, Words};

use crate::context::runtime::{CollectMulticore, CollectSingle};
use crate::os::ffi_guard::guarded;
use crate::os::patch;
use crate::recording::recorder::{self, Recorder, Target, active};
use crate::recording::stream::Origin;
use crate::sampling::callstack::{CaptureToken, FRAMES_ASKED_FOR, LOST};
use crate::sampling::rate::{self, Arguments, Drawn, Halvings, Kept, Statics};
use crate::sampling::seeding;
use crate::sampling::static_profile;
use crate::sampling::thread::{self, Thread};
use crate::sampling::trampoline;
use crate::sampling::value::{Closure, Float, Record};

/// Frames that the runtime is asked for when it captures callstacks itself.
const ALL_FRAMES: i64 = i32::MAX as i64;

/// The value that stands for the whole program.
static TARGET: OnceLock<&'static Target> = OnceLock::new();

/// The `AllocMinor` closure, by which a profile is known to be ours.
pub(crate) static OUR_PROFILE: OnceLock<u64> = OnceLock::new();

/// Decides who captures callstacks.
pub(crate) fn prepare(target: &'static Target) {
    let _ = TARGET.set(target);
    let incremental = !target.options.runtime_callstacks && redirect_capture(target);
    target.incremental.store(incremental, Relaxed);
}

/// Cleared while the program wants no samples.
static ON: AtomicBool = AtomicBool::new(true);

/// Whether samples are recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Lets samples be recorded, or not. The runtime's sampler goes on; blocks that were sampled before
/// are followed to their end.
pub(crate) fn switch(on: bool) {
    ON.store(on, Relaxed);
}

/// Starts sampling. Nothing may stand between this and the program's own first allocation.
pub(crate) fn start(target: &'static Target) {
    let runtime = &target.runtime;
    let incremental = target.incremental.load(Relaxed);
    let frames = if incremental { FRAMES_ASKED_FOR as i64 } else { ALL_FRAMES };

    let closures: &[Closure; TRACKER_WOSIZE as usize] =
        Box::leak(Box::new(Callback::ALL.map(|callback| {
            Closure::new(trampoline::of(runtime.version.family(), callback), runtime.version)
        })));
    let tracker = Box::leak(Box::new(Record::new(closures.each_ref().map(Closure::value))));
    let rate = Box::leak(Box::new(Float::new(target.options.rate)));
    let _ = OUR_PROFILE.set(closures[0].value());
    let (rate, frames, tracker) = (rate.value(), block::integer(frames), tracker.value());
    let changes = target.options.pace != Pace::Constant;
    let finds = changes && !target.options.decline_samples;
    let statics = finds.then(|| Statics::find(target, Arguments { frames, tracker })).flatten();
    // SAFETY: the types are the runtime's; called where allocation is allowed (before the program's
    // own code, after the runtime's set-up), with values that live for ever.
    let profile = unsafe {
        seeding::seed_main(target, rate, frames, tracker);
        (runtime.start)(rate, frames, tracker)
    };
    let profiles = match runtime.version.family() {
        Family::Multicore => static_profile::replace(target, profile, closures[0].value()),
        Family::Single => None,
    };
    rate::begin(target, statics, profiles);
}

fn redirect_capture(target: &Target) -> bool {
    let ours = match target.runtime.version.family() {
        Family::Single => collect_single as CollectSingle as *const _,
        Family::Multicore => collect_multicore as CollectMulticore as *const _,
    };
    patch::redirect(target.runtime.collect, ours).is_ok()
}

/// Stands in for OCaml 4's `caml_collect_current_callstack`.
unsafe extern "C" fn collect_single(
    slots: *mut *mut u64,
    capacity: *mut isize,
    most: isize,
    index: c_int,
) -> isize {
    if most as u64 == FRAMES_ASKED_FOR && rate::defers(index as isize) {
        return 0;
    }
    // SAFETY: called by the runtime with its buffer, as it would call its own function.
    unsafe {
        let mut buffer = Buffer { slots: *slots, capacity: *capacity as usize, length: 0 };
        let mut fill = || buffer.fill(most.max(0) as usize, index as isize, 1);
        guarded((), || if rate::is_thinned() { fill() } else { rate::metered(fill) });
        *slots = buffer.slots;
        *capacity = buffer.capacity as isize;
        buffer.length as isize
    }
}

/// Stands in for OCaml 5's `caml_get_callstack`.
unsafe extern "C" fn collect_multicore(
    most: usize,
    slots: *mut *mut u64,
    capacity: *mut usize,
    index: isize,
) -> usize {
    // SAFETY: as above.
    unsafe {
        let mut buffer = Buffer { slots: *slots, capacity: *capacity, length: 0 };
        guarded((), || rate::metered(|| buffer.fill(most, index, 0)));
        *slots = buffer.slots;
        *capacity = buffer.capacity;
        buffer.length
    }
}

/// The runtime's buffer for slots.
struct Buffer {
    slots: *mut u64,
    capacity: usize,
    length: usize,
}

impl Buffer {
    /// Fills the buffer with a receipt if we asked, with what the runtime would find if the program
    /// did. Slots get `tag` set: OCaml 4's buffer holds values, OCaml 5's pointers.
    fn fill(&mut self, most: usize, index: isize, tag: u64) {
        let Some(&target) = TARGET.get() else { return };
        if most as u64 == FRAMES_ASKED_FOR {
            if is_on() && active().is_some() {
                let thread = thread::current();
                let token = target.capturer.capture(&target.runtime, thread, index);
                for slot in token.slots(rate::drawn(target, index)) {
                    self.push(target, slot);
                }
            }
            return;
        }
        target.capturer.all_slots(&target.runtime, index, |slot| {
            self.length < most && self.push(target, slot | tag)
        });
    }

    fn push(&mut self, target: &Target, slot: u64) -> bool {
        if self.length == self.capacity {
            let capacity = (2 * self.capacity).max(32);
            let slots = target.runtime.stat_resize(self.slots, self.length, capacity);
            if slots.is_null() {
                return false;
            }
            (self.slots, self.capacity) = (slots, capacity);
        }
        // SAFETY: within the buffer's capacity.
        unsafe { self.slots.add(self.length).write(slot) };
        self.length += 1;
        true
    }
}

/// What the runtime keeps for us with each sampled block.
#[derive(Clone, Copy)]
struct Key {
    id: BlockId,
    domain: DomainId,
    epoch: u8,
    external: bool,
}

impl Key {
    fn value(self) -> Value {
        let bits = self.id.0 << 18
            | u64::from(self.domain.0 & 0x3ff) << 8
            | u64::from(self.epoch & 0x7f) << 1
            | u64::from(self.external);
        block::integer(bits as i64)
    }

    fn read(value: Value) -> Option<Self> {
        let bits = as_integer(value)? as u64 & (u64::MAX >> 1);
        Some(Self {
            id: BlockId(bits >> 18),
            domain: DomainId((bits >> 8) as u16 & 0x3ff),
            epoch: (bits >> 1) as u8 & 0x7f,
            external: bits & 1 == 1,
        })
    }

    /// The key, if its block belongs to this recording.
    fn of(recorder: &Recorder, value: Value) -> Option<Self> {
        Self::read(value).filter(|key| key.epoch == recorder.epoch & 0x7f)
    }
}

/// The id in the trace of the block whose key the sampler keeps, if it belongs to the recording of
/// this epoch.
pub(crate) fn id_of(key: Value, epoch: u8) -> Option<BlockId> {
    Key::read(key).filter(|key| key.epoch == epoch & 0x7f).map(|key| key.id)
}

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
        recorder::missed();
        return None;
    };
    let capturer = &recorder.target.capturer;
    let sample = Sample::read(&capturer.memory(), sample)?;
    let kept = rate::keep(sample.n_samples);
    if kept.samples == 0 {
        if deferred.is_none() {
            capturer.forgo(sample.callstack);
        }
        return None;
    }
    rate::metered(|| alloc(recorder, &sample, kept, deferred, state, heap))
}

fn alloc(
    recorder: &Recorder,
    sample: &Sample,
    kept: Kept,
    deferred: Option<isize>,
    state: u64,
    heap: Source,
) -> Option<Value> {
    let target = recorder.target;
    let domain = domain_of(target, target.capturer.memory(), state);
    recorder.look_at_minor_heap(state);
    let external = matches!(sample.source, Cause::Custom | Cause::Other);
    let event = AllocEvent {
        length: Words(sample.size),
        samples: kept.samples,
        source: if external { Source::External } else { heap },
    };
    let thread = thread::current();
    let taken = Taken { callstack: sample.callstack, deferred, kept };
    let (id, drawn) = write_alloc(recorder, thread, domain, state, &event, taken)?;
    if drawn.last {
        rate::adjust(target, state);
    }
    let key = Key { id, domain, epoch: recorder.epoch, external };
    Some(thread.some.of(key.value()))
}

/// What is known of a sampled block in its callback.
struct Taken {
    callstack: Value,
    /// Which it is of several allocated at once, if its callstack is to be captured now.
    deferred: Option<isize>,
    kept: Kept,
}

fn write_alloc(
    recorder: &Recorder,
    thread: &mut Thread,
    domain: DomainId,
    state: u64,
    event: &AllocEvent,
    Taken { callstack, deferred, kept }: Taken,
) -> Option<(BlockId, Drawn)> {
    let target = recorder.target;
    let Thread { captured, identity, .. } = &mut *thread;
    let thread_id = identity.thread_id;
    if !target.incremental.load(Relaxed) {
        target.capturer.codes_of(callstack, captured);
        let origin =
            Origin { thread_id, unchanged: None, expected: None, halvings: Halvings::default() };
        let mut part = recorder.to_write(recorder.stream(domain, state)?)?;
        let id = part.alloc(recorder, event, captured, origin, identity)?;
        return Some((id, Drawn::default()));
    }
    let (mut token, drawn) = CaptureToken::read(target.capturer.memory(), callstack);
    if let Some(index) = deferred {
        token = target.capturer.capture(&target.runtime, thread, index);
    }
    let stack = &thread.stack;
    let token = match token {
        CaptureToken::Pending { ticket }
            if target.capturer.is_current(ticket, thread_id, stack.version()) =>
        {
            CaptureToken::Current { version: stack.version(), top: None }
        }
        token => token,
    };
    let halvings = kept.halvings.unwrap_or(drawn.halvings);
    let id = write_received(recorder, thread, domain, state, event, token, halvings)?;
    Some((id, drawn))
}

/// Writes an allocation whose callstack we captured.
fn write_received(
    recorder: &Recorder,
    thread: &mut Thread,
    domain: DomainId,
    state: u64,
    event: &AllocEvent,
    token: CaptureToken,
    halvings: Halvings,
) -> Option<BlockId> {
    let target = recorder.target;
    let part = recorder.stream(domain, state)?;
    let Thread { stack, identity, expected, .. } = thread;
    let thread_id = identity.thread_id;
    let elsewhere = |thread_id, expected| Origin { thread_id, unchanged: None, expected, halvings };
    match token {
        CaptureToken::Pending { ticket } => {
            target.capturer.with_pending(ticket, |whose, codes, expected| {
                let origin = elsewhere(whose.unwrap_or(thread_id), expected);
                recorder.to_write(part)?.alloc(recorder, event, codes, origin, identity)
            })
        }
        CaptureToken::Current { version, top } if version == stack.version() => {
            let expected = expected.map(|e| top.map_or(e, |top| e.with_innermost(top)));
            let unchanged = stack.unchanged();
            let codes = stack.codes();
            let frames = codes.len();
            // An allocation of several blocks has one return address but many places: where it has
            // one, the innermost frame is not as it was seen.
            let unchanged = Some(unchanged.min(frames - usize::from(top.is_some() && frames > 0)));
            let origin = Origin { thread_id, unchanged, expected, halvings };
            let place = codes.last_mut().zip(top).map(|(last, top)| std::mem::replace(last, top));
            let id = recorder
                .to_write(part)
                .and_then(|mut part| part.alloc(recorder, event, codes, origin, identity));
            if let Some((place, last)) = place.zip(codes.last_mut()) {
                *last = place;
            }
            stack.mark_seen(frames - usize::from(place.is_some()));
            id
        }
        CaptureToken::Current { .. } | CaptureToken::Nothing => {
            let origin = elsewhere(thread_id, None);
            recorder.to_write(part)?.alloc(recorder, event, &LOST, origin, identity)
        }
    }
}

/// Writes memory outside the heap that the program reports, sampled `samples` times at a halved rate,
/// and gives the key it is known by. The program calls from its own code.
pub(crate) fn write_external(length: Words, samples: u64, halvings: Halvings) -> Option<Value> {
    let recorder = active().filter(|_| is_on())?;
    let target = recorder.target;
    let state = target.runtime.state();
    let domain = domain_of(target, target.capturer.memory(), state);
    let event = AllocEvent { length, samples, source: Source::External };
    let thread = thread::current();
    let token = target.capturer.capture_now(&target.runtime, thread);
    let id = write_received(recorder, thread, domain, state, &event, token, halvings)?;
    Some(Key { id, domain, epoch: recorder.epoch, external: true }.value())
}

/// The program freed the memory with this key.
pub(crate) fn collect_external(key: Value) {
    if let Some(recorder) = active()
        && let Some(known) = Key::of(recorder, key).filter(|known| known.external)
        && let Some(stream) = recorder.stream(known.domain, recorder.target.runtime.state())
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.collect(recorder, known.id);
    }
}

fn domain_of(target: &Target, memory: ThisProcess, state: u64) -> DomainId {
    let id = target.runtime.layout.multicore().and_then(|fields| memory.field(state, fields.id));
    DomainId(id.unwrap_or(0) as u16)
}

/// A sampled block of the minor heap survived; it stays tracked.
pub(crate) extern "C" fn promote(key: Value, state: u64) -> Value {
    guarded(UNIT, || rate::metered(|| promoted(key, state)))
}

fn promoted(key: Value, state: u64) -> Value {
    let Some(recorder) = active() else { return UNIT };
    let Some(known) = Key::of(recorder, key) else { return UNIT };
    // What lies outside the heap does not move when its handle does.
    if !known.external
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.promote(recorder, known.id);
    }
    thread::current().some.of(key)
}

/// A sampled block is gone.
pub(crate) extern "C" fn dealloc(key: Value, state: u64) -> Value {
    guarded(UNIT, || rate::metered(|| collected(key, state)))
}

fn collected(key: Value, state: u64) -> Value {
    let Some(recorder) = active() else { return UNIT };
    if let Some(known) = Key::of(recorder, key)
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.collect(recorder, known.id);
    }
    UNIT
}
