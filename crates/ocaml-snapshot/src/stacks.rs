//! Stacks, frame by frame: each frame has a label, with the function and the line it stands at.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::debuginfo::locations;
use memtrail_ocaml::heap::frames::{Frame, Met, Top, Walker};
use memtrail_ocaml::{names, stack};

use super::frozen::{StoppedProcess, View};
use super::roots::RootList;

const MAX_NAME_LEN: usize = 512;

/// Walks the stacks of a frozen process.
pub(super) struct Stacks<'a, F> {
    view: &'a View<'a, F>,
    walker: Walker<'a, F>,
}

impl<'a, F: StoppedProcess> Stacks<'a, F> {
    pub(super) fn new(view: &'a View<'a, F>) -> Option<Self> {
        let table = view.frame_table?;
        let layout = &view.layout;
        let has = |address| table.find(&view.memory, address).is_some();
        let first_frame = view
            .domains
            .iter()
            .find_map(|&state| stack::first_frame(&view.memory, layout, state, has))
            .unwrap_or(match &layout.stack {
                memtrail_ocaml::layout::Stack::Single(_) => 0,
                memtrail_ocaml::layout::Stack::Multicore(fiber) => fiber.first_frame,
            });
        let walker = Walker { memory: &view.memory, layout, table, first_frame };
        Some(Self { view, walker })
    }

    /// Adds everything that a thread's stack holds, below the thread's label.
    pub(super) fn add(&self, list: &mut RootList, thread: LabelId, top: Top) {
        let memory = &self.view.memory;
        // What cannot be walked is found among the roots that the runtime scans.
        let _ = self.walker.walk(top, |met| match met {
            Met::Frame(frame) => {
                let label = self.label(list, thread, &frame);
                for slot in frame.slots(memory) {
                    list.add(slot, memory.u64(slot).unwrap_or(0), label);
                }
            }
            Met::FiberEnd { id, handlers } => {
                let label = list.numbered(Some(thread), RootKind::Stack, LabelRole::Fiber, id);
                for slot in handlers {
                    list.add(slot, memory.u64(slot).unwrap_or(0), label);
                }
            }
            Met::Unknown(_) => {}
        });
    }

    /// A label for one frame.
    fn label(&self, list: &mut RootList, thread: LabelId, frame: &Frame) -> LabelId {
        let memory = &self.view.memory;
        if let Some(name) = memory.label_of(frame) {
            return list.labels.add(Some(thread), RootKind::Stack, LabelRole::Frame, name, b"", 0);
        }
        let packing = self.view.layout.packing;
        // The outermost of the functions inlined into each other is the one that has the frame.
        let place =
            frame.descriptor.debuginfo(memory).and_then(|at| locations(memory, packing, at).last());
        let (mut linked, mut file, mut text) =
            ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
        let (name, file, line): (&[u8], &[u8], u32) = if let Some(place) = place {
            let linked = memory.c_string(place.function, &mut linked).unwrap_or_default();
            let file = memory.c_string(place.file, &mut file).unwrap_or_default();
            (names::write_name(linked, &mut text), file, place.line)
        } else {
            let code = frame.descriptor.return_address;
            let linked = self.view.symbols.name_at(code, &mut linked).unwrap_or_default();
            (names::demangle(linked, &mut text).unwrap_or(linked), b"", 0)
        };
        list.labels.add(
            Some(thread),
            RootKind::Stack,
            LabelRole::Frame,
            name,
            file,
            u64::from(line),
        )
    }

    /// Every value on the stacks that a continuation holds; `stack` is its first field.
    pub(super) fn captured(&self, stack: u64, each: &mut dyn FnMut(u64)) {
        // The address is marked as an integer; alone the mark says that the continuation was used up.
        let fiber = stack & !1;
        if fiber == 0 {
            return;
        }
        let memory = &self.view.memory;
        let mut value = |slot| each(memory.u64(slot).unwrap_or(0));
        let _ = self.walker.walk(Top::Multicore { fiber, registers: 0 }, |met| match met {
            Met::Frame(frame) => frame.slots(memory).for_each(&mut value),
            Met::FiberEnd { handlers, .. } => handlers.into_iter().for_each(&mut value),
            Met::Unknown(_) => {}
        });
    }
}
