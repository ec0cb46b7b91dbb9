//! Sections of a bytecode executable (`runtime/caml/exec.h`): the table of contents and a trailer are at the end.

/// Digits and letters that the trailer ends with, without those of the version.
const MAGIC: &[u8] = b"Caml1999X";
const MAGIC_LEN: usize = 12;
/// Bytes of the trailer: number of sections, magic.
const TRAILER: usize = 16;
/// Bytes of an entry of the table: name, length.
const ENTRY: usize = 8;

/// The code.
pub const CODE: &[u8; 4] = b"CODE";
/// Numbers of global variables.
pub const SYMBOLS: &[u8; 4] = b"SYMB";
/// Debug events.
pub const DEBUG: &[u8; 4] = b"DBUG";

/// The content of a section. `None` if there is none, or the file is no bytecode executable.
pub fn section<'a>(file: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    let trailer = file.len().checked_sub(TRAILER)?;
    let (number, magic) = file.get(trailer..)?.split_first_chunk()?;
    if !(magic.len() == MAGIC_LEN && magic.starts_with(MAGIC)) {
        return None;
    }
    let count = u32::from_be_bytes(*number) as usize;
    let table = trailer.checked_sub(count.checked_mul(ENTRY)?)?;
    // Sections are before the table, without gaps.
    let mut end = table;
    for entry in file.get(table..trailer)?.chunks_exact(ENTRY).rev() {
        let (known, length) = entry.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length.first_chunk()?) as usize;
        let start = end.checked_sub(length)?;
        if known == name {
            return file.get(start..end);
        }
        end = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(parts: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut file = b"#!/usr/bin/ocamlrun\n".to_vec();
        for (_, content) in parts {
            file.extend(*content);
        }
        for (name, content) in parts {
            file.extend(*name);
            file.extend((content.len() as u32).to_be_bytes());
        }
        file.extend((parts.len() as u32).to_be_bytes());
        file.extend(b"Caml1999X030");
        file
    }

    #[test]
    fn sections_are_found_from_the_end() {
        let file = file(&[(CODE, b"code"), (b"DATA", b""), (SYMBOLS, b"names")]);
        assert_eq!(section(&file, CODE), Some(&b"code"[..]));
        assert_eq!(section(&file, SYMBOLS), Some(&b"names"[..]));
        assert_eq!(section(&file, b"DATA"), Some(&b""[..]));
        assert_eq!(section(&file, DEBUG), None);
    }

    #[test]
    fn lengths_that_lead_before_the_file_are_refused() {
        let mut bytes = file(&[(CODE, b"code")]);
        let at = bytes.len() - TRAILER - 4;
        bytes[at..at + 4].copy_from_slice(&1000_u32.to_be_bytes());
        assert_eq!(section(&bytes, CODE), None);
        let at = bytes.len() - TRAILER;
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(section(&bytes, CODE), None);
        assert_eq!(section(b"Caml1999X030", CODE), None);
    }
}
