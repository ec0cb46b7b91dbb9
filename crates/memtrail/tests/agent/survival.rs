//! What is in the file while the program runs, and after it did not end well.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{FileState, Outcome, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{read, recordings_in};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// 100,000 times a pair, a list cell, and 100 bytes (13 words and a header).
const KEPT_WORDS: f64 = 100_000.0 * 20.0;

/// `idle` under `memtrail run`, after it has allocated and told so.
fn start_idle(case: &Case) -> (Child, PathBuf) {
    let (mut child, recording) = case.start_recorded();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("read");
    assert_eq!(line, "ready\n");
    (child, recording)
}

/// Waits for the trace to hold what idle allocated. One second is promised, but
/// tests do not measure time.
fn wait_until_written(recording: &Path) {
    let started = Instant::now();
    loop {
        let opened = Recording::open(recording).ok();
        let bytes = opened.and_then(|r| fs::metadata(r.trace).ok()).map_or(0, |m| m.len());
        // 2,000 blocks of at least eight bytes each.
        if bytes > 16_000 {
            let contents = read(recording);
            if contents.words("Idle.keep_forever").0 > 0.9 * KEPT_WORDS {
                return;
            }
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{bytes} bytes after a minute");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The only child of a process.
pub(crate) fn child_of(pid: u32) -> u32 {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("children");
    text.split_whitespace().next().expect("one child").parse().expect("a pid")
}

pub(crate) fn send(signal: &str, pid: u32) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

on_each!(killed, |compiler| {
    let case = Case::new(&build(&named(compiler), "idle"), &[]);
    let (mut child, recording) = start_idle(&case);
    wait_until_written(&recording);
    send("-9", child_of(child.id()));
    assert_eq!(child.wait().expect("wait").signal(), Some(9), "run dies as the program did");
    let contents = read(&recording);
    contents.expect_words("Idle.keep_forever", KEPT_WORDS);
    assert_eq!(contents.description.trace.blocks, contents.blocks.len() as u64, "counted");
    assert_ne!(contents.description.trace.state, FileState::Growing);
    assert_eq!(contents.description.outcome, Some(Outcome::Killed { signal: 9 }));
});

on_each!(killed_at_once, |compiler| {
    // Everything the program allocated happened within the last second.
    let case = Case::new(&build(&named(compiler), "idle"), &[]);
    let (mut child, recording) = start_idle(&case);
    send("-9", child_of(child.id()));
    child.wait().expect("wait");
    read(&recording);
});

on_each!(terminated, |compiler| {
    let case = Case::new(&build(&named(compiler), "idle"), &[]);
    let (mut child, recording) = start_idle(&case);
    // A supervisor knows only the process it started.
    send("-TERM", child.id());
    assert_eq!(child.wait().expect("wait").signal(), Some(15));
    read(&recording).expect_words("Idle.keep_forever", KEPT_WORDS);
});

on_each!(interrupted, |compiler| {
    let case = Case::new(&build(&named(compiler), "idle"), &[]);
    let (mut child, recording) = start_idle(&case);
    let group = format!("-{}", child.id());
    // As the terminal does on Ctrl-C: to everyone.
    let status = Command::new("kill").args(["-INT", "--", &group]).status().expect("kill");
    assert!(status.success());
    assert_eq!(child.wait().expect("wait").signal(), Some(2));
    read(&recording).expect_words("Idle.keep_forever", KEPT_WORDS);
});

on_each!(launcher_killed, |compiler| {
    let case = Case::new(&build(&named(compiler), "idle"), &["4"]);
    let (mut child, recording) = start_idle(&case);
    let target = child_of(child.id());
    send("-9", child.id());
    child.wait().expect("wait");
    wait_until_written(&recording);
    // The program goes on to its own end.
    let started = Instant::now();
    while Path::new(&format!("/proc/{target}/exe")).exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the program hangs");
        thread::sleep(Duration::from_millis(50));
    }
    read(&recording).expect_words("Idle.keep_forever", KEPT_WORDS);
});

/// Runs memtrail until it has completed and removed the sessions in a folder, which are of killed launchers.
fn complete_by_later_runs(base: &str) {
    let left = || fs::read_dir(base).expect("it is there").flatten().map(|entry| entry.path());
    let session = left().next().expect("a session");
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(&session).and_then(|folder| folder.set_modified(old)).expect("aged");
    // One run in sixteen looks for such sessions.
    let mut runs = 0;
    while session.exists() {
        runs += 1;
        assert!(runs < 400, "{} is left", session.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["run", "-q", "--", "true"]).env("XDG_RUNTIME_DIR", base);
        assert!(command.status().expect("memtrail").success());
    }
    let started = Instant::now();
    while left().next().is_some() {
        assert!(started.elapsed() < Duration::from_secs(60), "the session stays");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A launcher that was killed left its session in memory for a week, with what its program, which was killed too, had
/// sampled last.
#[test]
fn a_later_run_completes_the_recording_of_a_killed_launcher() {
    let sessions = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let base = sessions.path().to_str().expect("UTF-8");
    let case = Case::new(&build(&named("system"), "idle"), &[]);
    let case = case.variable("XDG_RUNTIME_DIR", base);
    let (mut child, recording) = start_idle(&case);
    let target = child_of(child.id());
    send("-9", child.id());
    child.wait().expect("wait");
    send("-9", target);
    while Path::new(&format!("/proc/{target}/exe")).exists() {
        thread::sleep(Duration::from_millis(10));
    }
    complete_by_later_runs(base);
    let contents = read(&recording);
    contents.expect_words("Idle.keep_forever", KEPT_WORDS);
    assert_eq!(contents.description.trace.blocks, contents.blocks.len() as u64, "counted");
    assert_eq!(contents.description.trace.state, FileState::Cut);
}

/// The agent describes the end, but the launcher writes names of functions: sites were addresses for good.
#[test]
fn a_later_run_names_the_functions_of_a_killed_launchers_recording() {
    let sessions = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let base = sessions.path().to_str().expect("UTF-8");
    let case = Case::new(&build(&named("system"), "idle"), &["1"]);
    let case = case.options(&["--native", "--rate", "1e-2"]).variable("XDG_RUNTIME_DIR", base);
    let (mut child, recording) = start_idle(&case);
    let target = child_of(child.id());
    send("-9", child.id());
    child.wait().expect("wait");
    while Path::new(&format!("/proc/{target}/exe")).exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let report = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.arg("report").arg(&recording).output().expect("memtrail");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let list = recording.join("modules");
    assert!(list.exists());
    let before = report();
    assert!(before.contains("caml_"), "named while it is read: {before}");
    complete_by_later_runs(base);
    assert!(!list.exists());
    let after = report();
    assert!(after.contains("caml_"), "{after}");
}

on_each!(ends_without_at_exit, |compiler| {
    let program = build(&named(compiler), "ends");
    for arguments in [["_exit", "0"], ["kill", "9"], ["kill", "15"], ["exit", "3"]] {
        let contents = read(&Case::new(&program, &arguments).same().recording);
        // 50,000 pairs and list cells; the short strings come on top.
        let (words, error) = contents.words("Ends.allocate");
        if arguments != ["kill", "9"] {
            assert!(words + 5.0 * error > 50_000.0 * 8.0, "{arguments:?}: {words} ± {error}");
        }
    }
});

on_each!(exec_leaves_a_recording_for_each_image, |compiler| {
    let program = build(&named(compiler), "exec");
    let case = Case::new(&program, &["2"]);
    let (seen, found) = case.recorded_in_folder();
    assert_eq!(seen.status.code(), Some(4), "{seen:?}");
    assert_eq!(found.len(), 3, "{found:?}");
    for recording in found {
        let contents = read(&recording);
        assert!(
            contents.blocks.len() > 100,
            "{}: {} blocks",
            recording.display(),
            contents.blocks.len()
        );
    }
});

on_each!(forked_children, |compiler| {
    let program = build(&named(compiler), "fork");
    let case = Case::new(&program, &[]);
    let (_, alone) = case.recorded_in_folder();
    assert_eq!(alone.len(), 1, "one recording without --children: {alone:?}");
    read(&alone[0]);
    let case = Case::new(&program, &[]).options(&["--rate", "1e-2", "--children"]);
    let (_, all) = case.recorded_in_folder();
    // The parent, its child, the grandchild, and twenty more.
    assert_eq!(all.len(), 23, "{all:?}");
    let children = all
        .iter()
        .map(|r| read(r).description)
        .filter(|description| description.forked_from.is_some())
        .count();
    assert_eq!(children, 22);
});

on_each!(gives_way_to_another_profiler, |compiler| {
    let compiler = named(compiler);
    let program = build(&compiler, "memprof_user");
    let contents = read(&Case::new(&program, &[]).same().recording);
    let gave_way = contents.description.outcome == Some(Outcome::GaveWay);
    assert_eq!(gave_way, compiler.has_sampler(), "{:?}", contents.description.outcome);
});

on_each!(a_daemon_is_followed, |compiler| {
    let results = tempfile::tempdir().expect("a folder for results");
    let file = results.path().join("result");
    let case = Case::new(&build(&named(compiler), "daemon"), &[file.to_str().expect("UTF-8"), "2"]);
    let (seen, _) = case.recorded_in_folder();
    assert!(seen.status.success(), "{seen:?}");
    let started = Instant::now();
    let text = loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with("done\n") {
            break text;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the daemon says only {text:?}");
        thread::sleep(Duration::from_millis(20));
    };
    let pid: u32 = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("pid ")?.parse().ok())
        .expect("the daemon's pid");
    let started = Instant::now();
    while Path::new(&format!("/proc/{pid}/exe")).exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the daemon does not end");
        thread::sleep(Duration::from_millis(20));
    }
    let found: Vec<_> = recordings_in(case.folder.path())
        .into_iter()
        .filter(|r| Recording::open(r).is_ok_and(|r| r.description.is_some_and(|d| d.pid == pid)))
        .collect();
    assert_eq!(found.len(), 1, "recordings of the daemon");
    assert!(read(&found[0]).blocks.len() > 100);
});
