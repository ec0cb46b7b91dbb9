//! Core files made by hand: what is read of them, and what is refused, with offset and cause.
#![forbid(unsafe_code)]

use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::{Address, Memory as _};
use memtrail_ocaml_snapshot::core_file::{CoreError, CoreFile, CoreMemory, MappedFiles};
use memtrail_ocaml_snapshot::fuzz;
use proptest::prelude::*;

const CODE: Address = 0x40_0000;
const DATA: Address = 0x60_0000;
const PAGE: u64 = 0x1000;

fn note(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut note = Vec::new();
    for word in [5, content.len() as u32, kind] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"CORE\0\0\0\0");
    note.extend(content);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Notes of a process 4711 with one thread and one mapped file.
fn notes() -> Vec<u8> {
    let mut status = vec![0; 336];
    status[32..36].copy_from_slice(&4711_u32.to_le_bytes());
    status[112..120].copy_from_slice(&0x1515_u64.to_le_bytes());
    let mut program = vec![0; 136];
    program[24..28].copy_from_slice(&4711_u32.to_le_bytes());
    program[40..44].copy_from_slice(b"shop");
    let mut files = words(&[1, PAGE, CODE, CODE + 2 * PAGE, 0]);
    files.extend(b"/usr/bin/shop\0");
    [note(1, &status), note(3, &program), note(6, &words(&[9, CODE + 8, 0, 0])), {
        note(0x4649_4c45, &files)
    }]
    .concat()
}

/// A segment: type, access, address, bytes that were mapped, content.
type Part = (u32, u32, Address, u64, Vec<u8>);

/// A file with these parts, in this order.
fn core_of(parts: &[Part]) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend([4, 0, 62, 0, 1, 0, 0, 0]);
    file.extend(words(&[0, 64, 0]));
    file.extend([0, 0, 0, 0, 64, 0, 56, 0]);
    file.extend((parts.len() as u16).to_le_bytes());
    file.extend([64, 0, 0, 0, 0, 0]);
    let mut offset = 64 + 56 * parts.len() as u64;
    for (kind, access, address, mapped, content) in parts {
        file.extend(kind.to_le_bytes());
        file.extend(access.to_le_bytes());
        file.extend(words(&[offset, *address, 0, content.len() as u64, *mapped, 8]));
        offset += content.len().next_multiple_of(8) as u64;
    }
    for (.., content) in parts {
        file.extend(content);
        file.resize(file.len().next_multiple_of(8), 0);
    }
    file
}

/// Notes; code of which only the first page was written; two neighbours of data.
fn core() -> Vec<u8> {
    core_of(&[
        (4, 0, 0, 0, notes()),
        (1, 5, CODE, 2 * PAGE, vec![1; PAGE as usize]),
        (1, 6, DATA, PAGE, words(&vec![2; PAGE as usize / 8])),
        (1, 6, DATA + PAGE, PAGE, words(&vec![3; PAGE as usize / 8])),
    ])
}

#[test]
fn threads_files_and_memory_are_read() {
    let bytes = core();
    let core = CoreFile::parse(&bytes).expect("a core file");
    assert_eq!((core.threads.len(), core.threads[0].id), (1, 4711));
    assert_eq!(core.threads[0].young_pointer(), 0x1515);
    assert_eq!((core.program.pid, &core.program.name[..]), (4711, &b"shop"[..]));
    assert_eq!(core.executable().expect("a program").path, b"/usr/bin/shop");
    assert_eq!(core.loaded_header(b"/usr/bin/shop").map(<[u8]>::len), Some(PAGE as usize));
    assert_eq!(core.missing, 0);

    let file = vec![7; 2 * PAGE as usize];
    let files = MappedFiles::from([(b"/usr/bin/shop".to_vec(), &file[..])]);
    let memory = CoreMemory::new(&core, &files);
    // The second page of code is in the file alone.
    assert_eq!((memory.u8(CODE), memory.u8(CODE + PAGE)), (Some(1), Some(7)));
    assert_eq!(memory.u8(CODE + 2 * PAGE), None);
    assert_eq!((memory.u64(DATA + PAGE - 8), memory.u64(DATA + PAGE)), (Some(2), Some(3)));
    assert_eq!(memory.u64(DATA + 2 * PAGE - 4), None);
}

#[test]
fn a_chunk_may_span_neighbours() {
    let bytes = core();
    let core = CoreFile::parse(&bytes).expect("a core file");
    let memory = CoreMemory::new(&core, &MappedFiles::new());
    let all = Extent { start: DATA + 8, bytes: 2 * PAGE - 8 };
    let words = memory.words(all).expect("words");
    assert_eq!((words.len() as u64 * 8, words[0], words[words.len() - 1]), (all.bytes, 2, 3));
}

#[test]
fn a_truncated_file_has_what_is_before_its_end() {
    let whole = core();
    let cut = &whole[..whole.len() - 0x1800];
    let core = CoreFile::parse(cut).expect("a core file");
    assert_eq!(core.missing, 0x1800);
    let memory = CoreMemory::new(&core, &MappedFiles::new());
    assert_eq!((memory.u64(DATA), memory.u64(DATA + 0x800)), (Some(2), None));
    let words = memory.words(Extent { start: DATA, bytes: 2 * PAGE }).expect("words");
    assert_eq!(words.len(), 0x800 / 8);
}

/// Pages of a file that were written but are cut off are not those of the file: the process may have changed them.
#[test]
fn what_is_cut_off_is_not_taken_from_files() {
    let bytes = core_of(&[(4, 0, 0, 0, notes()), (1, 6, CODE, PAGE, vec![1; PAGE as usize])]);
    let core = CoreFile::parse(&bytes[..bytes.len() - 0x800]).expect("a core file");
    let file = vec![7; 2 * PAGE as usize];
    let files = MappedFiles::from([(b"/usr/bin/shop".to_vec(), &file[..])]);
    let memory = CoreMemory::new(&core, &files);
    assert_eq!(memory.u8(CODE + 0x7ff), Some(1));
    assert_eq!(memory.u8(CODE + 0x800), None);
    assert_eq!(memory.u8(CODE + PAGE), Some(7));
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = core();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        CoreFile::parse(&file).expect_err("refused")
    };
    assert_eq!(changed(4, &[1]), CoreError::Bits32);
    assert_eq!(changed(16, &[2, 0]), CoreError::NotCore { what: "an executable or a library" });
    assert_eq!(changed(18, &[183, 0]), CoreError::OtherMachine { machine: 183 });
    let text = CoreFile::parse(b"#!/bin/sh").expect_err("refused");
    assert_eq!(text.to_string(), "it is no ELF file: its first bytes are [23, 21, 2f, 62]");
    // The second segment's address.
    let overlap = changed(64 + 2 * 56 + 16, &CODE.to_le_bytes());
    assert_eq!(overlap.to_string(), "damaged at offset 0x40: segments overlap");
    let without = core_of(&[(1, 6, DATA, PAGE, vec![1; PAGE as usize])]);
    let without = CoreFile::parse(&without).expect_err("refused");
    assert_eq!(without.to_string(), "damaged at offset 0x40: no thread is listed");
}

/// gdb writes notes last.
#[test]
fn notes_behind_the_end_are_told_from_damage() {
    let whole = core_of(&[(1, 6, DATA, PAGE, vec![1; PAGE as usize]), (4, 0, 0, 0, notes())]);
    let error = CoreFile::parse(&whole[..whole.len() - 8]).expect_err("refused");
    let length = whole.len() as u64 - 8;
    assert!(matches!(error, CoreError::Truncated { length: l, .. } if l == length), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        fuzz::core_file(&bytes);
    }

    #[test]
    fn any_damage_is_survived(
        changes in prop::collection::vec((0..1400_usize, any::<u8>()), 0..12),
        length in 0..20_000_usize,
    ) {
        let mut bytes = core();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(length);
        fuzz::core_file(&bytes);
    }
}
