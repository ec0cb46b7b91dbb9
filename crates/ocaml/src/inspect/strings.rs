//! Recognising a runtime by its strings, where it has no symbols.

use memchr::memmem;

/// The variable that every runtime reads its parameters from (`runtime/startup_aux.c`).
const PARAMETERS: &[u8] = b"OCAMLRUNPARAM";
/// What every runtime says of an exception that nobody caught (`runtime/printexc.c`).
const UNCAUGHT: &[u8] = b"Fatal error: exception %s";
/// Where the bytecode interpreter looks for stubs (`runtime/dynlink.c`).
const STUBS: &[u8] = b"CAML_LD_LIBRARY_PATH";

/// What kind of runtime a file's strings tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// None.
    Nothing,
    /// One for native code.
    Native,
    /// One for bytecode.
    Bytecode,
}

/// Looks through all of the file. Slow, so ask the symbols first.
pub(super) fn tell(file: &[u8]) -> Told {
    if !(has_c_string(file, PARAMETERS) && contains(file, UNCAUGHT)) {
        Told::Nothing
    } else if has_c_string(file, STUBS) {
        Told::Bytecode
    } else {
        Told::Native
    }
}

/// Only C ends its strings with a zero: programs that just talk of such a variable rarely do.
fn has_c_string(file: &[u8], text: &[u8]) -> bool {
    memmem::find_iter(file, text).any(|at| file.get(at + text.len()) == Some(&0))
}

fn contains(file: &[u8], text: &[u8]) -> bool {
    memmem::find(file, text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminated_strings_count() {
        let native = b"..OOCAMLRUNPARAM\0..Fatal error: exception %s\n\0";
        assert_eq!(tell(native), Told::Native);
        assert_eq!(tell(&[native, &b"CAML_LD_LIBRARY_PATH\0"[..]].concat()), Told::Bytecode);
        assert_eq!(tell(b"OCAMLRUNPARAM is read by..Fatal error: exception %s\n\0"), Told::Nothing);
        assert_eq!(tell(b"OCAMLRUNPARAM\0"), Told::Nothing);
        assert_eq!(tell(b"OCAMLRUNPARAM"), Told::Nothing);
    }
}
