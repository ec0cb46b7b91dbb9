//! `memtrail attach --native`: C and C++ programs at work, which do what they would do alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use memtrail_recording::{FileState, Recording};
use memtrail_test_support::contents::read;
use memtrail_test_support::programs::Program;

use crate::server::{Server, assert_refused, code_of, memtrail, own_threads};

/// Rounds: a few in the run of each change.
fn rounds() -> u32 {
    if memtrail_test_support::is_whole_run() { 100 } else { 4 }
}

/// A compiled program, and its folder.
struct Compiled {
    program: Program,
    folder: tempfile::TempDir,
}

fn compile(options: &[&str]) -> Compiled {
    let folder = tempfile::tempdir().expect("a folder");
    let path = gcc("g++", "attached.cc", &folder.path().join("attached"), options);
    Compiled { program: Program { path, variables: Vec::new() }, folder }
}

fn gcc(compiler: &str, source: &str, to: &Path, options: &[&str]) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/native");
    let mut command = Command::new(compiler);
    command.args(["-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls"]);
    command.arg(sources.join(source)).arg("-o").arg(to).args(options).arg("-pthread");
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    to.to_owned()
}

fn attach(server: &Server, recording: &Path, options: &[&str]) {
    server.attach(recording, &[&["--native"], options].concat());
}

fn description(recording: &Path) -> memtrail_recording::Description {
    Recording::open(recording).expect("a recording").description.expect("one")
}

/// Slots of its imports, its code and threads are as before.
fn attach_and_detach(compiled: &Compiled, variables: &[(&str, &Path)]) {
    let mut program = Program { path: compiled.program.path.clone(), variables: Vec::new() };
    program.variables.extend(
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.display().to_string())),
    );
    let mut server = Server::start(&program);
    let before = code_of(server.pid(), &program);
    for round in 1..=rounds() {
        let recording = server.recording(round);
        attach(&server, &recording, if round % 2 == 0 { &["--rate", "1e-3"] } else { &[] });
        assert!(own_threads(server.pid()) > 0);
        server.allocate(200);
        server.fork();
        if round % 5 == 1 {
            let output = memtrail(&["snapshot", &server.pid().to_string()]).output();
            let output = output.expect("memtrail");
            assert!(output.status.success(), "{output:?}");
            assert!(recording.join("0001.references").exists());
        }
        server.detach();
        assert!(code_of(server.pid(), &program) == before, "round {round}: the code is another");
        let description = description(&recording);
        assert_eq!(description.trace.state, FileState::Complete, "{description:?}");
        assert!(description.trace.blocks > 0 && description.trace.lost == 0, "{description:?}");
        let detached = |note: &String| note.contains("memtrail detach ended the recording");
        assert!(description.notes.iter().any(detached), "{:?}", description.notes);
    }
    server.allocate(200);
    server.fork();
    server.end();
}

#[test]
fn a_program_of_threads_is_attached_again_and_again() {
    attach_and_detach(&compile(&[]), &[]);
}

#[test]
fn a_program_whose_imports_are_bound_at_the_start() {
    attach_and_detach(&compile(&["-Wl,-z,now,-z,relro"]), &[]);
}

#[test]
fn a_program_at_a_fixed_address() {
    attach_and_detach(&compile(&["-no-pie", "-fno-pie"]), &[]);
}

#[test]
fn programs_with_other_allocators() {
    let compiled = compile(&[]);
    for name in ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"] {
        let path =
            PathBuf::from(format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH)).join(name);
        assert!(path.exists(), "{} is missing: cargo xtask setup installs it", path.display());
        attach_and_detach(&compiled, &[("LD_PRELOAD", &path)]);
    }
}

fn hold_against_the_truth(variables: &[(&str, &Path)]) {
    let compiled = compile(&[]);
    let mut program = Program { path: compiled.program.path.clone(), variables: Vec::new() };
    program.variables.extend(
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.display().to_string())),
    );
    let mut server = Server::start(&program);
    server.allocate(3_000);
    for (round, rate) in ["1e-3", "1e-4", "1e-3"].into_iter().enumerate() {
        let recording = server.recording(round as u32);
        attach(&server, &recording, &["--rate", rate, "--seed", "7"]);
        let counted = server.allocate(3_000);
        server.detach();
        server.allocate(3_000);
        let contents = read(&recording);
        for (function, words) in counted {
            contents.expect_words(&function, words);
        }
    }
    server.end();
}

#[test]
fn estimates_are_those_from_the_moment_of_attaching() {
    hold_against_the_truth(&[]);
}

#[test]
fn estimates_with_an_allocator_that_has_operators() {
    let path = format!("/usr/lib/{}-linux-gnu/libtcmalloc_minimal.so.4", std::env::consts::ARCH);
    hold_against_the_truth(&[("LD_PRELOAD", Path::new(&path))]);
}

/// No thread waits in a system call: the linker is called in the midst of the program's code, which has values in all registers.
#[test]
fn a_program_that_never_waits() {
    let compiled = compile(&[]);
    for round in 0..rounds() {
        let server = Server::start_with(&compiled.program, &["alone"]);
        let recording = server.recording(round);
        attach(&server, &recording, &["--rate", "1"]);
        thread::sleep(Duration::from_millis(300));
        if round % 2 == 0 {
            server.detach();
        }
        let _folder = std::rc::Rc::clone(&server.folder);
        server.end();
        assert!(description(&recording).trace.blocks > 0);
    }
}

/// Calls of libraries that are loaded later come by as well, and detaching survives libraries that are gone.
#[test]
fn a_library_that_is_loaded_while_its_program_is_recorded() {
    let compiled = compile(&[]);
    let plugin = compiled.folder.path().join("plugin.so");
    gcc("gcc", "attached_plugin.c", &plugin, &["-shared", "-fPIC"]);
    let mut server = Server::start(&compiled.program);
    let recording = server.recording(0);
    attach(&server, &recording, &["--rate", "1e-2", "--seed", "3"]);
    server.ask(&format!("load {}", plugin.display()));
    // Objects are looked at four times a second.
    thread::sleep(Duration::from_secs(2));
    let counted = server.ask("plugin 20000");
    server.ask("unload");
    server.detach();
    read(&recording).expect_words("by_plugin", counted[0].1);
    server.allocate(100);
    server.end();
}

#[test]
fn mappings_are_recorded_on_request() {
    let mut python = Command::new("/usr/bin/python3")
        .args(["-c", "import mmap, time\nwhile True: m = mmap.mmap(-1, 1 << 20); time.sleep(0.01)"])
        .spawn()
        .expect("start python3");
    thread::sleep(Duration::from_millis(500));
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.memtrail");
    let pid = python.id().to_string();
    let attached = memtrail(&["attach", "--native", "--mmap", "--rate", "1e-3", &pid, "-o"])
        .arg(&recording)
        .output()
        .expect("memtrail");
    assert!(attached.status.success(), "{attached:?}");
    thread::sleep(Duration::from_secs(1));
    let detached = memtrail(&["detach", &pid]).output().expect("memtrail");
    assert!(detached.status.success(), "{detached:?}");
    let is_large = |words: u64| words >= (1 << 20) / 8;
    assert!(read(&recording).blocks.iter().any(|block| is_large(block.words)));
    python.kill().expect("killed");
    python.wait().expect("ended");
}

#[test]
fn an_attached_program_ends() {
    let mut server = Server::start(&compile(&[]).program);
    let recording = server.recording(1);
    attach(&server, &recording, &["--rate", "1e-3"]);
    server.allocate(200);
    let _folder = std::rc::Rc::clone(&server.folder);
    server.end();
    let description = description(&recording);
    assert_eq!(description.trace.state, FileState::Complete, "{description:?}");
    let late = |note: &String| note.contains("memory allocated before is not in the trace");
    assert!(description.notes.iter().any(late), "{:?}", description.notes);
}

#[test]
fn options_that_are_of_ocaml() {
    let pid = std::process::id().to_string();
    let output = memtrail(&["attach", "--native", "--snapshot", "every-major", &pid]).output();
    assert_refused(&output.expect("memtrail"), "snapshots of native programs", "--snapshot");
}

/// The hint was `memtrail snapshot PID`, which is refused: a native program has no heap to read.
#[test]
fn what_detach_names_next_works_for_a_native_recording() {
    let mut server = Server::start(&compile(&[]).program);
    let recording = server.recording(1);
    attach(&server, &recording, &["--rate", "1e-3"]);
    server.allocate(200);
    let pid = server.pid().to_string();
    let detached = memtrail(&["detach", &pid, "--wait", "60s"]).output().expect("memtrail");
    let text = String::from_utf8_lossy(&detached.stderr).into_owned();
    let shown = recording.display();
    let next = format!("next: memtrail report {shown}, memtrail leaks {shown}");
    assert!(detached.status.success() && text.contains(&next), "{text}");
    for command in ["report", "leaks"] {
        let output = memtrail(&[command]).arg(&recording).output().expect("memtrail");
        assert!(output.status.success(), "{output:?}");
    }
    let late = memtrail(&["snapshot"]).arg(&recording).output().expect("memtrail");
    let again = format!("memtrail attach --native {pid}");
    assert_refused(&late, "has ended; the process runs", &again);
    server.end();
}

/// The hint was `memtrail run -- PROGRAM`, which records no native program, and `memtrail snapshot PID`.
#[test]
fn what_is_named_instead_of_attaching_works_for_a_native_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("filtered.c");
    let text = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {1, all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 1;
    printf("%d\n", getpid());
    fflush(stdout);
    while (getchar() != EOF)
        ;
    puts("all is as it was");
    return 0;
}
"#;
    std::fs::write(&source, text).expect("written");
    let to = folder.path().join("filtered");
    let path = gcc("gcc", source.to_str().expect("text"), &to, &[]);
    let server = Server::start(&Program { path, variables: Vec::new() });
    let pid = &*server.pid().to_string();
    for arguments in [&["attach", "--native", pid][..], &["attach", pid]] {
        let output = memtrail(arguments).current_dir(folder.path()).output().expect("memtrail");
        assert_refused(&output, "(seccomp)", "memtrail run --native -- PROGRAM");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("memtrail snapshot"), "{text}");
    }
    server.end();
}
