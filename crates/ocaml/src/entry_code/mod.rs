//! Where a unit's global variables are defined, by its entry code.
//!
//! That code computes the values of all of the unit's variables in the order of the source. A value that a call gives has
//! the place of the call, one that is allocated there that of its expression: both are in frame descriptors. The code then
//! stores it in a field of the module's block, with flambda in a block of its own that has a symbol. So the code is
//! followed once, from its start to its end, and each register and stack slot has the place where its value was made.
//!
//! Where ways meet, a value has the lines of both; behind a jump backwards and where an exception is handled, nothing is known.
//! A value that a variable had before has no place here: `let b = a` is another line than that of `a`.

mod instruction;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use instruction::{Instruction, Operation, Place, Register, Source, decode};
use values::{Allocation, Made, State, Value};

use crate::debuginfo::{Packing, locations};
use crate::frames::{Descriptor, FrameTable};
use crate::memory::{Address, Memory};
use crate::own_name::{Origin, own_name};

pub use values::Lines;

/// What a variable is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A value that is made in these lines.
    Made(Lines),
    /// A value that is made here, but has no lines, such as a class. Closures and constants, which are static data, are not
    /// among these: the code stores them in another order.
    Unplaced,
    /// What another variable of the unit was given.
    Same(Address),
    /// Another value.
    Unknown,
}

/// A unit's entry code, and what surrounds it.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its symbol.
    pub symbol: &'a [u8],
    /// The code.
    pub code: &'a [u8],
    /// Where it begins.
    pub start: Address,
    /// The unit's static data.
    pub data: Range<Address>,
    /// The runtime's function that stores a value for the first time.
    pub initialize: Option<Address>,
}

/// Code that is longer is followed so far.
const MAX_CODE_LEN: usize = 1 << 24;
const MAX_NAME_LEN: usize = 512;
/// Code with more jumps forward at a time is followed so far; a state is kept for each.
const MAX_PENDING: usize = 4096;
/// Registers that functions of C leave as they are: `rbx`, `rbp`, `r12` to `r15`. The stack pointer is where it was.
const KEPT_BY_C: u16 = 1 << 3 | 1 << 5 | 0xF000 | 1 << 4;
/// Registers that a call of the collector leaves as they are.
const KEPT_BY_COLLECTOR: u16 = 0x7FFF;
const KEPT_BY_OCAML: u16 = 1 << 4;
/// The first and second argument of functions of C.
const RDI: Register = Register(7);
const RSI: Register = Register(6);

/// What variables are given, in the order in which the code stores it. `stored` reads an address from the
/// dynamic linker's table, if a place in memory is in one.
pub fn definitions(
    memory: &impl Memory,
    packing: Packing,
    table: FrameTable,
    entry: &Entry<'_>,
    stored: impl Fn(Address) -> Option<Address>,
) -> Vec<(Address, Definition)> {
    let code = entry.code.get(..entry.code.len().min(MAX_CODE_LEN)).unwrap_or_default();
    let mut follow = Follow {
        memory,
        packing,
        table,
        entry,
        stored,
        state: State::at_start(),
        made: Vec::new(),
        allocations: Vec::new(),
        found: Vec::new(),
        variables: BTreeMap::new(),
    };
    follow.run(code);
    follow.found
}

struct Follow<'a, M, S> {
    memory: &'a M,
    packing: Packing,
    table: FrameTable,
    entry: &'a Entry<'a>,
    stored: S,
    state: State,
    made: Vec<Made>,
    /// For each allocation its blocks, from the lowest on: bytes, and the place where each is made.
    allocations: Vec<Vec<(i64, Value)>>,
    found: Vec<(Address, Definition)>,
    /// Places of variables among those found.
    variables: BTreeMap<Address, usize>,
}

impl<M: Memory, S: Fn(Address) -> Option<Address>> Follow<'_, M, S> {
    fn run(&mut self, code: &[u8]) {
        let loops = self.loops(code);
        let mut pending: BTreeMap<Address, State> = BTreeMap::new();
        let mut is_reached = true;
        let mut place = 0;
        while let Some(rest) = code.get(place..).filter(|rest| !rest.is_empty()) {
            let at = self.entry.start.saturating_add(place as u64);
            if let Some(other) = pending.remove(&at) {
                if is_reached {
                    let mut state = std::mem::replace(&mut self.state, State::unknown());
                    state.meet(&other, |one, other| self.meet(one, other));
                    self.state = state;
                } else {
                    self.state = other;
                }
            } else if !is_reached {
                self.state = State::unknown();
            }
            if loops.contains(&at) {
                let stack = self.state.get(Register::RSP);
                self.state = State::unknown();
                self.state.set(Register::RSP, stack);
            }
            let Some(Instruction { length, operation }) = decode(rest, at) else { return };
            place += length;
            let next = at.saturating_add(length as u64);
            is_reached = !matches!(operation, Operation::End | Operation::Jump(_));
            if pending.len() > MAX_PENDING {
                return;
            }
            match operation {
                Operation::Jump(Some(target)) | Operation::Branch(target) if target > at => {
                    match pending.remove(&target) {
                        Some(mut other) => {
                            other.meet(&self.state.clone(), |one, other| self.meet(one, other));
                            pending.insert(target, other);
                        }
                        None => drop(pending.insert(target, self.state.clone())),
                    }
                    if let Operation::Branch(target) = operation {
                        self.collected_at(code, target);
                    }
                }
                Operation::Call(target) => self.call(target, next),
                other => self.step(other),
            }
        }
    }

    /// Where jumps backwards go to, except for those of the collector's calls that are behind all other code.
    fn loops(&self, code: &[u8]) -> BTreeSet<Address> {
        let mut loops = BTreeSet::new();
        let (mut place, mut is_collected) = (0, false);
        while let Some(rest) = code.get(place..).filter(|rest| !rest.is_empty()) {
            let at = self.entry.start.saturating_add(place as u64);
            let Some(Instruction { length, operation }) = decode(rest, at) else { break };
            if let Operation::Jump(Some(target)) | Operation::Branch(target) = operation
                && target <= at
                && !is_collected
            {
                loops.insert(target);
            }
            place += length;
            is_collected = matches!(operation, Operation::Call(_))
                && self.allocates(at.saturating_add(length as u64)).is_some();
        }
        loops
    }

    /// The descriptor of a return address, if blocks are allocated there.
    fn allocates(&self, return_address: Address) -> Option<(Descriptor, u8)> {
        let descriptor = self.table.find(self.memory, return_address)?;
        let count = descriptor.allocations(self.memory)?;
        Some((descriptor, count))
    }

    /// A branch to a call of the collector is taken where the minor heap is full. What is allocated is known by that call.
    fn collected_at(&mut self, code: &[u8], target: Address) {
        let place = target.checked_sub(self.entry.start).and_then(|at| usize::try_from(at).ok());
        let Some(rest) = place.and_then(|place| code.get(place..)) else { return };
        let call = decode(rest, target);
        if let Some(Instruction { length, operation: Operation::Call(_) }) = call {
            self.allocate(target.saturating_add(length as u64));
        }
    }

    /// Notes what is allocated at a return address, if it is one where that is done.
    fn allocate(&mut self, return_address: Address) -> bool {
        let Some((descriptor, count)) = self.allocates(return_address) else { return false };
        if count == 0 {
            return true;
        }
        let mut blocks = Vec::with_capacity(usize::from(count));
        // The first is the lowest: it is the one that the code makes last.
        for index in 0..count {
            let words = descriptor.allocation_wosize(self.memory, index).unwrap_or(0) + 1;
            let debuginfo = descriptor.debuginfo_of_allocation(self.memory, index);
            // Blocks of modules may have none.
            let lines = self.lines(debuginfo);
            let value = lines.map_or(Value::Unknown, |lines| self.made(Some(lines)));
            blocks.push((8 * words as i64, value));
        }
        self.allocations.push(blocks);
        let allocation = Allocation(self.allocations.len() - 1);
        self.state.set(Register::R15, Value::Allocated(allocation, 0));
        true
    }

    /// The lines of a place.
    fn lines(&self, debuginfo: Option<Address>) -> Option<Lines> {
        // The outermost of the functions inlined into each other is the unit's own code.
        let place = locations(self.memory, self.packing, debuginfo?).last();
        let at = place.filter(|at| at.line > 0)?;
        // Functions of other units are inlined without the place of the call where the compiler made that, as for a class.
        let mut text = [0; MAX_NAME_LEN];
        let name = self.memory.c_string(at.function, &mut text)?;
        let (origin, _) = own_name(self.entry.symbol, name);
        if matches!(origin, Origin::Copied | Origin::Other) {
            return None;
        }
        Some(Lines { file: at.file, first: at.line, column: at.start_column, last: at.line })
    }

    fn made(&mut self, lines: Option<Lines>) -> Value {
        self.made.push(Made { lines, is_stored: false });
        Value::Made(self.made.len() - 1)
    }

    fn call(&mut self, target: Option<Address>, return_address: Address) {
        if target.is_some() && target == self.entry.initialize {
            if let Value::Address(slot) = self.state.get(RDI) {
                self.define(slot, self.state.get(RSI));
            }
            return self.state.keep(KEPT_BY_C);
        }
        if self.allocate(return_address) {
            return self.state.keep(KEPT_BY_COLLECTOR | 1 << Register::R15.0);
        }
        let Some(descriptor) = self.table.find(self.memory, return_address) else {
            return self.state.keep(KEPT_BY_C);
        };
        self.state.keep(KEPT_BY_OCAML);
        let lines = self.lines(descriptor.debuginfo(self.memory));
        let result = self.made(lines);
        self.state.set(Register::RAX, result);
    }

    fn address(&self, place: Place) -> Value {
        match place {
            Place::Fixed(address) => Value::Address(address),
            Place::Based(register, offset) => add(self.state.get(register), offset),
            Place::Other => Value::Unknown,
        }
    }

    fn source(&self, source: Source) -> Value {
        match source {
            Source::Register(register) => self.state.get(register),
            Source::Constant(constant) => Value::Address(constant.cast_unsigned()),
        }
    }

    fn step(&mut self, operation: Operation) {
        match operation {
            Operation::Copy(to, source) => self.state.set(to, self.source(source)),
            Operation::Take(to, place) => self.state.set(to, self.address(place)),
            Operation::Add(to, offset) => self.state.set(to, add(self.state.get(to), offset)),
            Operation::Load(to, place) => {
                let value = self.load(place);
                self.state.set(to, value);
            }
            Operation::Store(place, source) => match self.address(place) {
                Value::Frame(offset) => self.state.set_slot(offset, self.source(source)),
                Value::Address(slot) => self.define(slot, self.source(source)),
                _ => {}
            },
            Operation::Push(source) => {
                let value = self.source(source);
                self.step(Operation::Add(Register::RSP, -8));
                self.step_slot(value);
            }
            Operation::Pop(to) => {
                let value = self.load(Place::Based(Register::RSP, 0));
                self.step(Operation::Add(Register::RSP, 8));
                self.state.set(to, value);
            }
            Operation::Change(registers, place) => {
                if let Some(Value::Frame(offset)) = place.map(|place| self.address(place)) {
                    self.state.set_slot(offset, Value::Unknown);
                }
                self.state.keep(!registers);
            }
            Operation::Nothing
            | Operation::Call(_)
            | Operation::Jump(_)
            | Operation::Branch(_)
            | Operation::End => {}
        }
    }

    fn step_slot(&mut self, value: Value) {
        if let Value::Frame(offset) = self.state.get(Register::RSP) {
            self.state.set_slot(offset, value);
        }
    }

    fn load(&mut self, place: Place) -> Value {
        match self.address(place) {
            Value::Frame(offset) => self.state.slot(offset),
            Value::Address(at) if self.variables.contains_key(&at) => Value::Variable(at),
            Value::Address(at) => match place {
                Place::Fixed(_) => (self.stored)(at).map_or(Value::Unknown, Value::Address),
                _ => Value::Unknown,
            },
            // A field of a result: part of a tuple, or what a functor's application defines.
            Value::Unknown => {
                let Place::Based(register, _) = place else { return Value::Unknown };
                let Value::Made(of) = self.state.get(register) else { return Value::Unknown };
                match self.made.get(of).filter(|made| !made.is_stored) {
                    Some(made) => self.made(made.lines),
                    None => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// What one of two values is.
    fn meet(&mut self, one: Value, other: Value) -> Value {
        if one == other {
            return one;
        }
        let number = |value| match value {
            Value::Made(number) => Some(number),
            Value::Allocated(allocation, at) => self.block(allocation, at),
            _ => None,
        };
        let made = |value| self.made.get(number(value)?).filter(|made| !made.is_stored);
        let (Some(one), Some(other)) = (made(one), made(other)) else { return Value::Unknown };
        let (Some(one), Some(other)) = (one.lines, other.lines) else { return Value::Unknown };
        match both(one, other) {
            Some(lines) => self.made(Some(lines)),
            None => Value::Unknown,
        }
    }

    /// The number of the block that an address within an allocation is of.
    fn block(&self, allocation: Allocation, at: i64) -> Option<usize> {
        let mut start = 0;
        for (bytes, value) in self.allocations.get(allocation.0)? {
            let end = start + bytes;
            if start < at && at < end {
                return match value {
                    Value::Made(number) => Some(*number),
                    _ => None,
                };
            }
            start = end;
        }
        None
    }

    /// Notes that a value is stored.
    fn define(&mut self, slot: Address, value: Value) {
        if !self.entry.data.contains(&slot) {
            return;
        }
        let number = match value {
            Value::Made(number) => Some(number),
            Value::Allocated(allocation, at) => self.block(allocation, at),
            _ => None,
        };
        let definition = match (number.and_then(|number| self.made.get_mut(number)), value) {
            (Some(made), _) if !made.is_stored => {
                made.is_stored = true;
                made.lines.map_or(Definition::Unplaced, Definition::Made)
            }
            (None, Value::Variable(variable)) => Definition::Same(variable),
            _ => Definition::Unknown,
        };
        let Some(known) = self.variables.get(&slot).and_then(|at| self.found.get_mut(*at)) else {
            self.variables.insert(slot, self.found.len());
            return self.found.push((slot, definition));
        };
        // In several branches.
        known.1 = match (known.1, definition) {
            (Definition::Made(one), Definition::Made(other)) => {
                both(one, other).map_or(Definition::Unknown, Definition::Made)
            }
            (one, other) if one == other => one,
            _ => Definition::Unknown,
        };
    }
}

/// What a value and a constant are together.
fn add(value: Value, offset: i64) -> Value {
    match value {
        Value::Address(address) => Value::Address(address.wrapping_add_signed(offset)),
        Value::Frame(at) => Value::Frame(at.wrapping_add(offset)),
        Value::Allocated(allocation, at) => Value::Allocated(allocation, at.wrapping_add(offset)),
        _ => Value::Unknown,
    }
}

/// The lines of both, in the same file.
fn both(one: Lines, other: Lines) -> Option<Lines> {
    if one.file != other.file {
        return None;
    }
    let first = if (other.first, other.column) < (one.first, one.column) { other } else { one };
    Some(Lines { last: one.last.max(other.last), ..first })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            crate::fuzz::entry_code(&bytes);
        }
    }
}
