//! What is kept for the recording under way: its part of the trace, what is known of return addresses, its modules.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use memtrail_sampler::Allocation;
use memtrail_trace::malloc::native_address;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{BlockId, Code, Location, Source, Words, omitted};

use crate::context::target::Target;
use crate::malloc::frames::FrameCodes;
use crate::os::forked;
use crate::os::lock::Lock;
use crate::recording::hooks::UseLocations;
use crate::recording::modules::Modules;
use crate::recording::recorder::Recorder;
use crate::recording::stream::{Origin, Stream};
use crate::sampling::switch::is_on;
use crate::sampling::{symbolise, thread};

/// The state of a recording.
pub(super) struct State {
    recorder: &'static Recorder,
    stream: &'static Lock<Stream>,
    frames: Lock<FrameCodes>,
    modules: Lock<Modules>,
}

static STATE: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());

/// A recording has begun, that of this process or of a forked child.
pub(super) fn began(recorder: &'static Recorder) {
    let Some(stream) = recorder.malloc_stream() else { return };
    let files = &recorder.files;
    let mut modules = Modules::new();
    modules.begin(&files.folder, files.clock.now());
    let (frames, modules) = (Lock::new(FrameCodes::new()), Lock::new(modules));
    let state = State { recorder, stream, frames, modules };
    // In a forked child, that of its parent's recording.
    if let Some(mut modules) = installed().and_then(|state| state.modules.try_lock()) {
        modules.close();
    }
    STATE.store(Box::into_raw(Box::new(state)), Release);
}

fn installed() -> Option<&'static State> {
    // SAFETY: null, or a state that was leaked for the life of the process.
    unsafe { STATE.load(Acquire).as_ref() }
}

/// The state of this process's own recording, if that goes on. What a forked child allocates before it has one is left
/// out, and so is what a child of `vfork` does.
pub(super) fn current() -> Option<&'static State> {
    let state = installed()?;
    let goes_on = !state.recorder.files.stopped.load(Relaxed);
    (goes_on && forked::is_owner_itself()).then_some(state)
}

impl State {
    /// Tells the blocks of this recording from those of the process it was forked from.
    pub(super) fn epoch(&self) -> u8 {
        self.recorder.files.epoch
    }

    /// Writes a block, unless the program wants none, it is memory of OCaml's heap, or the agent itself is at work.
    pub(super) fn alloc(&self, allocation: &Allocation<'_>) -> Option<BlockId> {
        if !is_on() {
            return None;
        }
        let files = &self.recorder.files;
        let halvings = files.target.malloc?;
        let frames = allocation.callstack().frames();
        let ours = {
            let modules = self.modules.lock_unless_ending()?;
            frames.iter().take_while(|frame| modules.is_ours(frame.0 as u64)).count()
        };
        let frames = frames.get(ours..).unwrap_or_default();
        let words = allocation.size().0.div_ceil(8);
        let is_exact = halvings.of(files.target.options.rate) >= 1.0;
        let samples = if is_exact { words } else { allocation.n_samples().0 };
        let event = AllocEvent { length: Words(words), samples, source: Source::External };
        thread::with_current(|thread| {
            let mut known = self.frames.lock_unless_ending()?;
            let codes = known.of(files.target, frames)?;
            let thread_id = thread.thread_id();
            let origin = Origin { thread_id, unchanged: None, expected: None, halvings };
            let mut stream = self.recorder.to_write(self.stream)?;
            stream.alloc(files, &event, codes, origin, &mut thread.identity)
        })?
    }

    /// Writes that a block was freed.
    pub(super) fn collect(&self, id: BlockId) {
        if let Some(mut stream) = self.recorder.to_write(self.stream) {
            stream.collect(&self.recorder.files, id);
        }
    }
}

/// Gives the functions at a call site to a function, the caller first.
pub(super) fn with_locations(target: &Target, code: Code, use_it: UseLocations<'_>) {
    if let Some(location) = omitted::location(code) {
        return use_it(&[location]);
    }
    let Some(address) = native_address(code) else {
        return symbolise::with_unsettled(target, code, use_it);
    };
    let place = installed().and_then(|state| {
        let (folder, now) = (&state.recorder.files.folder, state.recorder.files.clock.now());
        // The call is before the address to which it returns.
        Some(state.modules.lock_unless_ending()?.place(folder, address.saturating_sub(1), now))
    });
    let (function, file) = place.unwrap_or_default();
    let (function, file) = (function.as_bytes(), file.as_bytes());
    use_it(&[Location { function, file, line: 0, start_col: 0, end_col: 0 }]);
}
