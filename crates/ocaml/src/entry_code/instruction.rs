//! Instructions of amd64, as far as values are followed through them: how long they are, and what they move.
//!
//! Only the forms that OCaml's compiler emits have a meaning of their own (`asmcomp/amd64/emit.mlp`). Of others it is known
//! which registers they may change; code with instructions that are not known is not followed any further.

use crate::memory::Address;

/// A general register, by its number in machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(pub(super) u8);

impl Register {
    pub(super) const RAX: Self = Self(0);
    pub(super) const RDX: Self = Self(2);
    pub(super) const RSP: Self = Self(4);
    /// The pointer of the minor heap.
    pub(super) const R15: Self = Self(15);
}

/// A place in memory that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A fixed one.
    Fixed(Address),
    /// So many bytes behind what a register has.
    Based(Register, i64),
    /// Another one.
    Other,
}

/// What is stored or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Register(Register),
    Constant(i64),
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Nothing to values.
    Nothing,
    /// Moves a word between registers, or a constant into one.
    Copy(Register, Source),
    /// Takes an address.
    Take(Register, Place),
    Load(Register, Place),
    Store(Place, Source),
    /// Adds a constant.
    Add(Register, i64),
    Push(Source),
    Pop(Register),
    /// Calls this code, or some other.
    Call(Option<Address>),
    Jump(Option<Address>),
    /// Jumps there, or goes on.
    Branch(Address),
    /// Does not go on.
    End,
    /// Changes these registers, a bit for each, and a place in memory.
    Change(u16, Option<Place>),
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) length: usize,
    pub(super) operation: Operation,
}

/// The operand that a `ModRM` byte gives besides a register.
#[derive(Clone, Copy)]
enum Operand {
    Register(Register),
    Memory(Place),
}

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
    start: Address,
    rex: u8,
}

impl Reader<'_> {
    fn u8(&mut self) -> Option<u8> {
        let byte = *self.code.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn i8(&mut self) -> Option<i64> {
        Some(i64::from(self.u8()?.cast_signed()))
    }

    fn i32(&mut self) -> Option<i64> {
        let bytes = self.code.get(self.at..)?.first_chunk()?;
        self.at += 4;
        Some(i64::from(i32::from_le_bytes(*bytes)))
    }

    fn i64(&mut self) -> Option<i64> {
        let bytes = self.code.get(self.at..)?.first_chunk()?;
        self.at += 8;
        Some(i64::from_le_bytes(*bytes))
    }

    /// The address that a distance from the end of the instruction gives.
    fn target(&self, distance: i64, behind: usize) -> Option<Address> {
        let end = self.start.checked_add(self.at as u64 + behind as u64)?;
        end.checked_add_signed(distance)
    }

    const fn is_wide(&self) -> bool {
        self.rex & 8 != 0
    }

    /// The register and the other operand; `behind` are the bytes of a constant that follows.
    fn operands(&mut self, behind: usize) -> Option<(Register, Operand)> {
        let form = self.u8()?;
        let register = Register(form >> 3 & 7 | (self.rex & 4) << 1);
        let low = form & 7;
        if form >> 6 == 3 {
            return Some((register, Operand::Register(Register(low | (self.rex & 1) << 3))));
        }
        let mut base = Some(Register(low | (self.rex & 1) << 3));
        let mut has_index = false;
        if low == 4 {
            let index = self.u8()?;
            has_index = index >> 3 & 7 | (self.rex & 2) << 2 != 4;
            base = Some(Register(index & 7 | (self.rex & 1) << 3));
            if index & 7 == 5 && form >> 6 == 0 {
                base = None;
            }
        } else if low == 5 && form >> 6 == 0 {
            let distance = self.i32()?;
            let target = self.target(distance, behind);
            return Some((register, Operand::Memory(target.map_or(Place::Other, Place::Fixed))));
        }
        let displacement = match form >> 6 {
            1 => self.i8()?,
            2 => self.i32()?,
            _ if base.is_none() => self.i32()?,
            _ => 0,
        };
        let place = match base {
            Some(base) if !has_index => Place::Based(base, displacement),
            _ => Place::Other,
        };
        Some((register, Operand::Memory(place)))
    }
}

/// The instruction that `code` begins with, which is at `start`.
pub(super) fn decode(code: &[u8], start: Address) -> Option<Instruction> {
    let mut reader = Reader { code, at: 0, start, rex: 0 };
    let mut is_short = false;
    let opcode = loop {
        match reader.u8()? {
            0x66 => is_short = true,
            0xF2 | 0xF3 | 0xF0 | 0x2E | 0x3E | 0x64 | 0x65 => {}
            rex @ 0x40..=0x4F => {
                reader.rex = rex;
                break reader.u8()?;
            }
            opcode => break opcode,
        }
    };
    let operation = if opcode == 0x0F {
        two_bytes(&mut reader)?
    } else {
        one_byte(&mut reader, opcode, is_short)?
    };
    Some(Instruction { length: reader.at, operation })
}

/// What is changed by an instruction of which only that is known.
fn change((register, operand): (Register, Operand)) -> Operation {
    // Some change `rax` and `rdx`, too.
    let fixed = bit(Register::RAX) | bit(Register::RDX);
    match operand {
        Operand::Register(other) => Operation::Change(fixed | bit(register) | bit(other), None),
        Operand::Memory(place) => Operation::Change(fixed | bit(register), Some(place)),
    }
}

const fn bit(register: Register) -> u16 {
    1 << (register.0 & 15)
}

/// Changes one operand, and nothing else.
fn change_one(operand: Operand) -> Operation {
    match operand {
        Operand::Register(register) => Operation::Change(bit(register), None),
        Operand::Memory(place) => Operation::Change(0, Some(place)),
    }
}

fn one_byte(reader: &mut Reader<'_>, opcode: u8, is_short: bool) -> Option<Operation> {
    let low = Register(opcode & 7 | (reader.rex & 1) << 3);
    Some(match opcode {
        // cmp, test
        0x38..=0x3B | 0x84 | 0x85 => reader.operands(0).map(|_| Operation::Nothing)?,
        0x3C | 0xA8 => reader.i8().map(|_| Operation::Nothing)?,
        0x3D | 0xA9 => reader.i32().map(|_| Operation::Nothing)?,
        // Arithmetic: into an operand, into a register, into `rax`.
        0x00..=0x37 if opcode & 7 < 2 => change_one(reader.operands(0)?.1),
        0x00..=0x37 if opcode & 7 < 4 => Operation::Change(bit(reader.operands(0)?.0), None),
        0x00..=0x37 if opcode & 7 == 4 => {
            reader.i8()?;
            Operation::Change(bit(Register::RAX), None)
        }
        0x00..=0x37 if opcode & 7 == 5 => {
            reader.i32()?;
            Operation::Change(bit(Register::RAX), None)
        }
        0x50..=0x57 => Operation::Push(Source::Register(low)),
        0x58..=0x5F => Operation::Pop(low),
        0x63 | 0x8A => Operation::Change(bit(reader.operands(0)?.0), None),
        0x68 => Operation::Push(Source::Constant(reader.i32()?)),
        0x6A => Operation::Push(Source::Constant(reader.i8()?)),
        0x69 | 0x6B => {
            let (register, _) = reader.operands(if opcode == 0x69 { 4 } else { 1 })?;
            if opcode == 0x69 {
                reader.i32()?
            } else {
                reader.i8()?
            };
            Operation::Change(bit(register), None)
        }
        0x70..=0x7F => {
            let distance = reader.i8()?;
            Operation::Branch(reader.target(distance, 0)?)
        }
        0x80 | 0x81 | 0x83 => {
            if is_short && opcode == 0x81 {
                return None;
            }
            let (which, operand) = reader.operands(if opcode == 0x81 { 4 } else { 1 })?;
            let constant = if opcode == 0x81 { reader.i32()? } else { reader.i8()? };
            match (which.0 & 7, operand) {
                (0, Operand::Register(to)) if reader.is_wide() => Operation::Add(to, constant),
                (5, Operand::Register(to)) if reader.is_wide() => {
                    Operation::Add(to, constant.checked_neg()?)
                }
                (7, _) => Operation::Nothing,
                _ => change_one(operand),
            }
        }
        0x86 | 0x87 => change(reader.operands(0)?),
        0x89 => match reader.operands(0)? {
            (from, Operand::Register(to)) if reader.is_wide() => {
                Operation::Copy(to, Source::Register(from))
            }
            (from, Operand::Memory(place)) if reader.is_wide() => {
                Operation::Store(place, Source::Register(from))
            }
            (_, operand) => change_one(operand),
        },
        0x8B => match reader.operands(0)? {
            (to, Operand::Register(from)) if reader.is_wide() => {
                Operation::Copy(to, Source::Register(from))
            }
            (to, Operand::Memory(place)) if reader.is_wide() => Operation::Load(to, place),
            (to, _) => Operation::Change(bit(to), None),
        },
        0x8D => match reader.operands(0)? {
            (to, Operand::Memory(place)) if reader.is_wide() => Operation::Take(to, place),
            (to, _) => Operation::Change(bit(to), None),
        },
        // The place may be relative to a stack pointer that has moved.
        0x8F => match reader.operands(0)?.1 {
            Operand::Register(to) => Operation::Pop(to),
            Operand::Memory(_) => Operation::Add(Register::RSP, 8),
        },
        0x90 => Operation::Nothing,
        0x91..=0x97 => Operation::Change(bit(Register::RAX) | bit(low), None),
        0x98 | 0x99 => Operation::Change(bit(Register::RAX) | bit(Register::RDX), None),
        0xB0..=0xB7 => {
            reader.u8()?;
            Operation::Change(bit(low), None)
        }
        0xB8..=0xBF => {
            let constant =
                if reader.is_wide() { reader.i64()? } else { reader.i32()? & 0xFFFF_FFFF };
            Operation::Copy(low, Source::Constant(constant))
        }
        0xC0 | 0xC1 | 0xC6 => {
            let (_, operand) = reader.operands(1)?;
            reader.u8()?;
            change_one(operand)
        }
        0xC3 | 0xF4 => Operation::End,
        0xC7 => {
            if is_short {
                return None;
            }
            let (_, operand) = reader.operands(4)?;
            let constant = Source::Constant(reader.i32()?);
            match operand {
                Operand::Register(to) if reader.is_wide() => Operation::Copy(to, constant),
                Operand::Memory(place) if reader.is_wide() => Operation::Store(place, constant),
                _ => change_one(operand),
            }
        }
        0x88 | 0xD0..=0xD3 => change_one(reader.operands(0)?.1),
        0xE8 => {
            let distance = reader.i32()?;
            Operation::Call(reader.target(distance, 0))
        }
        0xE9 => {
            let distance = reader.i32()?;
            Operation::Jump(reader.target(distance, 0))
        }
        0xEB => {
            let distance = reader.i8()?;
            Operation::Jump(reader.target(distance, 0))
        }
        0xF6 | 0xF7 => {
            let tests = reader.code.get(reader.at)? & 0x30 == 0;
            let behind = match (tests, opcode) {
                (false, _) => 0,
                (true, 0xF6) => 1,
                (true, _) => 4,
            };
            let operands = reader.operands(behind)?;
            reader.code.get(reader.at..)?.get(..behind)?;
            reader.at += behind;
            if tests { Operation::Nothing } else { change(operands) }
        }
        0xFE | 0xFF => {
            let (which, operand) = reader.operands(0)?;
            match which.0 & 7 {
                0 | 1 => change_one(operand),
                2 if opcode == 0xFF => Operation::Call(None),
                4 if opcode == 0xFF => Operation::Jump(None),
                6 if opcode == 0xFF => Operation::Push(match operand {
                    Operand::Register(from) => Source::Register(from),
                    Operand::Memory(_) => Source::Constant(0),
                }),
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn two_bytes(reader: &mut Reader<'_>) -> Option<Operation> {
    let opcode = reader.u8()?;
    Some(match opcode {
        0x0B => Operation::End,
        0x18..=0x1F => reader.operands(0).map(|_| Operation::Nothing)?,
        // Of and for floats: general registers are not among most of the operands.
        0x70..=0x73 | 0xC2 | 0xC4..=0xC6 | 0xA4 | 0xAC | 0xBA => {
            let operands = reader.operands(1)?;
            reader.u8()?;
            change(operands)
        }
        0x80..=0x8F => {
            let distance = reader.i32()?;
            Operation::Branch(reader.target(distance, 0)?)
        }
        0x10..=0x17
        | 0x28..=0x2F
        | 0x40..=0x6F
        | 0x74..=0x7F
        | 0x90..=0x9F
        | 0xA3
        | 0xA5
        | 0xAB
        | 0xAD..=0xB1
        | 0xB3
        | 0xB6..=0xB8
        | 0xBB..=0xC1
        | 0xC3
        | 0xD0..=0xFE => change(reader.operands(0)?),
        0xC8..=0xCF => Operation::Change(bit(Register(opcode & 7 | (reader.rex & 1) << 3)), None),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RAX: Register = Register::RAX;
    const RBX: Register = Register(3);

    /// As `objdump` has them of programs of OCaml.
    #[test]
    fn forms_of_the_compiler() {
        let register = Source::Register;
        for (code, at, operation) in [
            (
                &[0x48, 0x8D, 0x1D, 0xAA, 0xD4, 0x44, 0][..],
                0x47_2E27,
                Operation::Take(RBX, Place::Fixed(0x8C_02D8)),
            ),
            (
                &[0x48, 0x89, 0x43, 0x60],
                0,
                Operation::Store(Place::Based(RBX, 0x60), register(RAX)),
            ),
            (
                &[0x48, 0x89, 0x04, 0x24],
                0,
                Operation::Store(Place::Based(Register::RSP, 0), register(RAX)),
            ),
            (&[0x49, 0x83, 0xEF, 0x48], 0, Operation::Add(Register::R15, -0x48)),
            (&[0x49, 0x8D, 0x47, 8], 0, Operation::Take(RAX, Place::Based(Register::R15, 8))),
            (
                &[0x48, 0xC7, 0x40, 0xF8, 0, 0x10, 0, 0],
                0,
                Operation::Store(Place::Based(RAX, -8), Source::Constant(0x1000)),
            ),
            (&[0x48, 0x8B, 0x3C, 0xC3], 0, Operation::Load(Register(7), Place::Other)),
            (&[0xE8, 9, 0xF3, 0xFF, 0xFF], 0x47_2E22, Operation::Call(Some(0x47_2130))),
            (&[0x0F, 0x82, 4, 0, 0, 0], 0, Operation::Branch(10)),
            (&[0xC3], 0, Operation::End),
            (&[0xB8, 1, 0, 0, 0], 0, Operation::Copy(RAX, Source::Constant(1))),
            (&[0x4D, 0x3B, 0x3E], 0, Operation::Nothing),
        ] {
            let decoded = decode(code, at);
            assert_eq!(decoded, Some(Instruction { length: code.len(), operation }), "{code:x?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(code in prop::collection::vec(any::<u8>(), 0..24), start: u64) {
            if let Some(decoded) = decode(&code, start) {
                prop_assert!((1..=code.len()).contains(&decoded.length));
            }
        }
    }
}
