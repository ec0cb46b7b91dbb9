//! A disk that other programs fill: packets wait in memory until there is room again.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{FileState, Outcome, Recording, TRACE_FILE};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Contents, read};
use memtrail_test_support::programs::build;

use crate::failing_writes::SmallDisk;

/// Words of a block of 100 bytes and of its cell in a list.
const WORDS: f64 = 17.0;
/// More than packets have on the disk while it is full.
const LITTLE: u64 = 100 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// `gives_up`, which has allocated and waits, on a disk that is full.
struct Full {
    launcher: Child,
    pid: i32,
    input: ChildStdin,
    /// It writes another line.
    output: BufReader<ChildStdout>,
    recording: PathBuf,
    disk: SmallDisk,
}

impl Full {
    fn start(blocks: u32, rate: &str) -> Self {
        let program = build(&named("system"), "gives_up");
        let disk = SmallDisk::mount("16m");
        let recording = disk.path().join("it.memtrail");
        let ballast = File::create(disk.path().join("ballast")).expect("a file");
        let mut ballast = std::io::BufWriter::new(ballast);
        // Room for the description and the first packet.
        let fits = (16 << 20) - (64 << 10);
        ballast.write_all(&vec![1; fits]).and_then(|()| ballast.flush()).expect("room");
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(["run", "--snapshot", "off", "--seed", "1", "--rate", rate, "-q", "-o"])
            .arg(&recording)
            .arg("--")
            .arg(&program.path)
            .envs([("GIVES_UP", "nothing,wait"), ("BLOCKS", &blocks.to_string())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("memtrail run");
        let mut line = String::new();
        let mut output = BufReader::new(launcher.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("its number");
        let pid = line.trim().parse().expect("a number");
        // It has allocated all once its descriptors wait for input.
        let waits = || {
            fs::read_to_string(format!("/proc/{pid}/syscall"))
                .is_ok_and(|call| call.starts_with("0 0x0 "))
        };
        until(waits, "it waits for a line");
        let input = launcher.stdin.take().expect("piped");
        let full = Self { launcher, pid, input, output, recording, disk };
        assert!(full.trace() < LITTLE, "{} bytes", full.trace());
        full
    }

    fn trace(&self) -> u64 {
        fs::metadata(self.recording.join(TRACE_FILE)).expect("a trace").len()
    }

    fn make_room(&self) {
        fs::remove_file(self.disk.path().join("ballast")).expect("removed");
    }

    /// Lets the program end, and reads its recording.
    fn end(mut self) -> Contents {
        let _ = self.input.write_all(b"\n");
        // Until its end.
        let _ = self.output.read_line(&mut String::new());
        self.launcher.wait().expect("it ends");
        read(&self.recording)
    }
}

fn until(is_so: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not so: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn expect_whole(contents: &Contents, blocks: u32) {
    let trace = &contents.description.trace;
    assert_eq!((trace.state, trace.lost), (FileState::Complete, 0));
    assert_eq!(trace.blocks, contents.blocks.len() as u64);
    contents.expect_words("Gives_up.allocate", f64::from(blocks) * WORDS);
    expect_note(contents, "the disk was full");
}

/// The report of a recording.
fn report(recording: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(["report", "--json"]).arg(recording).output().expect("a report");
    let mut report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["report"].take()
}

fn expect_note(contents: &Contents, words: &str) {
    let notes = &contents.description.notes;
    assert!(notes.iter().any(|note| note.contains(words)), "{notes:?}");
}

/// A recording ended where another program filled the disk for a moment.
#[test]
fn all_is_written_once_there_is_room_again() {
    const BLOCKS: u32 = 100_000;
    let full = Full::start(BLOCKS, "1e-1");
    full.make_room();
    // Nothing is allocated meanwhile.
    until(|| full.trace() > 4 * LITTLE, "the trace has what waited");
    let contents = full.end();
    assert_eq!(contents.description.outcome, Some(Outcome::Exited { code: Some(0) }));
    expect_whole(&contents, BLOCKS);
}

/// The last packet was put behind packets that were missing.
#[test]
fn the_launcher_writes_what_a_killed_program_had_waiting() {
    const BLOCKS: u32 = 100_000;
    let full = Full::start(BLOCKS, "1e-1");
    let send = |signal: &str| {
        let status = Command::new("kill").arg(signal).arg(full.pid.to_string()).status();
        assert!(status.expect("kill").success());
    };
    send("-STOP");
    let is_stopped = || {
        fs::read_to_string(format!("/proc/{}/stat", full.pid))
            .is_ok_and(|stat| stat.contains(") T "))
    };
    until(is_stopped, "it has stopped");
    full.make_room();
    send("-KILL");
    let contents = full.end();
    assert_eq!(contents.description.outcome, Some(Outcome::Killed { signal: 9 }));
    expect_whole(&contents, BLOCKS);
}

#[test]
fn fewer_samples_are_kept_if_the_disk_stays_full() {
    const BLOCKS: u32 = 2_000_000;
    let full = Full::start(BLOCKS, "2e-1");
    full.make_room();
    until(|| full.trace() > 4 * LITTLE, "the trace has what waited");
    let allocated = &report(&full.recording)["totals"]["allocated"];
    let [value, error] =
        ["bytes", "bytes_stderr"].map(|key| allocated[key].as_f64().expect("a number"));
    let truth = f64::from(BLOCKS) * WORDS * 8.0;
    // The program itself allocates little besides.
    assert!((value - truth).abs() < 5.0 * error + 1e6, "{value} ± {error}, {truth}");
    let contents = full.end();
    assert!(contents.blocks.len() < BLOCKS as usize / 2, "{} blocks", contents.blocks.len());
    assert_eq!(
        (contents.description.trace.state, contents.description.trace.lost),
        (FileState::Complete, 0)
    );
    expect_note(&contents, "fewer samples were kept");
}

/// At the end there still is no room: all before it is readable, and the rest is counted.
#[test]
fn what_has_no_room_at_the_end_is_counted() {
    const BLOCKS: u32 = 100_000;
    let whole = {
        let full = Full::start(BLOCKS, "1e-1");
        full.make_room();
        full.end().blocks.len() as u64
    };
    let contents = Full::start(BLOCKS, "1e-1").end();
    let trace = &contents.description.trace;
    assert_eq!(contents.description.outcome, Some(Outcome::WriteFailed { errno: libc::ENOSPC }));
    assert_eq!(trace.state, FileState::Cut);
    assert_eq!(trace.blocks + trace.lost, whole);
    assert!(trace.blocks > 0 && trace.lost > 0, "{trace:?}");
}

/// The trace of a program that allocates by `malloc` and is quiet now, on a disk that is full: read while the program runs.
#[test]
fn a_native_program_is_reported_with_what_waits() {
    let disk = SmallDisk::mount("16m");
    let recording = disk.path().join("it.memtrail");
    fs::write(disk.path().join("ballast"), vec![1; (16 << 20) - (96 << 10)]).expect("room");
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "--rate", "1", "-q", "-o"])
        .arg(&recording)
        .args([
            "--",
            "perl",
            "-e",
            "my @all = map { 'x' x 200 } 1 .. 50_000; $| = 1; print qq(filled\\n); <STDIN>",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("memtrail run");
    let mut line = String::new();
    BufReader::new(launcher.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let blocks = |recording: &Path| {
        let report = report(recording);
        assert_eq!(report["anomalies"]["damage"], 0);
        report["totals"]["allocated"]["recorded_blocks"].as_u64().expect("a number")
    };
    let seen = blocks(&recording);
    let described =
        Recording::open(&recording).expect("a recording").description.expect("described");
    assert_eq!(described.outcome, None);
    let written = fs::metadata(recording.join(TRACE_FILE)).expect("a trace").len();
    assert!(written < 2 * LITTLE, "{written} bytes");
    fs::remove_file(disk.path().join("ballast")).expect("removed");
    drop(launcher.stdin.take());
    assert!(launcher.wait().expect("it ends").success());
    let all = blocks(&recording);
    assert!(seen > 50_000 && seen <= all, "{seen} of {all}");
}
