//! Stacks, frame by frame, with the values that each frame retains (`caml_do_local_roots_nat` in
//! 4.x's `runtime/roots_nat.c`, `caml_scan_stack` in 5.x's `runtime/fiber.c`).

use super::MAX_LIST_LEN;
use crate::frames::{Descriptor, FrameTable, Live};
use crate::layout::{Fiber, GenerationState, Layout, Stack};
use crate::memory::{Address, Memory};

/// Where a stack is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// OCaml 4: what the state or a thread saved when it left OCaml code.
    Single {
        /// Stack pointer.
        sp: Address,
        /// Where the code goes on.
        return_address: Address,
        /// Saved registers.
        registers: Address,
    },
    /// OCaml 5: the innermost fiber.
    Multicore {
        /// Its `stack_info`.
        fiber: Address,
        /// Saved registers.
        registers: Address,
    },
}

impl Top {
    /// The stack that runs with this state. The state must have been saved: C runs.
    pub fn of_state(memory: &impl Memory, layout: &Layout, state: Address) -> Option<Self> {
        let registers = memory.field(state, layout.state.gc_regs)?;
        Some(match &layout.state.generation {
            GenerationState::Single(fields) => Self::Single {
                sp: memory.field(state, fields.bottom_of_stack)?,
                return_address: memory.field(state, fields.last_return_address)?,
                registers,
            },
            GenerationState::Multicore(fields) => {
                Self::Multicore { fiber: memory.field(state, fields.current_stack)?, registers }
            }
        })
    }
}

/// What is met on the way from the innermost frame to the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A frame of OCaml code.
    Frame(Frame),
    /// OCaml 5: the end of a fiber.
    FiberEnd {
        /// Its number.
        id: u64,
        /// Addresses of its three handlers, which are values.
        handlers: [Address; 3],
    },
    /// The frame table does not know this return address: the rest of the stack is lost.
    Unknown(Address),
}

/// A frame and where its values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Stack pointer after the return.
    pub sp: Address,
    /// What the compiler says of it.
    pub descriptor: Descriptor,
    /// Registers that were saved below.
    registers: Address,
}

impl Frame {
    /// Addresses of the values that are alive in this frame.
    pub fn slots<'a, M: Memory>(
        &self,
        memory: &'a M,
    ) -> impl Iterator<Item = Address> + use<'a, M> {
        let (sp, registers) = (self.sp, self.registers);
        self.descriptor.live(memory).filter_map(move |live| match live {
            Live::Stack(offset) => sp.checked_add(offset),
            Live::Register(number) => registers.checked_add(8 * number),
        })
    }
}

/// Walks stacks of one runtime.
#[derive(Clone, Copy, Debug)]
pub struct Walker<'a, M> {
    /// The memory.
    pub memory: &'a M,
    /// The runtime's layout.
    pub layout: &'a Layout,
    /// Its frame table.
    pub table: FrameTable,
    /// OCaml 5: distance of a chunk's first frame (see [`crate::stack::first_frame`]).
    pub first_frame: u64,
}

impl<M: Memory> Walker<'_, M> {
    /// Calls `each` with all that is met from the top of a stack to its end.
    pub fn walk(&self, top: Top, mut each: impl FnMut(Met)) -> Option<()> {
        match (top, &self.layout.stack) {
            (Top::Single { sp, return_address, registers }, Stack::Single(_)) => {
                self.chunks(sp, return_address, registers, &mut each)
            }
            (Top::Multicore { fiber, registers }, Stack::Multicore(fields)) => {
                self.fibers(fields, fiber, registers, &mut each)
            }
            _ => None,
        }
    }

    fn chunks(
        &self,
        mut sp: Address,
        mut return_address: Address,
        mut registers: Address,
        each: &mut impl FnMut(Met),
    ) -> Option<()> {
        let Stack::Single(context) = &self.layout.stack else { return None };
        for _ in 0..MAX_LIST_LEN {
            if sp == 0 {
                return Some(());
            }
            sp = self.frames(sp, return_address, registers, each)?;
            let link = sp.checked_add(context.link)?;
            sp = self.memory.field(link, context.bottom_of_stack)?;
            return_address = self.memory.field(link, context.last_return_address)?;
            registers = self.memory.field(link, context.gc_regs)?;
        }
        None
    }

    fn fibers(
        &self,
        fields: &Fiber,
        mut fiber: Address,
        mut registers: Address,
        each: &mut impl FnMut(Met),
    ) -> Option<()> {
        for _ in 0..MAX_LIST_LEN {
            if fiber == 0 {
                return Some(());
            }
            let handler = self.memory.field(fiber, fields.handler)?;
            let mut sp = self.memory.field(fiber, fields.sp)?;
            for _ in 0..MAX_LIST_LEN {
                if sp == handler {
                    break;
                }
                let first = sp.checked_add(self.first_frame)?;
                let return_address = self.return_address(first)?;
                let end = self.frames(first, return_address, registers, each)?;
                registers = self.memory.field(end, fields.chunk_gc_regs)?;
                sp = end.checked_add(fields.chunk_header)?;
            }
            let places = [fields.handler_value, fields.handler_exception, fields.handler_effect];
            each(Met::FiberEnd {
                id: self.memory.field(fiber, fields.id)?,
                handlers: places.map(|place| handler.saturating_add(place)),
            });
            fiber = self.memory.field(handler, fields.handler_parent)?;
        }
        None
    }

    /// The frames of one chunk; gives the stack pointer at the return to C that ends it.
    fn frames(
        &self,
        mut sp: Address,
        mut return_address: Address,
        registers: Address,
        each: &mut impl FnMut(Met),
    ) -> Option<Address> {
        for _ in 0..MAX_LIST_LEN {
            let Some(descriptor) = self.table.find(self.memory, return_address) else {
                each(Met::Unknown(return_address));
                return None;
            };
            let Some(size) = descriptor.frame_size() else { return Some(sp) };
            each(Met::Frame(Frame { sp, descriptor, registers }));
            sp = sp.checked_add(size)?;
            return_address = self.return_address(sp)?;
        }
        None
    }

    fn return_address(&self, sp: Address) -> Option<Address> {
        self.memory.u64(sp.checked_add_signed(self.layout.saved_return_address)?)
    }
}
