//! Processes that cannot be copied: what is said, and what helps.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

use crate::core_files::counted;
use crate::cores::{Plain, assert_refused, heap_of_process, snapshot_process};

/// Fails unless a snapshot of a process is refused, with this message and this hint.
fn assert_no_snapshot(pid: u32, message: &str, hint: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    assert_refused(&snapshot_process(pid, &[], &recording), message, hint);
    assert!(!recording.exists());
}

#[test]
fn processes_without_a_runtime() {
    let mut sleep = Command::new("sleep").arg("1000").spawn().expect("start sleep");
    assert_no_snapshot(sleep.id(), "is not recorded, and has no heap to read", "");
    sleep.kill().expect("killed");
    sleep.wait().expect("ended");
}

/// A program for 32-bit x86 that waits for ever: an ELF header, a program header, and `pause` in a loop.
fn program_of_32_bits() -> Vec<u8> {
    const BASE: u32 = 0x0804_8000;
    let code = [0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7];
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend([2, 0, 3, 0, 1, 0, 0, 0]);
    for word in [BASE + 84, 52, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([52, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    let length = 84 + code.len() as u32;
    for word in [1, 0, BASE, BASE, length, length, 5, 0x1000] {
        file.extend(word.to_le_bytes());
    }
    file.extend(code);
    file
}

#[test]
fn processes_of_32_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("waits");
    std::fs::write(&file, program_of_32_bits()).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, mode).expect("executable");
    let mut child = Command::new(&file).spawn().expect("a kernel that runs 32-bit programs");
    assert_no_snapshot(child.id(), "is of a 32-bit program", "64-bit programs");
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn processes_that_are_not_there() {
    let mut ended = Command::new("true").stdout(Stdio::null()).spawn().expect("start true");
    let pid = ended.id();
    ended.wait().expect("ended");
    let output = snapshot_process(pid, &[], "it.memtrail".as_ref());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&format!("there is no process {pid}")), "{text}");
}

#[test]
fn processes_of_other_users() {
    let plain = Plain::start(&build(&named("system"), "heap_core"), &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["snapshot", &plain.pid().to_string()]).current_dir(folder.path());
    // As another user; without the right to become one there is nothing to see.
    let output = command.uid(12_345).gid(12_345).output();
    let Ok(output) = output else { return };
    assert_refused(&output, "belongs to another user (uid", "sudo memtrail snapshot");
}

#[test]
fn processes_that_a_debugger_has() {
    let plain = Plain::start(&build(&named("system"), "heap_core"), &[]);
    let pid = plain.pid();
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-p", &pid.to_string(), "-ex", "shell sleep 1000"]);
    let gdb = gdb.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut gdb = gdb.spawn().expect("start gdb");
    let traced = format!("TracerPid:\t{}\n", gdb.id());
    while !std::fs::read_to_string(format!("/proc/{pid}/status"))
        .expect("it runs")
        .contains(&traced)
    {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_no_snapshot(pid, &format!("is traced by process {} (gdb)", gdb.id()), "gdb detach");
    let group = format!("-{}", gdb.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().expect("kill").success());
    gdb.wait().expect("ended");
    let (heap, _) = heap_of_process(pid);
    assert_eq!(counted(&heap), plain.line.trim());
}

#[test]
fn recordings_of_other_processes_are_left_alone() {
    let program = build(&named("system"), "heap_core");
    let (first, second) = (Plain::start(&program, &[]), Plain::start(&program, &[]));
    let recording = first.folder.path().join("it.memtrail");
    assert!(snapshot_process(first.pid(), &[], &recording).status.success());
    let output = snapshot_process(second.pid(), &[], &recording);
    let named = format!("this is process {}", second.pid());
    assert_refused(&output, &named, "-o REC");
    assert!(!recording.join("0002.heap").exists());
}

#[test]
fn executables_that_were_removed() {
    let program = build(&named("system"), "heap_core");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = memtrail_test_support::programs::Program {
        path: folder.path().join("server"),
        ..program.clone()
    };
    std::fs::copy(&program.path, &copy.path).expect("copied");
    let plain = Plain::start(&copy, &[]);
    std::fs::remove_file(&copy.path).expect("removed");
    let (heap, _) = heap_of_process(plain.pid());
    assert_eq!(counted(&heap), plain.line.trim());
}
