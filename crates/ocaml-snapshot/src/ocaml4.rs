//! OCaml 4: all roots, kind by kind.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::bytecode::stack;
use memtrail_ocaml::heap::frames::Top;
use memtrail_ocaml::heap::{Extent, ephemerons, threads};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::version::Generation;

use super::frozen::{StoppedProcess, View};
use super::roots::RootList;
use super::stacks::Stacks;
use super::{bytecode, finalisers, modules, registered, registers, tracked};

pub(crate) fn roots(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    let Some(&state) = view.domains.first() else { return };
    modules::add(view, list);
    modules::add_exceptions(view, list);
    if let Some(bytecode) = view.memory.bytecode() {
        bytecode::add_globals(view, bytecode, list);
    }
    threads_and_stacks(view, list, state);
    registered::add(view, list, StoppedProcess::registered(view), view.domains);
    finalisers::of_program(view, list);
    tracked::add(view, list, StoppedProcess::tracked(view, state));
    if let Some(head) = view.symbols.address(names::EPHEMERONS) {
        ephemerons::each(&view.memory, head, |at| list.ephemerons.push(at));
    }
    // What the runtime scans and we did not find.
    let rest = list.unlabelled(StoppedProcess::all(view, state));
    modules::add_rest(view, list, rest);
}

fn threads_and_stacks(view: &View<'_, impl StoppedProcess>, list: &mut RootList, state: u64) {
    let memory = &view.memory;
    let layout = &view.layout;
    let stacks = Stacks::new(view);
    let hooked = StoppedProcess::hooked(view, state);
    let mut found = Vec::new();
    let running = StoppedProcess::running_thread(view, &hooked, state);
    let ring =
        threads::each_thread(memory, Generation::Single, running, |thread| found.push(thread));
    let top = Top::of_state(memory, layout, state);
    let local_roots = memory.field(state, layout.state.local_roots).unwrap_or(0);
    registers::add(view, list, None, state);
    if !ring {
        found.clear();
        let thread = list.numbered(None, RootKind::Stack, LabelRole::Thread, 0);
        add_stack(list, stacks.as_ref(), thread, top);
        add_interpreted(view, list, thread, stack::of_state(memory, state));
        registered::add_local(view, list, 0, local_roots);
        registered::add_hooked(list, hooked);
        return;
    }
    for (index, thread) in found.iter().enumerate() {
        // A thread of ours that took the program's lock has none, and holds nothing.
        let Some(id) = thread.id else { continue };
        let label = list.numbered(None, RootKind::Stack, LabelRole::Thread, id);
        for slot in [thread.at, thread.last_exception] {
            list.add(slot, memory.u64(slot).unwrap_or(0), label);
        }
        // The running one's stack is in the state.
        let (top, roots) =
            if index == 0 { (top, local_roots) } else { (thread.top, thread.local_roots) };
        add_stack(list, stacks.as_ref(), label, top);
        let interpreted = match index {
            0 => stack::of_state(memory, state),
            _ => stack::of_thread(memory, thread.at),
        };
        add_interpreted(view, list, label, interpreted);
        registered::add_local(view, list, id, roots);
    }
    registered::add_hooked(list, hooked);
}

/// Adds the stack of a thread of the bytecode interpreter.
fn add_interpreted(
    view: &View<'_, impl StoppedProcess>,
    list: &mut RootList,
    label: LabelId,
    stack: Option<Extent>,
) {
    if let (Some(bytecode), Some(stack)) = (view.memory.bytecode(), stack) {
        bytecode::add_stack(view, bytecode, list, label, stack);
    }
}

fn add_stack(
    list: &mut RootList,
    stacks: Option<&Stacks<'_, impl StoppedProcess>>,
    label: LabelId,
    top: Option<Top>,
) {
    if let (Some(stacks), Some(top)) = (stacks, top) {
        stacks.add(list, label, top);
    }
}
