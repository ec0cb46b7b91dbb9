//! Activity of threads when a process was stopped: it decides whether the runtime had saved their roots.
//!
//! OCaml code keeps values in registers, and the runtime saves its stack pointer and the end of the minor heap only where it
//! calls C that may allocate. C code that is called without that (`[@@noalloc]`) leaves all three as they were at an earlier
//! call. The return addresses on the stack tell both kinds of calls apart.

use std::ops::Range;

use memtrail_ocaml::heap::{Extent, statics};
use memtrail_ocaml::symbols::{heap as names, state};
use memtrail_ocaml::{Address, Layout, Memory};

use super::executable::Executable;
use super::notes::Thread;

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// It waited in a system call, or did not work for a domain: all its roots are saved.
    Waits,
    /// It ran C code that OCaml code had called. Its roots are saved, but a block may be half written.
    SavedC,
    /// It ran OCaml code.
    Ocaml,
    /// It interpreted bytecode, or ran C code that the interpreter had called.
    Interprets,
    /// It ran C code, and its roots are in registers and on its stack.
    UnsavedC,
}

impl Activity {
    /// True if values may be in registers alone.
    pub(super) fn is_unsaved(self) -> bool {
        matches!(self, Self::Ocaml | Self::UnsavedC | Self::Interprets)
    }
}

/// Stack pointer and return address that were saved where OCaml code called C.
pub(super) type SavedCall = (Address, Address);

/// The facts by which activities are told.
pub(super) struct Activities<'a, M> {
    memory: &'a M,
    executable: &'a Executable<'a>,
    layout: &'a Layout,
    interprets: bool,
    /// Code of units, by address; neighbours are one.
    code: Vec<Range<Address>>,
    /// Calls of C that are under way in OCaml 4.
    saved: Vec<SavedCall>,
}

/// Stack that is searched, in bytes.
const SEARCHED: u64 = 1 << 20;
/// System calls that `malloc` and the runtime make while they change the heap: mmap, mprotect, munmap, brk, `sched_yield`,
/// mremap, madvise.
const CALLS_FOR_MEMORY: [u64; 7] = [9, 10, 11, 12, 24, 25, 28];

impl<'a, M: Memory> Activities<'a, M> {
    /// `saved` are the calls of threads that wait for OCaml 4's lock.
    pub(super) fn new(
        memory: &'a M,
        executable: &'a Executable<'a>,
        layout: &'a Layout,
        interprets: bool,
        mut saved: Vec<SavedCall>,
    ) -> Self {
        let code = executable.address(names::CODE_SEGMENTS);
        let code = code.map_or_else(Vec::new, |at| merged(statics::segments(memory, at).collect()));
        if let Some(fields) = layout.single()
            && let Some(state) = single_state(memory, executable)
        {
            let field = |offset| memory.field(state, offset).unwrap_or(0);
            saved.push((field(fields.bottom_of_stack), field(fields.last_return_address)));
        }
        Self { memory, executable, layout, interprets, code, saved }
    }

    pub(super) fn of(&self, thread: &Thread) -> Activity {
        let state = match self.layout.multicore() {
            None => single_state(self.memory, self.executable),
            Some(_) => self
                .executable
                .of_thread(state::MULTICORE, thread.thread_pointer())
                .and_then(|variable| self.memory.u64(variable)),
        };
        let Some(state) = state.filter(|&state| state != 0) else { return Activity::Waits };
        let instruction = thread.instruction();
        if self.is_ocaml(instruction) {
            return Activity::Ocaml;
        }
        if self.is_system_code(instruction) {
            return Activity::UnsavedC;
        }
        let is_call = thread.system_call().is_some_and(|call| !CALLS_FOR_MEMORY.contains(&call));
        if self.interprets {
            return if is_call { Activity::Waits } else { Activity::Interprets };
        }
        if let Some(fields) = self.layout.multicore() {
            let return_address = self
                .memory
                .field(state, fields.c_stack)
                .and_then(|stack| self.memory.u64(stack.checked_sub(8)?));
            return match return_address {
                Some(address) if self.is_ocaml(address) => Activity::UnsavedC,
                _ if is_call => Activity::Waits,
                _ => Activity::SavedC,
            };
        }
        if is_call {
            return Activity::Waits;
        }
        match self.call_of_ocaml(thread) {
            // Threads of C libraries.
            None => Activity::Waits,
            Some((at, address)) if self.saved.contains(&(at + 8, address)) => Activity::SavedC,
            Some(_) => Activity::UnsavedC,
        }
    }

    /// True if a thread runs OCaml code, and no C code.
    pub(super) fn is_in_ocaml(&self, thread: &Thread) -> bool {
        let instruction = thread.instruction();
        self.is_ocaml(instruction) && !self.is_system_code(instruction)
    }

    /// OCaml 4: true if a thread of C code moves blocks.
    pub(super) fn moves_blocks(&self, thread: &Thread) -> bool {
        let functions: Vec<(Address, u64)> =
            names::MOVE_BLOCKS.iter().filter_map(|name| self.executable.function(name)).collect();
        let is_in = |at: Address| {
            functions.iter().any(|&(start, bytes)| at.wrapping_sub(start) < bytes.max(1))
        };
        let end = self.call_of_ocaml(thread).map_or(Address::MAX, |(at, _)| at);
        is_in(thread.instruction())
            || self
                .stack(thread)
                .take_while(|(at, _)| *at < end)
                .any(|(_, word)| is_in(word) && self.is_behind_call(word))
    }

    fn stack(&self, thread: &Thread) -> impl Iterator<Item = (Address, u64)> {
        let start = thread.stack();
        let places = (start..start.saturating_add(SEARCHED)).step_by(8);
        places.map_while(|at| Some((at, self.memory.u64(at)?)))
    }

    /// The innermost return address to OCaml code on a thread's stack, and its place.
    fn call_of_ocaml(&self, thread: &Thread) -> Option<(Address, Address)> {
        self.stack(thread).find(|&(_, word)| self.is_ocaml(word) && self.is_behind_call(word))
    }

    fn is_ocaml(&self, address: Address) -> bool {
        let next = self.code.partition_point(|code| code.start <= address);
        next.checked_sub(1).and_then(|at| self.code.get(at)).is_some_and(|code| address < code.end)
    }

    fn is_system_code(&self, address: Address) -> bool {
        let [begin, end] = names::SYSTEM_CODE.map(|name| self.executable.address(name));
        begin.zip(end).is_some_and(|(begin, end)| (begin..end).contains(&address))
    }

    /// True behind `call` with an address in it, or by a table of the linker's.
    fn is_behind_call(&self, address: Address) -> bool {
        let direct = address.checked_sub(5).and_then(|at| self.memory.u8(at));
        let indirect = address.checked_sub(6).and_then(|at| self.memory.u16(at));
        let by_register = address.checked_sub(2).and_then(|at| self.memory.u16(at));
        direct == Some(0xe8)
            || indirect == Some(u16::from_le_bytes([0xff, 0x15]))
            || by_register.is_some_and(|code| code & 0xf8ff == u16::from_le_bytes([0xff, 0xd0]))
    }
}

/// Extents as ranges, in order; those with a small gap between them, as alignment leaves, are one.
fn merged(mut extents: Vec<Extent>) -> Vec<Range<Address>> {
    const GAP: u64 = 64;
    extents.sort_unstable_by_key(|extent| extent.start);
    let mut all: Vec<Range<Address>> = Vec::new();
    for extent in extents {
        let end = extent.start.saturating_add(extent.bytes);
        match all.last_mut() {
            Some(last) if extent.start <= last.end.saturating_add(GAP) => {
                last.end = last.end.max(end);
            }
            _ => all.push(extent.start..end),
        }
    }
    all
}

/// OCaml 4: the state of the program.
fn single_state(memory: &impl Memory, executable: &Executable<'_>) -> Option<Address> {
    executable.address(state::SINGLE).and_then(|variable| memory.u64(variable))
}
