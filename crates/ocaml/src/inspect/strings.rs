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
pub(super) enum Guess {
    /// None.
    Nothing,
    /// One for native code.
    Native,
    /// One for bytecode.
    Bytecode,
}

/// Looks through all of the file. Slow, so ask the symbols first.
pub(super) fn guess(file: &[u8]) -> Guess {
    if !(has_c_string(file, PARAMETERS) && contains(file, UNCAUGHT)) {
        Guess::Nothing
    } else if has_c_string(file, STUBS) {
        Guess::Bytecode
    } else {
        Guess::Native
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
        assert_eq!(guess(native), Guess::Native);
        assert_eq!(guess(&[native, &b"CAML_LD_LIBRARY_PATH\0"[..]].concat()), Guess::Bytecode);
        assert_eq!(
            guess(b"OCAMLRUNPARAM is read by..Fatal error: exception %s\n\0"),
            Guess::Nothing
        );
        assert_eq!(guess(b"OCAMLRUNPARAM\0"), Guess::Nothing);
        assert_eq!(guess(b"OCAMLRUNPARAM"), Guess::Nothing);
    }
}
