//! Steps from one OCaml frame to the next older one in this process's memory.
//!
//! A frame is named by its *slot*, where its return address stands, and that address. Sources:
//! `caml_next_frame_descriptor` in `runtime/backtrace_nat.c`, `runtime/caml/stack.h`.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::frames::{Descriptor, FrameTable};
use memtrail_ocaml::layout::{Layout, Stack};
use memtrail_ocaml::memory::ThisProcess;

/// Reads frames while the runtime captures a callstack: its stacks and tables hold still.
pub(super) struct Frames<'a> {
    pub(super) memory: ThisProcess,
    table: FrameTable,
    pub(super) layout: &'a Layout,
}

/// Slot and return address.
pub(super) type Frame = (u64, u64);

/// What follows a frame.
pub(super) enum Step {
    /// An older frame.
    Frame(Frame),
    /// This was no frame but the end of a chunk of frames; the next chunk begins there.
    Link(Frame),
    /// This was the end of the stack.
    Last,
    /// Nothing is known of this return address: the runtime's own walk ends here, too.
    Unknown,
}

/// Frame sizes by return address, a small cache in front of the runtime's table: a walk asks for the
/// same few hundred call sites over and over. Code is never unloaded from under its frames.
pub(super) struct Sizes([(u64, u64); SIZES]);

const SIZES: usize = 512;

impl Default for Sizes {
    fn default() -> Self {
        Self([(0, 0); SIZES])
    }
}

impl<'a> Frames<'a> {
    pub(super) fn new(memory: ThisProcess, table: FrameTable, layout: &'a Layout) -> Self {
        Self { memory, table, layout }
    }

    /// Steps from the frame `(slot, pc)` of the stack that ends at `high`.
    #[inline]
    pub(super) fn step(&self, sizes: &mut Sizes, high: u64, slot: u64, pc: u64) -> Step {
        let known = &mut sizes.0[(pc ^ pc >> 9) as usize % SIZES];
        if known.0 != pc {
            let Some(descriptor) = self.table.find(&self.memory, pc) else { return Step::Unknown };
            let Some(size) = descriptor.frame_size() else { return self.link(high, slot) };
            *known = (pc, size);
        }
        let slot = slot.wrapping_add(known.1);
        match self.memory.u64(slot) {
            Some(next) => Step::Frame((slot, next)),
            None => Step::Unknown,
        }
    }

    fn link(&self, high: u64, slot: u64) -> Step {
        match self.layout.stack {
            Stack::Single(_) => match self.context(slot) {
                Some((0, _)) => Step::Last,
                Some((bottom, pc)) => Step::Link((bottom.wrapping_sub(8), pc)),
                None => Step::Unknown,
            },
            Stack::Multicore(fiber) => {
                let sp = slot + 8 + fiber.chunk_header;
                if sp == high {
                    return Step::Last;
                }
                let slot = sp + fiber.first_frame - 8;
                self.memory.u64(slot).map_or(Step::Unknown, |pc| Step::Link((slot, pc)))
            }
        }
    }

    /// OCaml 4: where the OCaml code that called C stood, (stack pointer, return address).
    fn context(&self, slot: u64) -> Option<(u64, u64)> {
        let Stack::Single(context) = self.layout.stack else { return None };
        let link = slot + 8 + context.link;
        let bottom = self.memory.field(link, context.bottom_of_stack)?;
        Some((bottom, self.memory.field(link, context.last_return_address)?))
    }

    /// Whether a slot of the stack being walked still holds a return address.
    #[inline]
    pub(super) fn holds(&self, slot: u64, pc: u64) -> bool {
        self.memory.u64(slot) == Some(pc)
    }

    /// The innermost of some frames, given outermost first, whose slot holds something else now.
    ///
    /// Stacks are thousands of frames deep where this matters, so frames are compared in groups,
    /// with one branch a group.
    ///
    /// # Safety
    /// All slots are in the stack that is being walked, above its innermost frame.
    #[inline]
    pub(super) unsafe fn last_changed(&self, slots: &[u64], returns: &[u64]) -> Option<usize> {
        const GROUP: usize = 8;
        let mut end = slots.len().min(returns.len());
        while let Some(start) = end.checked_sub(GROUP) {
            let pairs = slots[start..end].iter().zip(&returns[start..end]);
            // SAFETY: as the caller promises.
            let changed = pairs
                .fold(0, |changed, (&slot, &pc)| unsafe { changed | (*(slot as *const u64) ^ pc) });
            if changed != 0 {
                break;
            }
            end = start;
        }
        (0..end).rev().find(|&frame| !self.holds(slots[frame], returns[frame]))
    }

    /// Whether a link within a piece still leads where it led: to the frame `older`, or to the
    /// stack's end.
    pub(super) fn link_holds(&self, slot: u64, older: Option<Frame>) -> bool {
        match (self.layout.stack, older) {
            (Stack::Single(_), older) => match self.context(slot) {
                Some((0, _)) => older.is_none(),
                Some((bottom, pc)) => older == Some((bottom.wrapping_sub(8), pc)),
                None => false,
            },
            // The next chunk's place follows from this one's.
            (Stack::Multicore(_), Some((slot, pc))) => self.holds(slot, pc),
            (Stack::Multicore(_), None) => true,
        }
    }

    /// The descriptor of a return address.
    pub(super) fn descriptor(&self, pc: u64) -> Option<Descriptor> {
        self.table.find(&self.memory, pc)
    }
}
