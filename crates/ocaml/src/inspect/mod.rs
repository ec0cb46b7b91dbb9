//! Looking at an executable before it is run: can it be recorded, and if not, why?
//!
//! The answer is the file's; the agent checks the running process again. `sans-IO`: the caller maps the file and finds
//! it in `PATH`.

mod elf;
mod linked;
mod reason;
mod script;
mod strings;
mod verdict;

use std::os::unix::fs::MetadataExt as _;

pub use elf::Interpreter;
pub use linked::is_linked_with;
pub use reason::Reason;
pub use verdict::{Other, Program, Rival, Verdict};

/// Looks at an executable's contents.
pub fn inspect(file: &[u8]) -> Verdict {
    if let Some(script) = script::read(file) {
        return script::judge(&script);
    }
    if has_bytecode(file) {
        return Verdict::Refused(Reason::Bytecode);
    }
    elf::judge(file)
}

/// What the kernel starts a program of whatever language with.
pub fn interpreter(file: &[u8]) -> Interpreter<'_> {
    elf::interpreter(file)
}

/// Whether bytecode stands at the end of the file, behind whatever starts the interpreter (`bytecomp/bytelink.ml`,
/// `runtime/caml/exec.h`): an executable's magic number, e.g. `Caml1999X030`.
fn has_bytecode(file: &[u8]) -> bool {
    let Some((_, [magic @ .., _, _, _])) = file.split_last_chunk::<12>() else { return false };
    magic == b"Caml1999X"
}

/// Whether the kernel makes the dynamic loader ignore `LD_PRELOAD` for this file: it is set-uid or set-gid.
///
/// File capabilities have the same effect and are not seen here.
pub fn refuses_preload(metadata: &std::fs::Metadata) -> bool {
    const SET_UID_OR_GID: u32 = 0o6000;
    metadata.mode() & SET_UID_OR_GID != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytecode_is_told_by_its_last_bytes() {
        assert!(has_bytecode(b"CRCS\0\0\0\0Caml1999X030"));
        assert!(!has_bytecode(b"Caml1999X03"));
        assert!(!has_bytecode(b"Caml1999O030"));
        assert!(!has_bytecode(b""));
    }

    #[test]
    fn text_is_no_program() {
        assert_eq!(inspect(b"echo hello\n"), Verdict::NotOcaml(Other::Unknown));
        assert_eq!(inspect(b""), Verdict::NotOcaml(Other::Unknown));
        assert_eq!(inspect(b"\x7fELF"), Verdict::NotOcaml(Other::Unknown));
    }
}
