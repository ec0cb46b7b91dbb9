//! Core files that cannot be read, or not as they are: what is said, and what helps.

use std::fs;
use std::path::Path;
use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{Program, build};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::core_files::counted;
use crate::cores::{Plain, assert_refused, gcore, heap_of, read};

fn program() -> Program {
    build(&named("system"), "heap_core")
}

#[test]
fn files_that_are_no_core_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let refused = |file: &Path, message: &str, hint: &str| {
        assert_refused(&read(file, &[], &recording), message, hint);
        assert!(!recording.exists());
    };
    let text = folder.path().join("notes");
    fs::write(&text, "a text\n").expect("written");
    refused(&text, "notes as a core file: it is no ELF file", "ulimit -c unlimited");
    refused(&program().path, "it is an executable or a library, not a core file", "name the core");
    refused(folder.path(), "is a directory", "--core CORE");
    refused(&folder.path().join("missing"), "cannot read", "");
}

#[test]
fn processes_without_a_runtime() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sleep = Command::new("sleep").arg("1000").spawn().expect("start sleep");
    let core = gcore(sleep.id(), folder.path());
    sleep.kill().expect("killed");
    sleep.wait().expect("ended");
    let output = read(&core, &[], &folder.path().join("it.memtrail"));
    // Its executable is stripped, and exports nothing.
    assert_refused(&output, "no heap in", "");
}

#[test]
fn executables_that_are_gone_or_another_build() {
    let program = program();
    let copy = tempfile::tempdir().expect("a folder");
    let moved = Program { path: copy.path().join("server"), ..program.clone() };
    fs::copy(&program.path, &moved.path).expect("copied");
    let plain = Plain::start(&moved, &[]);
    let core = plain.gcore();
    let recording = plain.folder.path().join("it.memtrail");
    fs::remove_file(&moved.path).expect("removed");
    let output = read(&core, &[], &recording);
    assert_refused(&output, "cannot read the executable", "snapshot --core");
    let other = build(&named("system"), "heap_live").path;
    let output = read(&core, &[other.to_str().expect("UTF-8")], &recording);
    assert_refused(&output, "its build id is", "same build");
    assert!(String::from_utf8_lossy(&output.stderr).contains("that of the program that ran is"));
    // Named, and below a folder with a machine's files, it is the program that ran.
    let (heap, _) = heap_of(&core, &[program.path.to_str().expect("UTF-8")]);
    assert_eq!(counted(&heap), plain.line.trim());
    let root = copy.path().join("root");
    let inside = root.join(moved.path.strip_prefix("/").expect("an absolute path"));
    fs::create_dir_all(inside.parent().expect("a folder")).expect("made");
    fs::copy(&program.path, &inside).expect("copied");
    let (heap, _) = heap_of(&core, &["--sysroot", root.to_str().expect("UTF-8")]);
    assert_eq!(counted(&heap), plain.line.trim());
}

#[test]
fn files_that_zstd_compressed() {
    let plain = Plain::start(&program(), &[]);
    let core = plain.gcore();
    let compressed = plain.folder.path().join("core.zst");
    let bytes = fs::read(&core).expect("a core file");
    fs::write(&compressed, compress_to_vec(&bytes[..], CompressionLevel::Uncompressed))
        .expect("written");
    let (heap, _) = heap_of(&compressed, &[]);
    assert_eq!(counted(&heap), plain.line.trim());
}

#[test]
fn files_that_are_cut_off() {
    let mut plain = Plain::start(&program(), &[]);
    let core = plain.gcore();
    let bytes = fs::read(&core).expect("a core file");
    fs::write(&core, &bytes[..bytes.len() / 2]).expect("written");
    let recording = plain.folder.path().join("it.memtrail");
    let output = read(&core, &[], &recording);
    assert_refused(&output, "truncated at offset", "gdb writes this part last");
    // The kernel writes memory last, and the stack behind all else.
    let core = plain.kernel_core();
    let bytes = fs::read(&core).expect("a core file");
    fs::write(&core, &bytes[..bytes.len() - 0x8000]).expect("written");
    let (heap, notes) = heap_of(&core, &[]);
    assert!(notes.iter().any(|note| note.contains("32768 bytes are missing")), "{notes:?}");
    assert!(!heap.roots_at("global/Heap_core").is_empty());
    let output = read(&core, &["--json"], &recording);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["snapshot"]["label"], "truncated core file");
    // Without the linker's list of objects no symbol was found, and the snapshot was empty.
    fs::write(&core, &bytes[..bytes.len() - 0x38000]).expect("written");
    let (heap, _) = heap_of(&core, &[]);
    assert!(!heap.roots_at("global/Heap_core").is_empty());
}

#[test]
fn recordings_of_other_processes_are_left_alone() {
    let (first, second) = (Plain::start(&program(), &[]), Plain::start(&program(), &[]));
    let recording = first.folder.path().join("it.memtrail");
    assert!(read(&first.gcore(), &[], &recording).status.success());
    let output = read(&second.gcore(), &[], &recording);
    assert_refused(&output, "the core file of process", "-o REC");
    assert!(!recording.join("0002.heap").exists());
}
