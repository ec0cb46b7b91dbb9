//! The first instructions of a function, moved to another place: what they do must not depend on where
//! they stand, or be told where they stood.
//!
//! Only what compilers begin functions with is known; a function that begins otherwise is not moved.

/// Bytes of a jump that takes the place of a function's first instructions.
const JUMP: usize = 5;

/// First instructions, as they are to stand elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prologue {
    /// The instructions.
    pub(crate) code: Vec<u8>,
    /// How many bytes they were.
    pub(crate) length: usize,
}

/// The instructions of a function's `code` at `from` that a jump would overwrite, for the address `to`.
/// `None` if one is not known. The function must not jump back to one of them, as one that begins with a loop
/// does: bytes that look like such a jump may be anything.
#[cfg(target_arch = "x86_64")]
pub(crate) fn moved(code: &[u8], from: u64, to: u64) -> Option<Prologue> {
    let mut moved = Vec::new();
    let mut length = 0;
    while length < JUMP {
        let rest = code.get(length..)?;
        let size = size_of(rest)?;
        let instruction = rest.get(..size.bytes)?;
        moved.extend_from_slice(instruction);
        if size.relative {
            let at = moved.len() - 4;
            let distance = i32::from_le_bytes(*instruction.last_chunk()?);
            let target =
                (from + length as u64 + size.bytes as u64).wrapping_add_signed(distance.into());
            let here = to + moved.len() as u64;
            let distance = i32::try_from(target.wrapping_sub(here) as i64).ok()?;
            moved[at..].copy_from_slice(&distance.to_le_bytes());
        }
        length += size.bytes;
    }
    Some(Prologue { code: moved, length })
}

/// Nothing is moved on other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn moved(_: &[u8], _: u64, _: u64) -> Option<Prologue> {
    None
}

/// An instruction's size.
#[cfg(target_arch = "x86_64")]
struct Size {
    bytes: usize,
    /// Whether it ends with a distance from its own end.
    relative: bool,
}

#[cfg(target_arch = "x86_64")]
fn size_of(code: &[u8]) -> Option<Size> {
    let fixed = |bytes| Some(Size { bytes, relative: false });
    match *code {
        // endbr64
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => fixed(4),
        // push
        [0x50..=0x57, ..] => fixed(1),
        [0x41, 0x50..=0x57, ..] => fixed(2),
        // mov imm32, register
        [0xb8..=0xbf, ..] => fixed(5),
        // The same with REX, and with REX.W mov imm64.
        [0x40..=0x47, 0xb8..=0xbf, ..] => fixed(6),
        [0x48..=0x4f, 0xb8..=0xbf, ..] => fixed(10),
        // REX: registers of 64 bits, or the upper eight.
        [0x40..=0x4f, ref rest @ ..] => {
            let size = size_of_operation(rest)?;
            Some(Size { bytes: 1 + size.bytes, ..size })
        }
        _ => size_of_operation(code),
    }
}

/// Operations of a register and a register or memory.
#[cfg(target_arch = "x86_64")]
fn size_of_operation(code: &[u8]) -> Option<Size> {
    let &[opcode, operands, ..] = code else { return None };
    let immediate = match opcode {
        // add, or, and, sub, xor, cmp; test, xchg, mov, lea
        0x01 | 0x03 | 0x09 | 0x0b | 0x21 | 0x23 | 0x29 | 0x2b | 0x31 | 0x33 | 0x39 | 0x3b
        | 0x85 | 0x87 | 0x89 | 0x8b | 0x8d => 0,
        // the first six, with imm8
        0x83 => 1,
        _ => return None,
    };
    let (mode, base) = (operands >> 6, operands & 7);
    let index = usize::from(mode != 3 && base == 4);
    let relative = mode == 0 && base == 5;
    let distance = match mode {
        0 if relative => 4,
        // Without a base, too, a distance of that size follows.
        0 if index == 1 && code.get(2)? & 7 == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    // The distance would not stand at the end.
    if relative && immediate > 0 {
        return None;
    }
    Some(Size { bytes: 2 + index + distance + immediate, relative })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const FROM: u64 = 0x40_0000;
    const TO: u64 = 0x30_0000;

    fn length(code: &[u8]) -> Option<usize> {
        let mut whole = code.to_vec();
        whole.resize(64, 0x90);
        moved(&whole, FROM, TO).map(|prologue| prologue.length)
    }

    #[test]
    fn whole_instructions_are_moved() {
        // endbr64; push %r12; and $2,%edx
        assert_eq!(length(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54, 0x83, 0xe2, 2]), Some(6));
        // endbr64; mov 0x20(%rdi),%rax
        assert_eq!(length(&[0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x47, 0x20]), Some(8));
        // push %rbp; push %rbx; sub $8,%rsp
        assert_eq!(length(&[0x55, 0x53, 0x48, 0x83, 0xec, 8]), Some(6));
        // mov 0x1c8(%rdi),%rdx
        assert_eq!(length(&[0x48, 0x8b, 0x97, 0xc8, 1, 0, 0]), Some(7));
        // mov 8(%rsp),%rax
        assert_eq!(length(&[0x48, 0x8b, 0x44, 0x24, 8]), Some(5));
        // push %rbp; lea 0x8(,%rsi,8),%rbp
        assert_eq!(length(&[0x55, 0x48, 0x8d, 0x2c, 0xf5, 8, 0, 0, 0]), Some(9));
        // mov 0x20(%rdi),%rax; xchg %rax,(%rdi)
        assert_eq!(length(&[0x48, 0x8b, 0x47, 0x20, 0x48, 0x87, 0x07]), Some(7));
        // mov $32,%edi
        assert_eq!(length(&[0xbf, 32, 0, 0, 0]), Some(5));
        // mov $32,%r8d
        assert_eq!(length(&[0x41, 0xb8, 32, 0, 0, 0]), Some(6));
        // movabs $0x28f5c28f5c28f5c3,%rcx
        assert_eq!(length(&[0x48, 0xb9, 0xc3, 0xf5, 0x28, 0x5c, 0x8f, 0xc2, 0xf5, 0x28]), Some(10));
    }

    #[test]
    fn distances_lead_to_the_same_place() {
        // mov 0x1000(%rip),%rax
        let code = [0x48, 0x8b, 0x05, 0, 0x10, 0, 0, 0x90];
        let prologue = moved(&code, FROM, TO).unwrap();
        assert_eq!(prologue.length, 7);
        let distance = i32::from_le_bytes(*prologue.code.last_chunk().unwrap());
        assert_eq!(TO + 7 + distance as u64, FROM + 7 + 0x1000);
        assert_eq!(moved(&code, FROM, FROM + (1 << 33)), None, "out of reach");
    }

    #[test]
    fn what_is_not_known_stays() {
        // call, ret, int3, a string operation, a load of 16 bytes
        for code in [&[0xe8, 0, 0, 0, 0][..], &[0xc3], &[0xcc], &[0xf3, 0xa5], &[0x0f, 0x10, 0x07]]
        {
            assert_eq!(length(code), None, "{code:x?}");
        }
        assert_eq!(moved(&[0x55, 0x53], FROM, TO), None, "cut short");
    }
}
