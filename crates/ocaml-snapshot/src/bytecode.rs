//! Programs of bytecode: global variables, and stacks of the interpreter. All words of a stack are roots but for addresses of
//! code.

use memtrail_heap::write::{Function, LabelId, LabelRole, PREDEFINED_EXCEPTIONS, RootKind};
use memtrail_ocaml::block::{tag_of, wosize};
use memtrail_ocaml::bytecode::stack::{self, FRAME_WORDS};
use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::heap::lap::Lap;
use memtrail_ocaml::{Address, names};

use super::frozen::{Bytecode, StoppedProcess, View};
use super::roots::{RootList, is_pointer};

const MAX_NAME_LEN: usize = 512;

/// Adds the fields of modules, then all global variables.
pub(super) fn add_globals(
    view: &View<'_, impl StoppedProcess>,
    bytecode: &Bytecode<'_>,
    list: &mut RootList,
) {
    let memory = &view.memory;
    let all = memory.u64(bytecode.globals).unwrap_or(0);
    let size = |block: Address| memory.u64(block.checked_sub(8)?);
    let count = is_pointer(all).then(|| size(all)).flatten().map_or(0, wosize);
    let mut exceptions = None;
    for name in bytecode.names.iter().filter(|name| name.index < count) {
        let slot = all.saturating_add(8 * name.index);
        let block = memory.u64(slot).unwrap_or(0);
        let Some(header) = is_pointer(block).then(|| size(block)).flatten() else { continue };
        let mut text = [0; MAX_NAME_LEN];
        let shown = names::write_name(&name.name, &mut text);
        if tag_of(header) != 0 {
            // The exceptions that the runtime raises itself.
            let exceptions = *exceptions.get_or_insert_with(|| {
                list.named(None, RootKind::Static, LabelRole::Other, PREDEFINED_EXCEPTIONS)
            });
            let label = list.named(Some(exceptions), RootKind::Static, LabelRole::Symbol, shown);
            list.note(block, label);
            continue;
        }
        let unit = list.named(None, RootKind::Global, LabelRole::Unit, shown);
        list.note(block, unit);
        for field in 0..wosize(header) {
            let slot = block.saturating_add(8 * field);
            let Some(value) = memory.u64(slot) else { break };
            if is_pointer(value) {
                let label = list.numbered(Some(unit), RootKind::Global, LabelRole::Field, field);
                list.add(slot, value, label);
            }
        }
        list.add(slot, block, unit);
    }
    let name = memtrail_ocaml::symbols::bytecode::GLOBALS.as_bytes();
    let label = list.named(None, RootKind::GlobalC, LabelRole::Symbol, name);
    list.add(bytecode.globals, all, label);
}

/// Adds the values on a stack, below the label of its thread.
pub(super) fn add_stack(
    view: &View<'_, impl StoppedProcess>,
    bytecode: &Bytecode<'_>,
    list: &mut RootList,
    thread: LabelId,
    stack: Extent,
) {
    let memory = &view.memory;
    let mut label = thread;
    let mut variables: Vec<(u64, LabelId)> = Vec::new();
    // OCaml 5 pushes a return address before it calls C, and any value may be above that.
    let of_c = view.layout.multicore().map_or(0, |_| stack.start.saturating_add(8));
    for slot in (stack.start..stack.start.saturating_add(stack.bytes)).step_by(8) {
        let Some(word) = memory.u64(slot) else { break };
        if let Some(position) = bytecode.code.position(word) {
            let next = memory.u64(slot.saturating_add(8)).unwrap_or(0);
            if slot != of_c && stack::is_handler(stack, next) {
                continue;
            }
            // A return address: the words above are those of its function.
            let frame = Frame::at(bytecode, position);
            label = frame.label(list, thread);
            variables = frame.variables(list, slot);
            continue;
        }
        let named = variables.iter().find(|(known, _)| *known == slot);
        list.add(slot, word, named.map_or(label, |(_, label)| *label));
    }
}

/// OCaml 5: adds the values on a fiber's stack and on those of the fibers that it returns to.
pub(super) fn add_fibers(
    view: &View<'_, impl StoppedProcess>,
    bytecode: &Bytecode<'_>,
    list: &mut RootList,
    thread: LabelId,
    fiber: Address,
) {
    each_fiber(view, fiber, |fiber| {
        add_stack(view, bytecode, list, thread, fiber.words);
        let label = list.numbered(Some(thread), RootKind::Stack, LabelRole::Fiber, fiber.id);
        for slot in fiber.handlers {
            list.add(slot, view.memory.u64(slot).unwrap_or(0), label);
        }
    });
}

/// OCaml 5: every value on the stacks that a continuation has; `stack` is its first field.
pub(super) fn captured(
    view: &View<'_, impl StoppedProcess>,
    bytecode: &Bytecode<'_>,
    stack: u64,
    each: &mut dyn FnMut(u64),
) {
    // The address is marked as an integer; alone the mark says that the continuation was used up.
    each_fiber(view, stack & !1, |fiber| {
        let end = fiber.words.start.saturating_add(fiber.words.bytes);
        let slots = (fiber.words.start..end).step_by(8).chain(fiber.handlers);
        let words = slots.map_while(|slot| view.memory.u64(slot));
        words.filter(|word| bytecode.code.position(*word).is_none()).for_each(&mut *each);
    });
}

fn each_fiber(
    view: &View<'_, impl StoppedProcess>,
    mut fiber: Address,
    mut each: impl FnMut(&stack::FiberStack),
) {
    let mut lap = Lap::default();
    while lap.step(fiber).is_some() {
        let found = (fiber != 0).then(|| stack::fiber(&view.memory, &view.layout, fiber)).flatten();
        let Some(found) = found else { return };
        each(&found);
        fiber = found.parent;
    }
}

/// A function that called another one.
struct Frame<'e, 'a> {
    event: Option<memtrail_ocaml::bytecode::Event<'e, 'a>>,
}

impl<'e, 'a> Frame<'e, 'a> {
    /// The function with a return address at a position in the code.
    fn at(bytecode: &'e Bytecode<'a>, position: u64) -> Self {
        let events = bytecode.events.as_ref();
        Self { event: events.and_then(|events| events.of_return(position)) }
    }

    fn label(&self, list: &mut RootList, thread: LabelId) -> LabelId {
        let Some(event) = self.event else {
            return list.named(Some(thread), RootKind::Stack, LabelRole::Frame, b"");
        };
        let mut text = [0; MAX_NAME_LEN];
        let name = names::write_name(event.function(), &mut text);
        let (file, line, _) = event.place().unwrap_or_default();
        let (kind, role) = (RootKind::Stack, LabelRole::Frame);
        list.labels.add(Some(thread), kind, role, name, file, u64::from(line))
    }

    /// Variables of a module that is being initialised, which are on the stack until its end: their slots and labels. The return
    /// address is at `slot`.
    fn variables(&self, list: &mut RootList, slot: Address) -> Vec<(Address, LabelId)> {
        let Some(event) = self.event.filter(|event| !event.function().contains(&b'.')) else {
            return Vec::new();
        };
        let mut text = [0; MAX_NAME_LEN];
        let shown = names::write_name(event.module(), &mut text);
        let unit = list.named(None, RootKind::Global, LabelRole::Unit, shown);
        let first = slot.saturating_add(8 * FRAME_WORDS);
        let variables = event.variables().into_iter().map(|(name, above)| {
            let label = list.named(Some(unit), RootKind::Global, LabelRole::Symbol, name);
            (first.saturating_add(8 * above), label)
        });
        variables.collect()
    }
}

/// Calls `each` with the functions that begin at `codes`, in their order.
pub(super) fn functions(bytecode: &Bytecode<'_>, codes: &[u64], each: &mut dyn FnMut(&Function)) {
    for code in codes {
        let position = bytecode.code.position(*code);
        let events = bytecode.events.as_ref();
        let event = position.and_then(|position| events?.from(position));
        let Some(event) = event else {
            each(&Function::default());
            continue;
        };
        let mut text = [0; MAX_NAME_LEN];
        let (file, line, column) = event.place().unwrap_or_default();
        each(&Function {
            name: names::write_name(event.function(), &mut text).to_vec(),
            file: file.to_vec(),
            line,
            column,
            ..Function::default()
        });
    }
}
