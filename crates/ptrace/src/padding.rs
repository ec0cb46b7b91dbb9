//! A place for code: the zeros between the end of a file's code and the end of its last page.
//!
//! The process has this memory mapped to be executed already, and uses none of it. A mapping of our own would have to be made
//! by a call in the midst of the program's code, which could not go back by itself if the tracer was killed.

use std::ops::Range;

use crate::load_code::STACK_BYTES;
use crate::stop::StoppedProcess;

/// Zeros that are left before the code: they may belong to what comes before.
const MARGIN: u64 = 64;
/// The zeros are looked for in one page.
const PAGE: u64 = 4096;

/// The place with room for so many bytes of code, in the first mapping that has some. `fixed` is how the code begins,
/// whichever thread it is for.
pub(crate) fn place(process: &StoppedProcess, bytes: u64, fixed: &[u8]) -> Option<u64> {
    let mappings = process.mappings().ok()?;
    let ends = mappings.split(|&byte| byte == b'\n').filter_map(end_of_code);
    let mut places = ends.filter_map(|end| end.checked_sub(bytes));
    places.find(|&place| has_room(process, place, bytes, fixed) && !is_used(process, place, bytes))
}

/// The end of a mapping of a file's code, or of the kernel's own.
fn end_of_code(line: &[u8]) -> Option<u64> {
    let line = str::from_utf8(line).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let (addresses, access) = (fields.next()?, fields.next()?);
    let path = fields.nth(3)?;
    let is_code = access == "r-xp" && (path.starts_with('/') || path == "[vdso]");
    let (start, end) = addresses.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    (is_code && end.checked_sub(start)? >= PAGE).then_some(end)
}

/// True if there are zeros, or the code that a tracer left which was killed.
fn has_room(process: &StoppedProcess, place: u64, bytes: u64, fixed: &[u8]) -> bool {
    let mut found = vec![0; (bytes + MARGIN) as usize];
    if !process.read(place - MARGIN, &mut found) {
        return false;
    }
    let (before, code) = found.split_at(MARGIN as usize);
    let is_free = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    is_free(before) && (is_free(code) || code.starts_with(fixed))
}

/// True if a thread runs there, or in a function that was called from there: its tracer was killed, or no longer waits.
fn is_used(process: &StoppedProcess, place: u64, bytes: u64) -> bool {
    let there = place..place + bytes;
    let mut first = [0; 8];
    let is_empty = process.read(place, &mut first) && first == [0; 8];
    process.threads().iter().any(|thread| {
        let registers = &thread.registers.0;
        there.contains(&registers.rip) || (!is_empty && has_address(process, registers.rsp, &there))
    })
}

/// True if a stack has an address in this range. The code's own stack has the one to which a function returns.
fn has_address(process: &StoppedProcess, stack: u64, range: &Range<u64>) -> bool {
    let first = stack & !7;
    let mut page = [0; PAGE as usize];
    for at in (first..first.saturating_add(STACK_BYTES as u64)).step_by(PAGE as usize) {
        // The last part may be shorter than a page.
        let readable = [PAGE as usize, (PAGE - at % PAGE) as usize];
        let Some(part) = readable.into_iter().find_map(|length| {
            let part = page.get_mut(..length)?;
            process.read(at, part).then_some(length)
        }) else {
            return false;
        };
        let words = page.get(..part).unwrap_or_default().chunks_exact(8);
        let mut words = words.filter_map(|word| word.first_chunk().copied());
        if words.any(|word| range.contains(&u64::from_le_bytes(word))) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_files_and_of_the_kernel() {
        let end = |line: &str| end_of_code(line.as_bytes());
        assert_eq!(end("00401000-00495000 r-xp 00001000 08:02 17 /bin/a b"), Some(0x49_5000));
        assert_eq!(end("7fff1000-7fff3000 r-xp 00000000 00:00 0  [vdso]"), Some(0x7fff_3000));
        assert_eq!(end("00495000-004bb000 r--p 00095000 08:02 17 /bin/a"), None);
        assert_eq!(end("7fff1000-7fff3000 r-xp 00000000 00:00 0 "), None);
        assert_eq!(end("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]"), None);
        assert_eq!(end("nonsense"), None);
    }
}
