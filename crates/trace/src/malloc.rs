//! Memory from `malloc` in the trace of an OCaml program: a part of its own, and codes of native code.
//!
//! Blocks that the program's calls of `malloc` gave are off-heap blocks of a domain that no runtime has. Their
//! callstacks have frames of OCaml, whose codes are those of all OCaml frames, and frames of native code, whose codes
//! have a mark, as the same numbers may be codes of OCaml.

use crate::units::{Code, DomainId};

/// The domain that these blocks are of.
pub const DOMAIN: DomainId = DomainId(1023);

/// Addresses are below this.
const MARK: u64 = 1 << 61;

/// The code of a return address in native code.
pub const fn native_code(address: u64) -> Code {
    Code(address | MARK)
}

/// The return address of such a code; `None` if it is another one.
pub const fn native_address(code: Code) -> Option<u64> {
    if code.0 & MARK == 0 { None } else { Some(code.0 & !MARK) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for address in [0, 0x40_1234, 0x7fff_ffff_ffff, (1 << 57) - 1] {
            assert_eq!(native_address(native_code(address)), Some(address));
            // Codes of OCaml's return addresses, and of its debug information.
            assert_eq!(native_address(Code(address << 1)), None);
            assert_eq!(native_address(Code(address << 1 | 1)), None);
        }
    }
}
