//! What registers and stack slots have while a unit's entry code is followed.

use super::instruction::Register;
use crate::memory::Address;

/// The lines where a value is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// C string: the source file.
    pub file: Address,
    /// The first line.
    pub first: u32,
    /// The column in that line.
    pub column: u32,
    /// The last line, another one if the value is made in one of several places.
    pub last: u32,
}

/// A value, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Unknown,
    /// This address, or constant.
    Address(Address),
    /// So many bytes above the stack pointer that the function began with.
    Frame(i64),
    /// What a call or an expression gave, by its number.
    Made(usize),
    /// So many bytes above the pointer of the minor heap behind this allocation.
    Allocated(Allocation, i64),
    /// What was stored in a variable before.
    Variable(Address),
}

/// Blocks that were allocated at once, by the number of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allocation(pub(super) usize);

/// A result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// None if its code has none: the compiler made the call, as for a class.
    pub(super) lines: Option<Lines>,
    /// Whether a variable has it: what is read of it or stored again is none of the variable's own.
    pub(super) is_stored: bool,
}

/// So many stack slots are known at most; of others it is not known what they have.
const MAX_SLOTS: usize = 64;
const REGISTERS: usize = 16;

/// Registers and stack slots at one place in the code.
#[derive(Clone, Debug)]
pub(super) struct State {
    registers: [Value; REGISTERS],
    slots: Vec<(i64, Value)>,
}

impl State {
    /// That of which nothing is known.
    pub(super) const fn unknown() -> Self {
        Self { registers: [Value::Unknown; REGISTERS], slots: Vec::new() }
    }

    /// That at the start of a function.
    pub(super) fn at_start() -> Self {
        let mut state = Self::unknown();
        state.set(Register::RSP, Value::Frame(0));
        state
    }

    pub(super) fn get(&self, register: Register) -> Value {
        self.registers.get(usize::from(register.0)).copied().unwrap_or(Value::Unknown)
    }

    pub(super) fn set(&mut self, register: Register, value: Value) {
        if let Some(known) = self.registers.get_mut(usize::from(register.0)) {
            *known = value;
        }
    }

    /// What the slot at an offset has.
    pub(super) fn slot(&self, offset: i64) -> Value {
        let known = self.slots.iter().find(|(known, _)| *known == offset);
        known.map_or(Value::Unknown, |(_, value)| *value)
    }

    pub(super) fn set_slot(&mut self, offset: i64, value: Value) {
        self.slots.retain(|(known, _)| *known != offset);
        if value != Value::Unknown {
            if self.slots.len() == MAX_SLOTS {
                self.slots.remove(0);
            }
            self.slots.push((offset, value));
        }
    }

    /// Forgets all registers but those that `keep` has a bit for.
    pub(super) fn keep(&mut self, keep: u16) {
        for (number, value) in self.registers.iter_mut().enumerate() {
            if keep >> number & 1 == 0 {
                *value = Value::Unknown;
            }
        }
    }

    /// What is known of both, where two ways meet.
    pub(super) fn meet(&mut self, other: &Self, mut meet: impl FnMut(Value, Value) -> Value) {
        for (own, other) in self.registers.iter_mut().zip(other.registers) {
            *own = meet(*own, other);
        }
        for (offset, value) in &mut self.slots {
            *value = meet(*value, other.slot(*offset));
        }
        self.slots.retain(|(_, value)| *value != Value::Unknown);
    }
}
