//! What the trace holds, and what is said of it, when writing it becomes impossible.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{FileState, Outcome, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Contents, read, recordings_in};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build};
use memtrail_test_support::running::Case;

const EVERY_WORD: [&str; 2] = ["--rate", "1"];

/// `gives_up` that gives up so much.
fn gives_up(compiler: &str, what: &str, blocks: u32) -> Program {
    use std::os::unix::fs::MetadataExt as _;
    let me = fs::metadata("/proc/self").expect("/proc").uid();
    assert_eq!(me, 0, "setuid needs root: run these tests as root");
    let mut program = build(&named(compiler), "gives_up");
    program.variables.push(("GIVES_UP".into(), what.into()));
    program.variables.push(("BLOCKS".into(), blocks.to_string()));
    program
}

// The descriptor was closed, and the right to open the file again given up, before the next packet:
// what was sampled since was lost, and the trace was said to be complete.
on_each!(nothing_is_lost_when_a_daemon_closes_its_descriptors_and_drops_privileges, |compiler| {
    let program = gives_up(compiler, "close,setuid,wait", 400_000);
    for _ in 0..3 {
        let case = Case::new(&program, &[]).stdin(b"\n").options(&["--rate", "1e-2"]);
        let recorded = case.recorded();
        assert!(recorded.seen.stdout().ends_with("\ndone\n"), "{:?}", recorded.seen);
        let contents = read(&recorded.recording);
        // 100 bytes are 13 words with their padding, 14 with the header; a list cell is 3.
        contents.expect_words("Gives_up.allocate", 400_000.0 * 17.0);
        let trace = &contents.description.trace;
        assert_eq!((trace.state, trace.lost), (FileState::Complete, 0));
        assert_eq!(trace.blocks, contents.blocks.len() as u64);
    }
});

// The launcher ended with the daemon's parent: the daemon's recording was cut where it dropped its
// privileges, its end was never written, or it could not be begun at all.
on_each!(nothing_is_lost_when_the_daemon_forks_before_that, |compiler| {
    for what in ["fork,close,setuid,wait", "fork,setuid,close,wait"] {
        let program = gives_up(compiler, what, 400_000);
        let case = Case::new(&program, &[]).stdin(b"\n").options(&["--rate", "1e-2"]);
        let (seen, _) = case.recorded_in_folder();
        assert!(seen.stdout().contains("\ndone\n"), "it holds the pipe until it ends: {seen:?}");
        let begun = Instant::now();
        // The process that is left behind has half a second between two looks.
        let daemon = loop {
            let of_daemon = |recording: &PathBuf| {
                let description = Recording::open(recording).ok()?.description?;
                (description.forked_from.is_some() && description.outcome.is_some())
                    .then(|| recording.clone())
            };
            if let Some(daemon) = recordings_in(case.folder.path()).iter().find_map(of_daemon) {
                break daemon;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no recording of the daemon");
            thread::sleep(Duration::from_millis(50));
        };
        let contents = read(&daemon);
        let trace = &contents.description.trace;
        assert_eq!((trace.state, trace.lost), (FileState::Complete, 0));
        assert_eq!(trace.blocks, contents.blocks.len() as u64);
        // What it allocated while its parent was there is not recorded, as was said then.
        let (words, _) = contents.words("Gives_up.allocate");
        assert!(words > 0.5 * 400_000.0 * 17.0, "{words} words");
    }
});

/// The recording of a program that could not be written to its end: a prefix, which everyone says.
fn expect_cut(recording: &Path, errno: i32, all: &Contents) {
    let contents = read(recording);
    let description = &contents.description;
    assert_eq!(description.outcome, Some(Outcome::WriteFailed { errno }));
    assert_eq!(description.trace.state, FileState::Cut);
    let written = contents.blocks.len();
    assert!(written > 0);
    assert_eq!(description.trace.blocks, written as u64);
    let total = written as u64 + description.trace.lost;
    let difference = total.abs_diff(all.blocks.len() as u64);
    assert!(difference < 100, "{total} of {}", all.blocks.len());
    for (block, before) in contents.blocks.iter().zip(&all.blocks) {
        assert_eq!((block.words, &block.stack), (before.words, &before.stack), "a prefix");
    }
    let path = recording.to_str().expect("a name");
    for command in [&["report"][..], &["trace", "info"]] {
        let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = memtrail.args(command).arg(path).output().expect("memtrail");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.success(), "{output:?}");
        assert!(words.contains("writing failed:"), "{command:?}: {text}");
        assert!(words.contains("samples could not be written: figures are too low"), "{text}");
    }
}

/// Some 400 KB of trace.
fn program(compiler: &str) -> Program {
    gives_up(compiler, "nothing", 10_000)
}

fn whole(program: &Program) -> Contents {
    read(&Case::new(program, &[]).options(&EVERY_WORD).recorded().recording)
}

// The trace went on behind the packet that was lost, and was said to be complete.
on_each!(the_trace_ends_where_the_limit_on_file_sizes_is, |compiler| {
    let program = program(compiler);
    let case = Case::new(&program, &[]).prelude("ulimit -f 100").options(&EVERY_WORD);
    let recorded = case.recorded();
    assert!(recorded.seen.stdout().ends_with("\ndone\n"), "{:?}", recorded.seen);
    expect_cut(&recorded.recording, 27, &whole(&program));
});

/// A file system of so many bytes, unmounted with the value.
pub(crate) struct SmallDisk(
    PathBuf,
    #[expect(dead_code, reason = "removed last")] tempfile::TempDir,
);

impl SmallDisk {
    pub(crate) fn mount(size: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path());
        let output = mount.output().expect("mount");
        assert!(output.status.success(), "run these tests where root may mount: {output:?}");
        Self(folder.path().to_owned(), folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

on_each!(the_trace_ends_where_the_disk_is_full, |compiler| {
    let program = program(compiler);
    let disk = SmallDisk::mount("128k");
    let recording = disk.path().join("it.memtrail");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--rate", "1", "-o"])
        .arg(&recording)
        .arg("--")
        .arg(&program.path)
        .envs(program.variables.iter().cloned())
        .output()
        .expect("memtrail run");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("ended when writing failed: No space left on device"), "{text}");
    assert!(text.contains("samples could not be written: figures are too low"), "{text}");
    expect_cut(&recording, 28, &whole(&program));
});
