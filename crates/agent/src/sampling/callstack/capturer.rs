//! Captures the callstack of the running thread, for allocations whose callback follows at once and for
//! those whose callback the runtime postpones.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{self, Value};
use memtrail_ocaml::memprof::Slot;
use memtrail_trace::{Code, omitted};

use super::check::Check;
use super::frames::{Frames, Sizes, Step};
use super::pending::PendingStacks;
use super::token::CaptureToken;
use crate::context::target::Target;
use crate::os::heap::may_fail;
use crate::os::lock::Lock;
use crate::recording::threads::ThreadId;
use crate::recording::written_check::Expected;
use crate::sampling::codes::{LOST, code_of_debuginfo, code_of_return_address};
use crate::sampling::thread::Thread;

/// Captures callstacks.
pub(crate) struct Capturer {
    pub(crate) target: &'static Target,
    pending: Lock<PendingStacks>,
    check: Option<Lock<Check>>,
    /// The depth up to which callstacks are recorded as a whole.
    limit: usize,
}

impl Capturer {
    /// For this process.
    pub(crate) fn new(target: &'static Target) -> Self {
        let check = target.checked.as_ref().map(|_| Lock::new(Check::default()));
        let limit = target.options.callstack_depth.max(omitted::MAX_FRAMES_LEFT as u32) as usize;
        Self { target, pending: Lock::new(PendingStacks::default()), check, limit }
    }

    /// Captures the callstack of an allocation that is being sampled. `index` tells which of several
    /// blocks allocated at once; it is negative for allocations by C code, whose callback is
    /// postponed.
    pub(crate) fn capture(&self, thread: &mut Thread, index: isize) -> CaptureToken {
        let Some(frames) = self.refresh(thread) else { return CaptureToken::Nothing };
        let version = thread.stack.version();
        if index < 0 {
            let (thread_id, expected) = (thread.thread_id(), thread.expected);
            let pending = self.pending.lock_unless_ending();
            let ticket = pending.and_then(|mut pending| {
                pending.keep(thread.stack.codes(), thread_id, version, expected)
            });
            return ticket.map_or(CaptureToken::Nothing, |ticket| CaptureToken::Pending { ticket });
        }
        CaptureToken::Current { version, top: self.place(&frames, thread, index) }
    }

    /// Captures the callstack of a call into this library.
    pub(crate) fn capture_now(&self, thread: &mut Thread) -> CaptureToken {
        match self.refresh(thread) {
            Some(_) => CaptureToken::Current { version: thread.stack.version(), top: None },
            None => CaptureToken::Nothing,
        }
    }

    /// Brings the thread's callstack up to date.
    fn refresh(&self, thread: &mut Thread) -> Option<Frames<'static>> {
        let target = self.target;
        let frames = Frames::new(target.memory, target.frame_table()?, &target.runtime.layout);
        let running = frames.running(target.runtime.state());
        thread.stack.update(&frames, running, self.limit);
        if let Some(check) = &self.check
            && let Some(result) = &target.checked
        {
            let (mut check, mut result) = (check.lock(), result.lock());
            let found = &mut thread.stack;
            thread.expected = Some(check.walk(&frames, running, self.limit, found, &mut result));
        }
        Some(frames)
    }

    /// The code of the place of a block that is one of several allocated at once.
    fn place(&self, frames: &Frames, thread: &mut Thread, index: isize) -> Option<Code> {
        let pc = thread.stack.codes().last().map_or(0, |code| code.0 >> 1);
        let index = u8::try_from(index).ok()?;
        thread.site_cache.get(pc, index, || {
            let descriptor = frames.descriptor(pc)?;
            descriptor.debuginfo_of_allocation(&self.target.memory, index).map(code_of_debuginfo)
        })
    }

    /// Whether a pending callstack is still the one that a thread has.
    pub(crate) fn is_current(&self, ticket: u64, thread_id: ThreadId, version: u64) -> bool {
        let pending = self.pending.lock_unless_ending();
        pending.is_some_and(|mut pending| pending.is(ticket, thread_id, version))
    }

    /// Lets the callstack that an allocation callback is given go: the sample is declined.
    pub(crate) fn forgo(&self, callstack: Value) {
        if let (CaptureToken::Pending { ticket }, _) =
            CaptureToken::read(self.target.memory, callstack)
            && let Some(mut pending) = self.pending.lock_unless_ending()
        {
            pending.asked_for(ticket);
        }
    }

    /// Gives a pending callstack, and whose it is, to `use_it`.
    pub(crate) fn with_pending<T>(
        &self,
        ticket: u64,
        use_it: impl FnOnce(Option<ThreadId>, &[Code], Option<Expected>) -> T,
    ) -> T {
        let mut pending = self.pending.lock_unless_ending();
        match pending.as_mut().and_then(|pending| pending.get(ticket)) {
            Some((thread, stack, expected)) => use_it(Some(thread), stack, expected),
            None => use_it(None, &LOST, None),
        }
    }

    /// What the runtime's own function would have captured: the innermost frame first, as slots.
    /// Calls `emit` with each, until it returns false.
    pub(crate) fn all_slots(&self, index: isize, mut emit: impl FnMut(u64) -> bool) {
        // The program itself asks, for all frames that there are, and its answer is not kept.
        let target = self.target;
        let Some(table) = target.frame_table() else { return };
        let frames = Frames::new(target.memory, table, &target.runtime.layout);
        let sizes = &mut Sizes::default();
        let mut index = u8::try_from(index).ok();
        let mut next = frames.running(target.runtime.state());
        while let Some((segment, top)) = next {
            let (mut slot, mut pc) = (top.slot, top.pc);
            loop {
                match frames.step(sizes, segment.high, slot, pc) {
                    Step::Frame(older) => {
                        let Some(descriptor) = frames.descriptor(pc) else { return };
                        let place = index.take().and_then(|index| {
                            descriptor.debuginfo_of_allocation(&self.target.memory, index)
                        });
                        if !emit(place.map_or(descriptor.at, |at| at | 2)) {
                            return;
                        }
                        (slot, pc) = older;
                    }
                    Step::Link(older) => (slot, pc) = older,
                    Step::Last | Step::Unknown => break,
                }
            }
            next = frames.parent(&segment);
        }
    }

    /// The codes of a callstack that the runtime captured itself, the outermost frame first.
    pub(crate) fn codes_of(&self, callstack: Value, codes: &mut Vec<Code>) {
        codes.clear();
        let read = |at: u64| self.target.memory.u64(at).and_then(Slot::read);
        let Some(header) = callstack.checked_sub(8).and_then(|at| self.target.memory.u64(at))
        else {
            return;
        };
        if callstack & 7 != 0 || block::tag_of(header) != 0 {
            return;
        }
        let length = block::wosize(header);
        if may_fail(|| codes.try_reserve(length as usize)).is_err() {
            return;
        }
        for index in (0..length).rev() {
            match read(callstack + 8 * index) {
                Some(Slot::Debuginfo(at)) => codes.push(code_of_debuginfo(at)),
                Some(Slot::Descriptor(at)) => {
                    let pc = self.target.memory.u64(at).unwrap_or(0);
                    codes.push(code_of_return_address(pc));
                }
                None => {
                    codes.clear();
                    return;
                }
            }
        }
        if codes.len() > self.limit {
            omitted::shorten(codes);
        }
    }
}
