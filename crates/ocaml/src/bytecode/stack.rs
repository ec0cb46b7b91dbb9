//! Stacks of the bytecode interpreter (`runtime/interp.c`, `runtime/caml/stacks.h`, `runtime/caml/fiber.h`).

use crate::heap::Extent;
use crate::layout::{Layout, Stack};
use crate::memory::{Address, Memory};
use crate::symbols::bytecode as names;

/// Fields of OCaml 4's `Caml_state`, from 4.12 on.
const STACK_LOW: u64 = 136;
const STACK_HIGH: u64 = 144;
const EXTERN_SP: u64 = 160;
/// Fields of OCaml 4's `struct caml_thread_struct`.
const THREAD_HIGH: u64 = 32;
const THREAD_SP: u64 = 48;

/// Words that a call pushes: return address, environment, number of further arguments.
pub const FRAME_WORDS: u64 = 3;

/// True if the word after a code address is of an exception handler, which `PUSHTRAP` pushes. It is the link to the handler
/// before: an address in the stack, or a distance as an integer. After a return address is an environment, a block.
pub const fn is_handler(stack: Extent, next: u64) -> bool {
    let in_stack = next >= stack.start && next <= stack.start.saturating_add(stack.bytes);
    next & 1 == 1 || in_stack
}

/// The program's code in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// First instruction.
    pub start: Address,
    /// Bytes of all instructions.
    pub bytes: u64,
}

impl Code {
    /// Reads the runtime's variables, whose addresses `variable` returns.
    pub fn find(memory: &impl Memory, variable: impl Fn(&str) -> Option<Address>) -> Option<Self> {
        let start = memory.u64(variable(names::CODE)?).filter(|start| *start != 0)?;
        let bytes = memory.u64(variable(names::CODE_BYTES)?)?;
        start.checked_add(bytes)?;
        Some(Self { start, bytes })
    }

    /// The position of an address in the code. A return address may be at its end.
    pub fn position(&self, address: Address) -> Option<u64> {
        let position = address.checked_sub(self.start)?;
        (position <= self.bytes && position.is_multiple_of(4)).then_some(position)
    }
}

/// OCaml 4: the words on the stack of the thread that runs.
pub fn of_state(memory: &impl Memory, state: Address) -> Option<Extent> {
    Extent::between(memory.field(state, EXTERN_SP)?, memory.field(state, STACK_HIGH)?)
}

/// OCaml 4: all words of that stack, those below the stack pointer included.
pub fn whole(memory: &impl Memory, state: Address) -> Option<Extent> {
    Extent::between(memory.field(state, STACK_LOW)?, memory.field(state, STACK_HIGH)?)
}

/// OCaml 4: address of the variable that has the stack pointer where the interpreter called C.
pub const fn pointer_of_state(state: Address) -> Address {
    state.saturating_add(EXTERN_SP)
}

/// OCaml 4: the words on the stack of a thread that waits, from its `caml_thread_struct`.
pub fn of_thread(memory: &impl Memory, thread: Address) -> Option<Extent> {
    Extent::between(memory.field(thread, THREAD_SP)?, memory.field(thread, THREAD_HIGH)?)
}

/// A fiber of OCaml 5: its words, its number, and three values that handle effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiberStack {
    /// The words on its stack.
    pub words: Extent,
    /// A number that is not reused.
    pub id: u64,
    /// Addresses of values.
    pub handlers: [Address; 3],
    /// The fiber that it returns to; 0 if none.
    pub parent: Address,
}

/// OCaml 5: reads a fiber.
pub fn fiber(memory: &impl Memory, layout: &Layout, at: Address) -> Option<FiberStack> {
    let Stack::Multicore(fields) = &layout.stack else { return None };
    let handler = memory.field(at, fields.handler)?;
    let handlers = [fields.handler_value, fields.handler_exception, fields.handler_effect];
    Some(FiberStack {
        words: Extent::between(memory.field(at, fields.sp)?, handler)?,
        id: memory.field(at, fields.id)?,
        handlers: handlers.map(|field| handler.saturating_add(field)),
        parent: memory.field(handler, fields.handler_parent)?,
    })
}

/// OCaml 5: addresses of a fiber's stack pointer and of the end of its stack.
pub fn ends_of_fiber(
    memory: &impl Memory,
    layout: &Layout,
    at: Address,
) -> Option<(Address, Address)> {
    let Stack::Multicore(fields) = &layout.stack else { return None };
    Some((at.checked_add(fields.sp)?, memory.field(at, fields.handler)?))
}
