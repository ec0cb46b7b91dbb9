//! Threads that ran OCaml code, which keeps values in registers, or C code that it called without saving them: their stacks
//! have no top, and their minor heaps no exact end.
//!
//! The walk of the heap reads both from the domain's state, where the runtime saves them when C code is called. So the
//! state is changed as if C had been called by the innermost frame that can be walked. All registers and the words of the
//! stack before that frame are taken for values, which may retain more than the program did.

use memtrail_ocaml::bytecode::stack as interpreter;
use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::frames::{Top, Walker};
use memtrail_ocaml::layout::{Fiber, GenerationState, Stack};
use memtrail_ocaml::symbols::state;
use memtrail_ocaml::{Address, Layout, Memory};

use super::activity::{Activities, Activity, SavedCall};
use super::executable::Executable;
use super::memory::CoreMemory;
use super::notes::Thread;

/// A thread that ran OCaml code.
#[derive(Debug)]
pub(super) struct Running {
    /// Its domain's state.
    pub(super) state: Address,
    /// Words that may be values.
    pub(super) values: Vec<u64>,
}

/// The innermost frame is not looked for further away.
const MAX_FRAME: u64 = 1 << 20;
/// Stack that is taken for values if no frame is found.
const WITHOUT_FRAME: u64 = 4096;
const MAX_FRAMES: usize = 1 << 24;

/// Finds the threads of these domains that had not saved their roots, and changes the domains' states. `waiting` are the
/// calls of C in which OCaml 4's other threads wait.
pub(super) fn settle(
    memory: &mut CoreMemory<'_>,
    executable: &Executable<'_>,
    layout: &Layout,
    table: Option<FrameTable>,
    threads: &[Thread],
    domains: &[Address],
    waiting: Vec<SavedCall>,
) -> Vec<Running> {
    let calls = waiting.clone();
    let activities = Activities::new(&*memory, executable, layout, table.is_none(), waiting);
    let state_of = |thread: &Thread, activity| match (activity, layout.multicore()) {
        (Activity::Ocaml, _) => Some(thread.state()),
        (_, None) => domains.first().copied(),
        (_, Some(_)) => {
            let variable = executable.of_thread(state::MULTICORE, thread.thread_pointer())?;
            memory.u64(variable)
        }
    };
    let mut unsaved = Vec::new();
    for thread in threads {
        let activity = activities.of(thread);
        let state = state_of(thread, activity).filter(|state| domains.contains(state));
        if let Some(state) = state.filter(|_| activity.is_unsaved()) {
            unsaved.push((*thread, activity, state));
        }
    }
    let mut settled = Vec::new();
    for (thread, activity, state) in unsaved {
        let running = match (activity, table) {
            (_, None) => settle_interpreter(memory, layout, &thread, state),
            (Activity::Ocaml, Some(table)) => settle_ocaml(memory, layout, table, &thread),
            (_, Some(table)) => settle_c(memory, layout, table, &thread, state, &calls),
        };
        settled.push(running);
    }
    settled
}

/// A thread in OCaml code: the domain's state is in its registers.
fn settle_ocaml(
    memory: &mut CoreMemory<'_>,
    layout: &Layout,
    table: FrameTable,
    thread: &Thread,
) -> Running {
    let (state, stack) = (thread.state(), thread.stack());
    memory.change(state + layout.state.young_ptr, thread.young_pointer());
    let found = take_frames(memory, layout, table, state, stack);
    let mut values = thread.general().to_vec();
    let end = found.unwrap_or(stack.saturating_add(WITHOUT_FRAME));
    values.extend((stack..end).step_by(8).map_while(|at| memory.u64(at)));
    Running { state, values }
}

/// A thread in C code that OCaml code called without saving anything. The minor heap's last block is not known: all of the
/// minor heap counts, of which blocks are found that something refers to.
fn settle_c(
    memory: &mut CoreMemory<'_>,
    layout: &Layout,
    table: FrameTable,
    thread: &Thread,
    state: Address,
    waiting: &[SavedCall],
) -> Running {
    let stack = thread.stack();
    let near = |at: Address| at.wrapping_sub(stack) < MAX_FRAME;
    let mut values = thread.general().to_vec();
    let of_stack = |memory: &CoreMemory<'_>, from: Address, to: Address| -> Vec<u64> {
        (from..to).step_by(8).map_while(|at| memory.u64(at)).collect()
    };
    // A thread that waits for the lock is not the one whose stack the state has.
    let waits = waiting
        .iter()
        .find(|&&(at, address)| near(at) && memory.u64(at.wrapping_sub(8)) == Some(address));
    if let Some(&(end, _)) = waits {
        values.extend(of_stack(memory, stack, end));
        return Running { state, values };
    }
    let first = layout.single().map_or(layout.state.young_start, |fields| fields.young_alloc_start);
    let first = memory.field(state, first).unwrap_or(0);
    memory.change(state + layout.state.young_ptr, first);
    let (GenerationState::Multicore(fields), Stack::Multicore(fiber)) =
        (&layout.state.generation, &layout.stack)
    else {
        let found = take_frames(memory, layout, table, state, stack);
        let end = found.unwrap_or(stack.saturating_add(WITHOUT_FRAME));
        values.extend(of_stack(memory, stack, end));
        return Running { state, values };
    };
    // The stack pointer of the OCaml code is in a register, or where C code saved it.
    let c_stack = memory.field(state, fields.c_stack).unwrap_or(stack);
    let c_stack = if near(c_stack) { c_stack } else { stack };
    values.extend(of_stack(memory, stack, c_stack));
    let current = memory.field(state, fields.current_stack).unwrap_or(0);
    let end = memory.field(current, fiber.handler).unwrap_or(0);
    let is_place = |word: &u64| (current..end).contains(word) && word.is_multiple_of(8);
    if let Some(ocaml) = values.iter().copied().filter(is_place).min() {
        take_frames(memory, layout, table, state, ocaml);
        values.extend(of_stack(memory, ocaml, end.min(ocaml.saturating_add(MAX_FRAME))));
    }
    Running { state, values }
}

/// Words of the C stack in which the interpreter may have its stack pointer.
const INTERPRETER: u64 = 1 << 16;

/// A thread in the interpreter, which has its stack pointer and other values in registers and on the stack of C. All of its
/// stack from there on counts, and no frame has a name.
fn settle_interpreter(
    memory: &mut CoreMemory<'_>,
    layout: &Layout,
    thread: &Thread,
    state: Address,
) -> Running {
    let mut values = thread.general().to_vec();
    let stack = thread.stack();
    let words = (stack..stack.saturating_add(INTERPRETER)).step_by(8);
    values.extend(words.map_while(|at| memory.u64(at)));
    let ends = match layout.multicore() {
        None => interpreter::whole(memory, state).map(|whole| {
            let end = whole.start.saturating_add(whole.bytes);
            (whole.start, interpreter::pointer_of_state(state), end)
        }),
        Some(fields) => memory.field(state, fields.current_stack).and_then(|fiber| {
            let (pointer, end) = interpreter::ends_of_fiber(memory, layout, fiber)?;
            Some((fiber, pointer, end))
        }),
    };
    let Some((start, pointer, end)) = ends else { return Running { state, values } };
    // The interpreter saved the pointer at its last call of C. It may have left that frame since, or be in a deeper one.
    let saved = memory.u64(pointer).unwrap_or(end);
    let is_place = |word: &u64| (start..end).contains(word) && word.is_multiple_of(8);
    let first = values.iter().copied().filter(is_place).min().unwrap_or(saved).min(saved);
    values.extend((first..end).step_by(8).map_while(|at| memory.u64(at)));
    memory.change(pointer, end);
    Running { state, values }
}

/// Looks for the innermost frame from which a walk reaches the stack's end, changes the state as if C had been called from
/// there, and returns the place of its return address.
fn take_frames(
    memory: &mut CoreMemory<'_>,
    layout: &Layout,
    table: FrameTable,
    state: Address,
    stack: Address,
) -> Option<Address> {
    let mut changes = Vec::new();
    let found = match (&layout.state.generation, &layout.stack) {
        (GenerationState::Single(fields), Stack::Single(_)) => {
            let registers = memory.field(state, layout.state.gc_regs).unwrap_or(0);
            let walker = Walker { memory: &*memory, layout, table, first_frame: 0 };
            let found = places(stack).find(|&at| {
                memory.u64(at).is_some_and(|return_address| {
                    table.find(&*memory, return_address).is_some()
                        && walker
                            .walk(Top::Single { sp: at + 8, return_address, registers }, |_| {})
                            .is_some()
                })
            });
            if let Some(at) = found {
                changes.push((state + fields.bottom_of_stack, at + 8));
                let return_address = memory.u64(at).unwrap_or(0);
                changes.push((state + fields.last_return_address, return_address));
            }
            found
        }
        (GenerationState::Multicore(fields), Stack::Multicore(fiber_fields)) => {
            let fiber = memory.field(state, fields.current_stack).unwrap_or(0);
            let end = memory.field(fiber, fiber_fields.handler).unwrap_or(0);
            let found = places(stack)
                .take_while(|&at| at < end)
                .find(|&at| reaches_end(memory, fiber_fields, table, at, end));
            if let Some(at) = found {
                changes.push((fiber + fiber_fields.sp, at + 8 - fiber_fields.first_frame));
            }
            found
        }
        _ => None,
    };
    for (at, value) in changes {
        memory.change(at, value);
    }
    found
}

fn places(stack: Address) -> impl Iterator<Item = Address> {
    (stack..stack.saturating_add(MAX_FRAME)).step_by(8)
}

/// OCaml 5: true if frames lead from the return address at `at` to a return to C below `end`.
fn reaches_end(
    memory: &CoreMemory<'_>,
    fields: &Fiber,
    table: FrameTable,
    mut at: Address,
    end: Address,
) -> bool {
    for _ in 0..MAX_FRAMES {
        let descriptor = memory.u64(at).and_then(|address| table.find(memory, address));
        let Some(descriptor) = descriptor else { return false };
        let Some(size) = descriptor.frame_size() else {
            return at.saturating_add(8 + fields.chunk_header) <= end;
        };
        at = at.saturating_add(size);
        if size == 0 || at >= end {
            return false;
        }
    }
    false
}
