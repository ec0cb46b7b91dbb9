//! Walking OCaml's stack: from a frame to its caller, over the frames of C and from a fiber to its parent.
//!
//! This is what `caml_next_frame_descriptor` (`runtime/backtrace_nat.c`) does, one step at a time. A walk inside a
//! sampling callback starts where the block was allocated: neither generation's callback mechanism changes what
//! [`Position::innermost`] reads.

use crate::block::{self, tag};
use crate::frames::Descriptor;
use crate::layout::{Fiber, GenerationState, Layout, Stack};
use crate::memory::{Address, Memory};

/// A place in a stack where OCaml code called something and will go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The stack pointer after the return. The return address stands just below it ([`Layout::saved_return_address`]),
    /// except in OCaml 4 where a chunk begins: there it is in the state or in a context.
    pub sp: Address,
    /// Where the code goes on; the key of its [`Descriptor`].
    pub return_address: Address,
    /// OCaml 5: the fiber's `stack_info`. OCaml 4: zero.
    pub fiber: Address,
}

/// What comes after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its caller, in the same chunk of frames. The return address stands just below the stack pointer.
    Frame(Position),
    /// The next chunk: C, or another fiber, is in between.
    Chunk(Position),
    /// The end of the stack.
    End,
}

impl Position {
    /// Where the running code called C or the collector.
    ///
    /// `first_frame` is OCaml 5's [`Fiber::first_frame`] as [`first_frame`] found it; OCaml 4 ignores it.
    #[inline]
    pub fn innermost(
        memory: &impl Memory,
        layout: &Layout,
        first_frame: u64,
        state: Address,
    ) -> Option<Self> {
        match (&layout.state.generation, &layout.stack) {
            (GenerationState::Single(fields), _) => {
                let sp = memory.field(state, fields.bottom_of_stack)?;
                let return_address = memory.field(state, fields.last_return_address)?;
                (sp != 0).then_some(Self { sp, return_address, fiber: 0 })
            }
            (GenerationState::Multicore(fields), Stack::Multicore(fiber)) => Self::of_fiber(
                memory,
                layout,
                fiber,
                first_frame,
                memory.field(state, fields.current_stack)?,
            ),
            (GenerationState::Multicore(_), Stack::Single(_)) => None,
        }
    }

    /// Where a suspended fiber goes on (`caml_get_stack_sp_pc`).
    fn of_fiber(
        memory: &impl Memory,
        layout: &Layout,
        fields: &Fiber,
        first_frame: u64,
        fiber: Address,
    ) -> Option<Self> {
        let sp = memory.field(fiber, fields.sp)?.checked_add(first_frame)?;
        let return_address = memory.u64(sp.checked_add_signed(layout.saved_return_address)?)?;
        Some(Self { sp, return_address, fiber })
    }

    /// One step outwards; `descriptor` is that of [`Position::return_address`]. `None` if the memory is no stack.
    ///
    /// At the end of a fiber whose parent a callback has cut off, `cut` is asked for it: see [`CutParents`]. With
    /// `|| None` the walk ends there, as the runtime's does.
    #[inline]
    pub fn step(
        &self,
        memory: &impl Memory,
        layout: &Layout,
        first_frame: u64,
        descriptor: &Descriptor,
        cut: impl FnOnce() -> Option<Address>,
    ) -> Option<Step> {
        if let Some(size) = descriptor.frame_size() {
            let sp = self.sp.checked_add(size)?;
            let return_address = memory.u64(sp.checked_add_signed(layout.saved_return_address)?)?;
            return Some(Step::Frame(Self { sp, return_address, fiber: self.fiber }));
        }
        match &layout.stack {
            Stack::Single(context) => {
                let at = self.sp.checked_add(context.link)?;
                let sp = memory.field(at, context.bottom_of_stack)?;
                if sp == 0 {
                    return Some(Step::End);
                }
                let return_address = memory.field(at, context.last_return_address)?;
                Some(Step::Chunk(Self { sp, return_address, fiber: 0 }))
            }
            Stack::Multicore(fiber) => {
                let sp = self.sp.checked_add(fiber.chunk_header)?;
                let handler = memory.field(self.fiber, fiber.handler)?;
                if sp != handler {
                    let sp = sp.checked_add(first_frame)?;
                    let return_address =
                        memory.u64(sp.checked_add_signed(layout.saved_return_address)?)?;
                    return Some(Step::Chunk(Self { sp, return_address, fiber: self.fiber }));
                }
                let parent = match memory.field(handler, fiber.handler_parent)? {
                    0 if is_main(memory, fiber, handler)? => return Some(Step::End),
                    0 => match cut() {
                        Some(parent) => parent,
                        None => return Some(Step::End),
                    },
                    parent => parent,
                };
                Self::of_fiber(memory, layout, fiber, first_frame, parent).map(Step::Chunk)
            }
        }
    }
}

/// Whether a fiber is the first one of its domain or thread: those have no effect handlers (`caml_alloc_main_stack`).
fn is_main(memory: &impl Memory, fiber: &Fiber, handler: Address) -> Option<bool> {
    Some(memory.field(handler, fiber.handler_effect)? == block::UNIT)
}

/// Parents of fibers that the runtime has cut off because C calls OCaml there, innermost first.
///
/// It keeps each in a continuation among the local roots (`caml_callback_exn` in 5.x's `runtime/callback.c`). Without
/// them a stack taken inside a callback ends at the innermost effect handler; that is where the runtime's own ends, too.
#[derive(Clone, Copy, Debug)]
pub struct CutParents<'a, M> {
    memory: &'a M,
    roots: Address,
    left: usize,
}

/// `struct caml__roots_block` (`runtime/caml/memory.h`): next, number of tables, items in each, up to five tables.
const ROOTS_TABLES: u64 = 8;
const ROOTS_ITEMS: u64 = 16;
const ROOTS_FIRST_TABLE: u64 = 24;
/// No program nests C's frames deeper than this; the list ends somewhere.
const MAX_ROOTS: usize = 4096;

impl<'a, M: Memory> CutParents<'a, M> {
    /// Those of the thread that runs with this state.
    pub fn new(memory: &'a M, layout: &Layout, state: Address) -> Option<Self> {
        let roots = memory.field(state, layout.state.local_roots)?;
        Some(Self { memory, roots, left: MAX_ROOTS })
    }

    /// The fiber kept by a block of roots, if it is a continuation's.
    fn parent(&self, roots: Address) -> Option<Address> {
        let memory = self.memory;
        if memory.field(roots, ROOTS_TABLES)? != 1 || memory.field(roots, ROOTS_ITEMS)? != 1 {
            return None;
        }
        let value = memory.u64(memory.field(roots, ROOTS_FIRST_TABLE)?)?;
        if value == 0 || !value.is_multiple_of(8) {
            return None;
        }
        if block::tag_of(memory.u64(value.checked_sub(8)?)?) != tag::CONTINUATION {
            return None;
        }
        // A fiber's address, marked as an integer; alone the mark says that the continuation was used up.
        let parent = memory.u64(value)? & !1;
        (parent != 0).then_some(parent)
    }
}

impl<M: Memory> Iterator for CutParents<'_, M> {
    type Item = Address;

    fn next(&mut self) -> Option<Address> {
        while self.roots != 0 {
            self.left = self.left.checked_sub(1)?;
            let roots = self.roots;
            self.roots = self.memory.u64(roots)?;
            if let Some(parent) = self.parent(roots) {
                return Some(parent);
            }
        }
        None
    }
}

/// Which [`Fiber::first_frame`] this runtime was built with: one word more with `--enable-frame-pointers` on amd64.
///
/// Told from a running fiber: only at the right distance there stands a return address that has a descriptor.
/// `None` where neither does, so ask again at the next sample.
pub fn first_frame(
    memory: &impl Memory,
    layout: &Layout,
    state: Address,
    has_descriptor: impl Fn(Address) -> bool,
) -> Option<u64> {
    let Stack::Multicore(fiber) = &layout.stack else { return Some(0) };
    [fiber.first_frame, fiber.first_frame_with_frame_pointers].into_iter().find(|&distance| {
        Position::innermost(memory, layout, distance, state)
            .is_some_and(|position| has_descriptor(position.return_address))
    })
}
