//! Threads that ran OCaml code, which keeps values in registers: their stacks have no top, and their minor heaps no exact
//! end.
//!
//! The walk of the heap reads both from the domain's state, where the runtime saves them when C code is called. So the
//! state is changed as if C had been called by the innermost frame that can be walked. All registers and the words of the
//! stack before that frame are taken for values, which may retain more than the program did.

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::frames::{Top, Walker};
use memtrail_ocaml::heap::statics;
use memtrail_ocaml::layout::{FamilyState, Fiber, Stack};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::{Address, Layout, Memory};

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

/// Finds the threads of these domains that ran OCaml code, and changes the domains' states.
pub(super) fn settle(
    memory: &mut CoreMemory<'_>,
    executable: &Executable<'_>,
    layout: &Layout,
    table: FrameTable,
    threads: &[Thread],
    domains: &[Address],
) -> Vec<Running> {
    let Some(code) = executable.address(names::CODE_SEGMENTS) else { return Vec::new() };
    let runs_ocaml = |thread: &&Thread| {
        domains.contains(&thread.state())
            && statics::segments(&*memory, code).any(|code| code.contains(thread.instruction()))
    };
    let running: Vec<Thread> = threads.iter().filter(runs_ocaml).copied().collect();
    running.iter().map(|thread| settle_one(memory, layout, table, thread)).collect()
}

fn settle_one(
    memory: &mut CoreMemory<'_>,
    layout: &Layout,
    table: FrameTable,
    thread: &Thread,
) -> Running {
    let (state, stack) = (thread.state(), thread.stack());
    let mut changes = vec![(state + layout.state.young_ptr, thread.young_pointer())];
    let found = match (&layout.state.family, &layout.stack) {
        (FamilyState::Single(fields), Stack::Single(_)) => {
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
        (FamilyState::Multicore(fields), Stack::Multicore(fiber_fields)) => {
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
    let mut values = thread.general().to_vec();
    let end = found.unwrap_or(stack.saturating_add(WITHOUT_FRAME));
    values.extend((stack..end).step_by(8).map_while(|at| memory.u64(at)));
    for (at, value) in changes {
        memory.change(at, value);
    }
    Running { state, values }
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
