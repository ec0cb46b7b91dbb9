//! Callstacks of sampled allocations, as the runtime would capture them, at a fraction of the cost.
//!
//! The runtime captures a callstack by a function that it exports; a jump at its start makes it
//! arrive here instead (`Capturer::collect`), at the very moment of the allocation, also for
//! allocations whose callback it postpones. What the runtime then carries to the callback is not
//! the callstack but a two-word [`CaptureToken`].

mod cached;
mod check;
mod frames;
mod outermost;
mod pending;
mod segments;
mod shown;
mod site_cache;

use std::ffi::c_void;

use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::memprof::Slot;
use memtrail_ocaml::{Memory as _, symbols};
use memtrail_recording::Checked;
use memtrail_recording::session::Options;
use memtrail_trace::{Code, omitted};

pub(crate) use cached::CachedStack;
use check::Check;
pub(crate) use check::{Expected, WrittenCheck};
use frames::{Frames, Sizes, Step};
use pending::PendingStacks;
pub(crate) use site_cache::SiteCache;

use crate::context::runtime::{Runtime, symbol};
use crate::os::lock::Lock;
use crate::recording::threads::ThreadId;
use crate::sampling::rate::{Drawn, Halvings};
use crate::sampling::thread::Thread;

/// As many frames as the sampler is told to capture: a number that no program asks for by chance, and
/// that fits the `int` which OCaml 5 makes of it.
pub(crate) const FRAMES_ASKED_FOR: u64 = 0x6d74_7261;

/// Call sites are named by their return address, or for one of several blocks allocated at once by
/// the address of its debug information.
pub(crate) fn code_of_return_address(pc: u64) -> Code {
    Code(pc << 1)
}

fn code_of_debuginfo(at: u64) -> Code {
    Code(at << 1 | 1)
}

/// Stands for a callstack that is not known any more.
pub(crate) static LOST: [Code; 1] = [omitted::code(0)];

/// What the runtime carries from the capture to the callback.
#[derive(Clone, Copy)]
pub(crate) enum CaptureToken {
    /// The thread's callstack is still the one: its version, and the code of the innermost frame if
    /// it is a special one.
    Current { version: u64, top: Option<Code> },
    /// It is kept among the pending ones.
    Pending { ticket: u64 },
    /// There is none.
    Nothing,
}

const RECEIPT_WORDS: usize = 2;
/// Above a version or a ticket: how the sample was drawn.
const DRAWN: u32 = 54;

impl CaptureToken {
    /// As two slots of a callstack, tagged as integers, with how the sample was drawn.
    pub(crate) fn slots(self, drawn: Drawn) -> [Value; RECEIPT_WORDS] {
        let drawn = u64::from(drawn.halvings.0) << 1 | u64::from(drawn.last);
        let word = |n: u64| block::integer(n as i64);
        let [first, second] = match self {
            Self::Current { version, top } => [word(version << 1), word(top.map_or(0, |c| c.0))],
            Self::Pending { ticket } => [word(ticket << 1 | 1), word(0)],
            Self::Nothing => [word(0), word(0)],
        };
        [first | drawn << (DRAWN + 1), second]
    }

    /// Back from the callstack that an allocation callback is given.
    pub(crate) fn read(memory: ThisProcess, callstack: Value) -> (Self, Drawn) {
        let read = || {
            if callstack & 7 != 0 {
                return None;
            }
            let header = memory.u64(callstack.checked_sub(8)?)?;
            if block::tag_of(header) != 0 || block::wosize(header) != RECEIPT_WORDS as u64 {
                return None;
            }
            let first = as_integer(memory.u64(callstack)?)? as u64;
            let top = as_integer(memory.field(callstack, 8)?)? as u64;
            let (first, drawn) = (first & ((1 << DRAWN) - 1), first >> DRAWN);
            let halvings = Halvings((drawn >> 1 & 0xf) as u8);
            let drawn = Drawn { halvings, last: drawn & 1 == 1 };
            let token = match (first & 1, top) {
                (1, _) => Self::Pending { ticket: first >> 1 },
                (_, 0) => Self::Current { version: first >> 1, top: None },
                (_, top) => Self::Current { version: first >> 1, top: Some(Code(top)) },
            };
            Some((token, drawn))
        };
        read().unwrap_or((Self::Nothing, Drawn::default()))
    }
}

/// Captures callstacks for one runtime.
pub(crate) struct Capturer {
    memory: ThisProcess,
    table: Table,
    pending: Lock<PendingStacks>,
    check: Option<Lock<Check>>,
    /// The depth up to which callstacks are recorded as a whole.
    limit: usize,
}

enum Table {
    /// Addresses of the two variables.
    Single(u64, u64),
    /// Address of the structure.
    Multicore(u64),
}

impl Capturer {
    /// For the runtime of this process; `None` where its frame table cannot be found.
    pub(crate) fn new(runtime: &Runtime, options: &Options) -> Option<Self> {
        // SAFETY: everything read through it stems from the runtime, which holds still meanwhile.
        let memory = unsafe { ThisProcess::new() };
        let address = |name| Some(symbol(name) as u64).filter(|&a| a != 0);
        let table = match runtime.layout.state.family {
            FamilyState::Single(_) => Table::Single(
                address(symbols::callstack::DESCRIPTORS)?,
                address(symbols::callstack::DESCRIPTORS_MASK)?,
            ),
            FamilyState::Multicore(_) => {
                let get = symbol(symbols::callstack::GET_DESCRIPTORS);
                if get.is_null() {
                    return None;
                }
                // SAFETY: from 5.3 on the function has this type; earlier ones cannot sample.
                let table =
                    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(get)() };
                Table::Multicore(table)
            }
        };
        let check = options.check_callstacks.then(|| Lock::new(Check::default()));
        let limit = options.callstack_depth.max(omitted::MAX_FRAMES_LEFT as u32) as usize;
        let pending = Lock::new(PendingStacks::default());
        let capturer = Self { memory, table, pending, check, limit };
        capturer.table().map(|_| capturer)
    }

    /// What checking found, if callstacks are checked.
    pub(crate) fn checked(&self) -> Option<Checked> {
        self.check.as_ref().and_then(Lock::try_lock_for).map(|check| check.result)
    }

    /// Adds what was found in the trace.
    pub(crate) fn checked_written(&self, found: Checked) {
        if let Some(check) = &self.check {
            let result = &mut check.lock().result;
            result.written += found.written;
            result.different += found.different;
        }
    }

    pub(crate) fn memory(&self) -> ThisProcess {
        self.memory
    }

    /// The table moves when code is loaded.
    pub(crate) fn table(&self) -> Option<FrameTable> {
        match self.table {
            Table::Single(table, mask) => FrameTable::single(&self.memory, table, mask),
            Table::Multicore(table) => FrameTable::multicore(&self.memory, table),
        }
    }

    /// Captures the callstack of an allocation that is being sampled. `index` tells which of several
    /// blocks allocated at once; it is negative for allocations by C code, whose callback is
    /// postponed.
    pub(crate) fn capture(
        &self,
        runtime: &Runtime,
        thread: &mut Thread,
        index: isize,
    ) -> CaptureToken {
        let Some(frames) = self.refresh(runtime, thread) else { return CaptureToken::Nothing };
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
    pub(crate) fn capture_now(&self, runtime: &Runtime, thread: &mut Thread) -> CaptureToken {
        match self.refresh(runtime, thread) {
            Some(_) => CaptureToken::Current { version: thread.stack.version(), top: None },
            None => CaptureToken::Nothing,
        }
    }

    /// Brings the thread's callstack up to date.
    fn refresh<'a>(&self, runtime: &'a Runtime, thread: &mut Thread) -> Option<Frames<'a>> {
        let frames = Frames::new(self.memory, self.table()?, &runtime.layout);
        let running = frames.running(runtime.state());
        thread.stack.update(&frames, running, self.limit);
        if let Some(check) = &self.check {
            let expected = check.lock().walk(&frames, running, self.limit, &mut thread.stack);
            thread.expected = Some(expected);
        }
        Some(frames)
    }

    /// The code of the place of a block that is one of several allocated at once.
    fn place(&self, frames: &Frames, thread: &mut Thread, index: isize) -> Option<Code> {
        let pc = thread.stack.codes().last().map_or(0, |code| code.0 >> 1);
        let index = u8::try_from(index).ok()?;
        thread.site_cache.get(pc, index, || {
            let descriptor = frames.descriptor(pc)?;
            descriptor.debuginfo_of_allocation(&self.memory, index).map(code_of_debuginfo)
        })
    }

    /// Whether a pending callstack is still the one that a thread has.
    pub(crate) fn is_current(&self, ticket: u64, thread_id: ThreadId, version: u64) -> bool {
        let pending = self.pending.lock_unless_ending();
        pending.is_some_and(|mut pending| pending.is(ticket, thread_id, version))
    }

    /// Lets the callstack that an allocation callback is given go: the sample is declined.
    pub(crate) fn forgo(&self, callstack: Value) {
        if let (CaptureToken::Pending { ticket }, _) = CaptureToken::read(self.memory, callstack)
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
    pub(crate) fn all_slots(
        &self,
        runtime: &Runtime,
        index: isize,
        mut emit: impl FnMut(u64) -> bool,
    ) {
        // The program itself asks, for all frames that there are, and its answer is not kept.
        let Some(table) = self.table() else { return };
        let frames = Frames::new(self.memory, table, &runtime.layout);
        let sizes = &mut Sizes::default();
        let mut index = u8::try_from(index).ok();
        let mut next = frames.running(runtime.state());
        while let Some((segment, top)) = next {
            let (mut slot, mut pc) = (top.slot, top.pc);
            loop {
                match frames.step(sizes, segment.high, slot, pc) {
                    Step::Frame(older) => {
                        let Some(descriptor) = frames.descriptor(pc) else { return };
                        let place = index.take().and_then(|index| {
                            descriptor.debuginfo_of_allocation(&self.memory, index)
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
        let read = |at: u64| self.memory.u64(at).and_then(Slot::read);
        let Some(header) = callstack.checked_sub(8).and_then(|at| self.memory.u64(at)) else {
            return;
        };
        if callstack & 7 != 0 || block::tag_of(header) != 0 {
            return;
        }
        let length = block::wosize(header);
        if codes.try_reserve(length as usize).is_err() {
            return;
        }
        for index in (0..length).rev() {
            match read(callstack + 8 * index) {
                Some(Slot::Debuginfo(at)) => codes.push(code_of_debuginfo(at)),
                Some(Slot::Descriptor(at)) => {
                    let pc = self.memory.u64(at).unwrap_or(0);
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
