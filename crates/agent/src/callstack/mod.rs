//! Callstacks of sampled allocations, as the runtime would capture them, at a fraction of the cost.
//!
//! The runtime captures a callstack by a function that it exports; a jump at its start makes it
//! arrive here instead ([`Capturer::collect`]), at the very moment of the allocation, also for
//! allocations whose callback it postpones. What the runtime then carries to the callback is not
//! the callstack but a two-word [`Receipt`].

mod cached;
mod frames;
mod pending;
mod places;

use std::ffi::c_void;

use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::memprof::Slot;
use memtrail_ocaml::{Memory as _, symbols};
use memtrail_recording::Checked;
use memtrail_trace::Code;

pub(crate) use cached::CachedStack;
use cached::{Piece, Top};
use frames::Frames;
use pending::PendingStacks;
pub(crate) use places::Places;

use crate::lock::Lock;
use crate::program;
use crate::runtime::{Runtime, symbol};
use crate::thread::Thread;
use crate::threads::Author;

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

/// What the runtime carries from the capture to the callback.
#[derive(Clone, Copy)]
pub(crate) enum Receipt {
    /// The thread's callstack is still the one: its version, and the code of the innermost frame if
    /// it is a special one.
    Current { version: u64, top: Option<Code> },
    /// It is kept among the pending ones.
    Pending { ticket: u64 },
    /// There is none.
    Nothing,
}

const RECEIPT_WORDS: usize = 2;

impl Receipt {
    /// As two slots of a callstack, tagged as integers.
    pub(crate) fn slots(self) -> [Value; RECEIPT_WORDS] {
        let word = |n: u64| block::integer(n as i64);
        match self {
            Self::Current { version, top } => [word(version << 1), word(top.map_or(0, |c| c.0))],
            Self::Pending { ticket } => [word(ticket << 1 | 1), word(0)],
            Self::Nothing => [word(0), word(0)],
        }
    }

    /// Back from the callstack that an allocation callback is given.
    pub(crate) fn read(memory: ThisProcess, callstack: Value) -> Self {
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
            Some(match (first & 1, top) {
                (1, _) => Self::Pending { ticket: first >> 1 },
                (_, 0) => Self::Current { version: first >> 1, top: None },
                (_, top) => Self::Current { version: first >> 1, top: Some(Code(top)) },
            })
        };
        read().unwrap_or(Self::Nothing)
    }
}

/// Captures callstacks for one runtime.
pub(crate) struct Capturer {
    memory: ThisProcess,
    table: Table,
    pending: Lock<PendingStacks>,
    check: Option<Lock<Check>>,
}

/// The slow oracle: a stack walked from scratch beside the incremental one.
#[derive(Default)]
struct Check {
    stack: CachedStack,
    result: Checked,
}

enum Table {
    /// Addresses of the two variables.
    Single(u64, u64),
    /// Address of the structure.
    Multicore(u64),
}

impl Capturer {
    /// For the runtime of this process; `None` where its frame table cannot be found.
    pub(crate) fn new(runtime: &Runtime, check: bool) -> Option<Self> {
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
        let check = check.then(|| Lock::new(Check::default()));
        let capturer = Self { memory, table, pending: Lock::new(PendingStacks::new()), check };
        capturer.table().map(|_| capturer)
    }

    /// What checking found, if callstacks are checked.
    pub(crate) fn checked(&self) -> Option<Checked> {
        self.check.as_ref().and_then(Lock::lock_soon).map(|check| check.result)
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
    pub(crate) fn capture(&self, runtime: &Runtime, thread: &mut Thread, index: isize) -> Receipt {
        let Some(frames) = self.refresh(runtime, thread) else { return Receipt::Nothing };
        let version = thread.stack.version();
        if index < 0 {
            let author = thread.author();
            let ticket = self.pending.lock().keep(thread.stack.codes(), author, version);
            return ticket.map_or(Receipt::Nothing, |ticket| Receipt::Pending { ticket });
        }
        Receipt::Current { version, top: self.place(&frames, thread, index) }
    }

    /// Captures the callstack of a call into this library.
    pub(crate) fn capture_now(&self, runtime: &Runtime, thread: &mut Thread) -> Receipt {
        match self.refresh(runtime, thread) {
            Some(_) => Receipt::Current { version: thread.stack.version(), top: None },
            None => Receipt::Nothing,
        }
    }

    /// Brings the thread's callstack up to date.
    fn refresh<'a>(&self, runtime: &'a Runtime, thread: &mut Thread) -> Option<Frames<'a>> {
        let frames = Frames::new(self.memory, self.table()?, &runtime.layout);
        let state = runtime.state();
        thread.stack.begin();
        self.walk(&frames, runtime, state, &mut thread.stack);
        thread.stack.end(self.memory);
        if let Some(check) = &self.check {
            let mut check = check.lock();
            check.stack.forget();
            check.stack.begin();
            self.walk(&frames, runtime, state, &mut check.stack);
            check.stack.end(self.memory);
            check.result.stacks += 1;
            check.result.different += u64::from(!check.stack.same_as(&thread.stack));
        }
        Some(frames)
    }

    /// The code of the place of a block that is one of several allocated at once.
    fn place(&self, frames: &Frames, thread: &mut Thread, index: isize) -> Option<Code> {
        let pc = thread.stack.codes().last().map_or(0, |code| code.0 >> 1);
        let index = u8::try_from(index).ok()?;
        thread.places.get(pc, index, || {
            let descriptor = frames.descriptor(pc)?;
            descriptor.debuginfo_of_allocation(&self.memory, index).map(code_of_debuginfo)
        })
    }

    fn walk(&self, frames: &Frames, runtime: &Runtime, state: u64, stack: &mut CachedStack) {
        let field = |offset| self.memory.field(state, offset).unwrap_or(0);
        match runtime.layout.state.family {
            FamilyState::Single(single) => {
                let sp = field(single.bottom_of_stack);
                let pc = field(single.last_return_address);
                if sp != 0 {
                    let whole = Piece { stack: 0, id: 0, high: u64::MAX };
                    stack.walk(frames, whole, Top { sp, pc });
                }
            }
            FamilyState::Multicore(multicore) => {
                self.walk_fibers(frames, runtime, field(multicore.current_stack), stack);
            }
        }
    }

    /// From the main fiber to the running one.
    fn walk_fibers(
        &self,
        frames: &Frames,
        runtime: &Runtime,
        current: u64,
        stack: &mut CachedStack,
    ) {
        let memtrail_ocaml::layout::Stack::Multicore(fiber) = runtime.layout.stack else { return };
        let mut chain = stack.take_chain();
        let mut next = current;
        while next != 0 {
            let read = || {
                let high = self.memory.field(next, fiber.handler)?;
                let sp = self.memory.field(next, fiber.sp)?.checked_add(fiber.first_frame)?;
                let pc = self.memory.u64(sp.checked_sub(8)?)?;
                let id = self.memory.field(next, fiber.id)?;
                let parent = self.memory.field(high, fiber.handler_parent)?;
                Some((Piece { stack: next, id, high }, Top { sp, pc }, parent))
            };
            let Some((piece, top, parent)) = read() else { break };
            if chain.try_reserve(1).is_err() {
                break;
            }
            chain.push((piece, top));
            next = parent;
        }
        for &(piece, top) in chain.iter().rev() {
            if !stack.walk(frames, piece, top) {
                break;
            }
        }
        stack.give_chain_back(chain);
    }

    /// Whether a pending callstack is still the one that a thread has.
    pub(crate) fn is_current(&self, ticket: u64, author: Author, version: u64) -> bool {
        self.pending.lock().is(ticket, author, version)
    }

    /// Gives a pending callstack, and whose it is, to `use_it`.
    pub(crate) fn with_pending<T>(
        &self,
        ticket: u64,
        use_it: impl FnOnce(Option<Author>, &[Code]) -> T,
    ) -> T {
        let pending = self.pending.lock();
        match pending.get(ticket) {
            Some((thread, stack)) => use_it(Some(thread), stack),
            None => use_it(None, &[]),
        }
    }

    /// What the runtime's own function would have captured: the innermost frame first, as slots.
    /// Calls `emit` with each, until it returns false.
    pub(crate) fn all_slots(
        &self,
        runtime: &Runtime,
        thread: &mut Thread,
        index: isize,
        mut emit: impl FnMut(u64) -> bool,
    ) {
        // Nothing is kept for later: the program itself asks, and gets its answer now.
        let Some(frames) = self.refresh(runtime, thread) else { return };
        let mut top = self.place(&frames, thread, index).map(|code| code.0 >> 1 | 2);
        for code in thread.stack.codes().iter().rev() {
            let at = || Some(frames.descriptor(program::return_address_of(*code))?.at);
            let slot = top.take().or_else(at);
            if !slot.is_some_and(&mut emit) {
                return;
            }
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
    }
}
