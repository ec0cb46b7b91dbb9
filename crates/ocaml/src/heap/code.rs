//! What the runtime's machine code refers to: how private variables are found, by an exported
//! function that uses them.

use crate::memory::Address;

/// No object is larger than this.
const FARTHEST: u64 = 1 << 30;

/// Addresses of words that code standing at `at` may refer to relative to the instruction pointer,
/// as code of amd64 does. Most of them are none: each must be checked for what is wanted.
pub fn referred(code: &[u8], at: Address) -> impl Iterator<Item = Address> + Clone + '_ {
    code.windows(4).zip(1u64..).filter_map(move |(bytes, offset)| {
        let &[a, b, c, d] = bytes else { return None };
        let distance = i64::from(i32::from_le_bytes([a, b, c, d]));
        // The distance counts from the end of the instruction, which it ends.
        let place = at.wrapping_add(offset + 3).wrapping_add_signed(distance);
        (place.is_multiple_of(8) && place.abs_diff(at) < FARTHEST).then_some(place)
    })
}

/// Addresses of words that code standing at `at` loads from into a register, by `mov`; those whose address alone it
/// takes, as of arrays, are none.
pub fn loaded(code: &[u8], at: Address) -> impl Iterator<Item = Address> + '_ {
    code.windows(7).zip(0u64..).filter_map(move |(bytes, offset)| {
        let &[0x48 | 0x4c, 0x8b, operands, ref distance @ ..] = bytes else { return None };
        // A register, and a distance from the instruction pointer.
        let place = (operands & 0xc7 == 0x05).then(|| referred(distance, at + offset + 3));
        place.and_then(|mut place| place.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_instruction_loads_is_not_what_it_takes_the_address_of() {
        // mov 0x100(%rip), %r8, then lea 0x100(%rip), %r8.
        let code = [0x4c, 0x8b, 0x05, 0x01, 0x01, 0, 0, 0x4c, 0x8d, 0x05, 0x02, 0x02, 0, 0];
        let at = 0x40_0000;
        assert_eq!(loaded(&code, at).collect::<Vec<_>>(), [at + 0x108]);
    }

    #[test]
    fn what_an_instruction_refers_to_counts_from_its_end() {
        // lea 0x100(%rip), %rdi, then a jump elsewhere.
        let code = [0x48, 0x8d, 0x3d, 0x01, 0x01, 0, 0, 0xe9, 0xff, 0xff, 0xff, 0x7f];
        let at = 0x40_0000;
        assert!(referred(&code, at).any(|place| place == at + 0x108));
        assert!(referred(&code, at).all(|place| place != at + 0x100));
    }
}
