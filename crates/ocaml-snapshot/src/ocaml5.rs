//! OCaml 5: all roots, kind by kind, of every domain.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::heap::frames::Top;
use memtrail_ocaml::heap::{ephemerons, threads};
use memtrail_ocaml::version::Generation;

use super::frozen::{StoppedProcess, View};
use super::roots::RootList;
use super::stacks::Stacks;
use super::{bytecode, finalisers, modules, orphans, registered, registers, tracked};

pub(crate) fn roots(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    modules::add(view, list);
    modules::add_exceptions(view, list);
    if let Some(bytecode) = view.memory.bytecode() {
        bytecode::add_globals(view, bytecode, list);
    }
    let stacks = Stacks::new(view);
    for &state in view.domains {
        domain(view, list, stacks.as_ref(), state);
    }
    list.samples.extend(view.memory.tracked_by_memtrail());
    orphans::roots(view, list);
    // C code's roots, with the modules' fields once more, and those of plugins.
    let rest = list.unlabelled(StoppedProcess::registered(view));
    let (plugins, registered) =
        rest.into_iter().partition(|&(slot, _)| modules::is_of_module(view, slot));
    modules::add_rest(view, list, plugins);
    registered::add(view, list, registered, view.domains);
    for &state in view.domains {
        let rest = list.unlabelled(StoppedProcess::all(view, state));
        modules::add_rest(view, list, rest);
    }
}

fn domain<F: StoppedProcess>(
    view: &View<'_, F>,
    list: &mut RootList,
    stacks: Option<&Stacks<'_, F>>,
    state: u64,
) {
    let memory = &view.memory;
    let layout = &view.layout;
    let Some(fields) = layout.multicore() else { return };
    let id = memory.field(state, fields.id).unwrap_or(0);
    let domain = list.numbered(None, RootKind::Stack, LabelRole::Domain, id);
    let top = Top::of_state(memory, layout, state);
    let local_roots = memory.field(state, layout.state.local_roots).unwrap_or(0);
    registers::add(view, list, Some(domain), state);

    let hooked = StoppedProcess::hooked(view, state);
    let mut found = Vec::new();
    let running = StoppedProcess::running_thread(view, &hooked, state);
    let ring = threads::each_thread(memory, Generation::Multicore, running, |t| found.push(t));
    if ring {
        for (index, thread) in found.iter().enumerate() {
            // A thread of ours that took the program's lock has none, and holds nothing.
            let Some(id) = thread.id else { continue };
            let label = list.numbered(Some(domain), RootKind::Stack, LabelRole::Thread, id);
            for slot in [thread.at, thread.last_exception] {
                list.add(slot, memory.u64(slot).unwrap_or(0), label);
            }
            // The running one's stack is in the state.
            let (top, roots) =
                if index == 0 { (top, local_roots) } else { (thread.top, thread.local_roots) };
            add_stack(view, list, stacks, label, top);
            registered::add_local(view, list, id, roots);
        }
    } else {
        add_stack(view, list, stacks, domain, top);
        registered::add_local(view, list, id, local_roots);
    }
    registered::add_hooked(list, hooked);

    let own = list.numbered(None, RootKind::Domain, LabelRole::Domain, id);
    let slot = state + fields.dls_root;
    list.add(slot, memory.u64(slot).unwrap_or(0), own);
    finalisers::of_domain(view, list, state);
    tracked::add(view, list, StoppedProcess::tracked(view, state));
    for head in ephemerons::heads_of(memory, fields, state).into_iter().flatten() {
        ephemerons::each(memory, head, |at| list.ephemerons.push(at));
    }
}

fn add_stack<F: StoppedProcess>(
    view: &View<'_, F>,
    list: &mut RootList,
    stacks: Option<&Stacks<'_, F>>,
    label: LabelId,
    top: Option<Top>,
) {
    match (view.memory.bytecode(), stacks, top) {
        (Some(bytecode), _, Some(Top::Multicore { fiber, .. })) => {
            bytecode::add_fibers(view, bytecode, list, label, fiber);
        }
        (None, Some(stacks), Some(top)) => stacks.add(list, label, top),
        _ => {}
    }
}
