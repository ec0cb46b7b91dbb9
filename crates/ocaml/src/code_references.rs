//! What machine code refers to: the addresses that it takes, and the functions that it calls or jumps to.
//!
//! Instructions are not decoded one behind the other: each byte is looked at as if one of a few forms began there. So
//! callers must look up what they are given among addresses that they know; that other bytes give one of these is
//! improbable. The forms are those by which OCaml's compiler takes the address of a symbol (`load_symbol_addr` in
//! `asmcomp/amd64/emit.mlp`), both as the linker has relaxed them and, in plugins, as reads from the dynamic linker's table.

use crate::memory::Address;

/// What an instruction refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// It takes this address.
    Address(Address),
    /// It calls, or jumps to, the code there.
    Call(Address),
    /// It takes the address that is stored there.
    Stored(Address),
}

/// Calls `each` with all references of amd64 code that is at `start`.
pub fn amd64(code: &[u8], start: Address, mut each: impl FnMut(Reference)) {
    for (at, _) in code.iter().enumerate() {
        let Some(rest) = code.get(at..) else { return };
        if let Some(found) = reference(rest, start.saturating_add(at as u64)) {
            each(found);
        }
    }
}

/// The reference of the instruction that `code` begins with, if it has one of the forms.
fn reference(code: &[u8], at: Address) -> Option<Reference> {
    let first = *code.first()?;
    match first {
        // call, jmp
        0xE8 | 0xE9 => Some(Reference::Call(relative(code, 1, at)?)),
        // lea symbol(%rip), %register
        0x48..=0x4F if *code.get(1)? == 0x8D && code.get(2)? & 0xC7 == 0x05 => {
            Some(Reference::Address(relative(code, 3, at)?))
        }
        // mov symbol@GOTPCREL(%rip), %register
        0x48..=0x4F if *code.get(1)? == 0x8B && code.get(2)? & 0xC7 == 0x05 => {
            Some(Reference::Stored(relative(code, 3, at)?))
        }
        // mov $symbol, %register or memory
        0x48 | 0x49 if *code.get(1)? == 0xC7 && code.get(2)? & 0x38 == 0 => {
            let immediate = displacement_end(code)?;
            Some(Reference::Address(i64::from(number(code, immediate)?).cast_unsigned()))
        }
        _ => None,
    }
}

/// Code of the linker that does nothing but jump to an address that is stored (`.plt`): where that is. It may begin with
/// `endbr64`.
pub fn jump_slot(code: &[u8], start: Address) -> Option<Address> {
    let marked = code.strip_prefix(&[0xF3, 0x0F, 0x1E, 0xFA]).unwrap_or(code);
    let jump = marked.strip_prefix(&[0xF2]).unwrap_or(marked);
    let at = start.checked_add((code.len() - jump.len()) as u64)?;
    // jmp *slot(%rip)
    jump.starts_with(&[0xFF, 0x25]).then(|| relative(jump, 2, at))?
}

/// Where the displacement ends of an instruction with one prefix and an opcode of one byte.
fn displacement_end(code: &[u8]) -> Option<usize> {
    let form = *code.get(2)?;
    let with_index = usize::from(form & 7 == 4);
    Some(match form >> 6 {
        0 if form & 7 == 5 => 7,
        0 => 3 + with_index,
        1 => 4 + with_index,
        2 => 7 + with_index,
        _ => 3,
    })
}

/// The address that a distance at `place` gives, which counts from behind itself.
fn relative(code: &[u8], place: usize, at: Address) -> Option<Address> {
    let behind = at.checked_add(place as u64 + 4)?;
    behind.checked_add_signed(i64::from(number(code, place)?))
}

fn number(code: &[u8], place: usize) -> Option<i32> {
    code.get(place..)?.first_chunk().map(|bytes| i32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(code: &[u8], start: Address) -> Vec<Reference> {
        let mut found = Vec::new();
        amd64(code, start, |one| found.push(one));
        found
    }

    /// As `objdump` has them of programs of OCaml.
    #[test]
    fn forms_of_the_compiler() {
        for (code, at, expected) in [
            (
                &[0x48, 0x8D, 0x1D, 0x52, 0xE3, 0xD2, 0][..],
                0xD5_AB9F,
                Reference::Address(0x1A8_8EF8),
            ),
            (&[0x48, 0x8D, 0x05, 0x82, 0x76, 0x23, 0], 0xCE_0537, Reference::Address(0xF1_7BC0)),
            (&[0xE8, 0x65, 0x5E, 0x18, 0], 0xD5_ABA6, Reference::Call(0xEE_0A10)),
            (&[0xE9, 0x3F, 0x1F, 0, 0], 0x4E4_482C, Reference::Call(0x4E4_6770)),
            (
                &[0x48, 0xC7, 0xC3, 0x20, 0x6A, 0x56, 0x0C],
                0x4E4_4846,
                Reference::Address(0xC56_6A20),
            ),
            (&[0x48, 0xC7, 0x40, 8, 0x20, 0x6A, 0x56, 0x0C], 0, Reference::Address(0xC56_6A20)),
            (&[0x48, 0xC7, 0x00, 0x20, 0x6A, 0x56, 0x0C], 0, Reference::Address(0xC56_6A20)),
            (
                &[0x48, 0xC7, 0x44, 0x24, 8, 0x20, 0x6A, 0x56, 0x0C],
                0,
                Reference::Address(0xC56_6A20),
            ),
            (
                &[0x49, 0xC7, 0x86, 0, 1, 0, 0, 0x20, 0x6A, 0x56, 0x0C],
                0,
                Reference::Address(0xC56_6A20),
            ),
        ] {
            assert_eq!(all(code, at).first(), Some(&expected), "{code:x?}");
        }
        let stored = all(&[0x48, 0x8B, 0x35, 0x30, 0x2D, 0, 0], 0x2249);
        assert_eq!(stored, [Reference::Stored(0x4F80)]);
        // mov to a register of one byte.
        assert_eq!(all(&[0xC6, 0xC3, 0x20, 0x6A, 0x56, 0x0C], 0), []);
    }

    #[test]
    fn jumps_of_the_linker() {
        let slot = |code: &[u8]| jump_slot(code, 0x2040);
        assert_eq!(slot(&[0xFF, 0x25, 0x62, 0x2E, 0, 0, 0x68]), Some(0x4EA8));
        assert_eq!(slot(&[0xF3, 0x0F, 0x1E, 0xFA, 0xFF, 0x25, 0x62, 0x2E, 0, 0]), Some(0x4EAC));
        assert_eq!(slot(&[0xF2, 0xFF, 0x25, 0x62, 0x2E, 0, 0]), Some(0x4EA9));
        assert_eq!(slot(&[0xFF, 0x25, 0x62]), None);
        assert_eq!(slot(&[0xE9, 0x62, 0x2E, 0, 0]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(code in prop::collection::vec(any::<u8>(), 0..64), start: u64) {
            prop_assert!(all(&code, start).len() <= code.len());
            jump_slot(&code, start);
        }
    }
}
