//! Which libraries an executable is linked with, by its dynamic section.

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _};

/// Whether the name of one of them begins so. A file that is no executable is linked with none.
pub fn is_linked_with(file: &[u8], name: &[u8]) -> bool {
    has_library(file, name).unwrap_or(false)
}

fn has_library(file: &[u8], name: &[u8]) -> object::Result<bool> {
    let header = FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, file)?;
    let Some((entries, strings)) = sections.dynamic(endian, file)? else { return Ok(false) };
    let strings = sections.strings(endian, file, strings)?;
    Ok(entries
        .iter()
        .filter(|entry| entry.tag(endian) == DT_NEEDED)
        .any(|entry| entry.string(endian, strings).is_ok_and(|library| library.starts_with(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_linked_with_libc() {
        let this = std::fs::read("/proc/self/exe").unwrap();
        assert!(is_linked_with(&this, b"libc.so."));
        assert!(!is_linked_with(&this, b"libasan.so."));
        for cut in (0..this.len()).step_by(this.len() / 50) {
            is_linked_with(&this[..cut], b"libc.so.");
        }
        assert!(!is_linked_with(b"#!/bin/sh\n", b""));
    }
}
