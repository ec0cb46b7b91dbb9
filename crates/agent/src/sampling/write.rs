//! Writes sampled blocks into the trace, with their callstacks.

use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::Value;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{BlockId, DomainId, Source, Words};

use crate::context::halvings::Halvings;
use crate::context::target::Target;
use crate::recording::active::active;
use crate::recording::recorder::Recorder;
use crate::recording::stream::Origin;
use crate::sampling::callstack::token::CaptureToken;
use crate::sampling::codes::LOST;
use crate::sampling::drawn::Drawn;
use crate::sampling::key::Key;
use crate::sampling::rate::Kept;
use crate::sampling::state::{Sampling, sampling};
use crate::sampling::switch::is_on;
use crate::sampling::thread::{self, Thread};

/// Which recording a sample is written to, and which domain's part of it.
pub(crate) struct Destination<'a> {
    pub(crate) sampling: &'a Sampling,
    pub(crate) recorder: &'a Recorder,
    pub(crate) domain: DomainId,
    /// Address of the domain's state.
    pub(crate) state: u64,
}

/// What is known of a sampled block in its callback.
pub(crate) struct Taken {
    pub(crate) callstack: Value,
    /// Which it is of several allocated at once, if its callstack is to be captured now.
    pub(crate) deferred: Option<isize>,
    pub(crate) kept: Kept,
}

pub(crate) fn write_alloc(
    to: &Destination<'_>,
    thread: &mut Thread,
    event: &AllocEvent,
    Taken { callstack, deferred, kept }: Taken,
) -> Option<(BlockId, Drawn)> {
    let &Destination { sampling, recorder, domain, state } = to;
    let (target, capturer) = (sampling.target, &sampling.capturer);
    let Thread { captured, identity, .. } = &mut *thread;
    let thread_id = identity.thread_id;
    if !target.incremental.load(Relaxed) {
        capturer.codes_of(callstack, captured);
        let origin =
            Origin { thread_id, unchanged: None, expected: None, halvings: Halvings::default() };
        let mut part = recorder.to_write(recorder.stream(domain, state)?)?;
        let id = part.alloc(&recorder.files, event, captured, origin, identity)?;
        return Some((id, Drawn::default()));
    }
    let (mut token, drawn) = CaptureToken::read(target.memory, callstack);
    if let Some(index) = deferred {
        token = capturer.capture(thread, index);
    }
    let stack = &thread.stack;
    let token = match token {
        CaptureToken::Pending { ticket }
            if capturer.is_current(ticket, thread_id, stack.version()) =>
        {
            CaptureToken::Current { version: stack.version(), top: None }
        }
        token => token,
    };
    let halvings = kept.halvings.unwrap_or(drawn.halvings);
    let id = write_received(to, thread, event, token, halvings)?;
    Some((id, drawn))
}

/// Gives this thread's state to `work`; counts a sample as missed that comes while it is in use.
#[inline]
pub(crate) fn with_thread<T>(
    recorder: &Recorder,
    work: impl FnOnce(&mut Thread) -> T,
) -> Option<T> {
    let done = thread::with_current(work);
    if done.is_none() {
        recorder.files.missed.fetch_add(1, Relaxed);
    }
    done
}

/// Writes an allocation whose callstack we captured.
fn write_received(
    to: &Destination<'_>,
    thread: &mut Thread,
    event: &AllocEvent,
    token: CaptureToken,
    halvings: Halvings,
) -> Option<BlockId> {
    let &Destination { sampling, recorder, domain, state } = to;
    let capturer = &sampling.capturer;
    let part = recorder.stream(domain, state)?;
    let Thread { stack, identity, expected, .. } = thread;
    let thread_id = identity.thread_id;
    let elsewhere = |thread_id, expected| Origin { thread_id, unchanged: None, expected, halvings };
    match token {
        CaptureToken::Pending { ticket } => {
            capturer.with_pending(ticket, |whose, codes, expected| {
                let origin = elsewhere(whose.unwrap_or(thread_id), expected);
                recorder.to_write(part)?.alloc(&recorder.files, event, codes, origin, identity)
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
                .and_then(|mut part| part.alloc(&recorder.files, event, codes, origin, identity));
            if let Some((place, last)) = place.zip(codes.last_mut()) {
                *last = place;
            }
            stack.mark_seen(frames - usize::from(place.is_some()));
            id
        }
        CaptureToken::Current { .. } | CaptureToken::Nothing => {
            let origin = elsewhere(thread_id, None);
            recorder.to_write(part)?.alloc(&recorder.files, event, &LOST, origin, identity)
        }
    }
}

/// Writes memory outside the heap that the program reports, sampled `samples` times at a halved rate,
/// and gives the key it is known by. The program calls from its own code.
pub(crate) fn write_external(length: Words, samples: u64, halvings: Halvings) -> Option<Value> {
    let event = AllocEvent { length, samples, source: Source::External };
    write_sampled(&event, halvings, None)
}

/// Writes a block that is being allocated, or was just now, and gives the key it is known by. `index` tells
/// which of several blocks it is that OCaml code allocates at once.
pub(crate) fn write_sampled(
    event: &AllocEvent,
    halvings: Halvings,
    index: Option<isize>,
) -> Option<Value> {
    let recorder = active().filter(|_| is_on())?;
    let sampling = sampling()?;
    let (target, capturer) = (sampling.target, &sampling.capturer);
    let external = matches!(event.source, Source::External);
    if external && target.malloc.is_some() {
        // The memory itself comes from `malloc`.
        return None;
    }
    let state = target.runtime.state();
    let domain = domain_of(target, state);
    recorder.look_at_minor_heap(state);
    let to = Destination { sampling, recorder, domain, state };
    let id = with_thread(recorder, |thread| {
        let token = match index {
            Some(index) => capturer.capture(thread, index),
            None => capturer.capture_now(thread),
        };
        write_received(&to, thread, event, token, halvings)
    })??;
    Some(Key { id, domain, epoch: recorder.files.epoch, external }.value())
}

/// The program freed the memory with this key.
pub(crate) fn collect_external(key: Value) {
    if let Some(recorder) = active()
        && let Some(known) = Key::of(&recorder.files, key).filter(|known| known.external)
        && let Some(stream) = recorder.stream(known.domain, recorder.files.target.runtime.state())
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.collect(&recorder.files, known.id);
    }
}

/// The number of the domain whose state is at `state`.
pub(crate) fn domain_of(target: &Target, state: u64) -> DomainId {
    let id =
        target.runtime.layout.multicore().and_then(|fields| target.memory.field(state, fields.id));
    DomainId(id.unwrap_or(0) as u16)
}
