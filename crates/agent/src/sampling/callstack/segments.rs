//! The contiguous stacks that a thread of execution stands on, from the running one outwards: one
//! system stack before OCaml 5, a chain of fibers after.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::layout::{GenerationState, Stack};

use super::frames::Frames;

/// A contiguous stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StackSegment {
    /// Address of the runtime's record of it; 0 where there is only one.
    pub(super) stack: u64,
    /// The runtime's number for it, as addresses are reused.
    pub(super) id: u64,
    /// Address after its highest word.
    pub(super) high: u64,
}

/// The innermost frame of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Top {
    /// Where its return address stands.
    pub(super) slot: u64,
    /// The return address.
    pub(super) pc: u64,
}

impl Frames<'_> {
    /// The piece that runs, in the domain whose state stands at `state`; `None` if no OCaml code
    /// does.
    pub(super) fn running(&self, state: u64) -> Option<(StackSegment, Top)> {
        match self.layout.state.generation {
            GenerationState::Single(single) => {
                let sp = self.memory.field(state, single.bottom_of_stack)?;
                let pc = self.memory.field(state, single.last_return_address)?;
                let whole = StackSegment { stack: 0, id: 0, high: u64::MAX };
                (sp != 0).then(|| (whole, Top { slot: sp.wrapping_sub(8), pc }))
            }
            GenerationState::Multicore(multicore) => {
                self.fiber(self.memory.field(state, multicore.current_stack)?)
            }
        }
    }

    /// The piece below: the one that goes on when this one ends.
    pub(super) fn parent(&self, segment: &StackSegment) -> Option<(StackSegment, Top)> {
        let Stack::Multicore(fiber) = self.layout.stack else { return None };
        self.fiber(self.memory.field(segment.high, fiber.handler_parent)?)
    }

    fn fiber(&self, stack: u64) -> Option<(StackSegment, Top)> {
        let Stack::Multicore(fiber) = self.layout.stack else { return None };
        if stack == 0 {
            return None;
        }
        let high = self.memory.field(stack, fiber.handler)?;
        let sp = self.memory.field(stack, fiber.sp)?.checked_add(fiber.first_frame)?;
        let slot = sp.checked_sub(8)?;
        let pc = self.memory.u64(slot)?;
        let id = self.memory.field(stack, fiber.id)?;
        Some((StackSegment { stack, id, high }, Top { slot, pc }))
    }
}
