//! Programs that give up their privileges: their snapshots are written all the same, or it is said
//! why not.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use memtrail_recording::{Recording, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build};
use memtrail_test_support::running::Case;
use memtrail_test_support::site::{Site, free_port};
use memtrail_test_support::snapshot::Heap;

use crate::asking::{Ended, Running, ask, snapshots_of};

fn assert_root() {
    let me = std::fs::metadata("/proc/self").expect("/proc").uid();
    assert_eq!(me, 0, "chroot and setuid need root: run these tests as root");
}

/// `gives_up`, which gives up so much and waits.
pub(crate) fn gives_up(compiler: &str, what: &str, blocks: u32) -> Program {
    assert_root();
    let mut program = build(&named(compiler), "gives_up");
    for (name, value) in
        [("GIVES_UP", what), ("BLOCKS", &blocks.to_string()), ("JAIL", "/var/empty")]
    {
        program.variables.push((name.into(), value.into()));
    }
    std::fs::create_dir_all("/var/empty").expect("a folder to be locked in");
    program
}

fn all_complete(ended: &Ended, reasons: &[SnapshotReason]) {
    let taken: Vec<_> = ended.snapshots.iter().map(|snapshot| snapshot.reason).collect();
    assert_eq!(taken, reasons, "{:?}", ended.snapshots);
    for snapshot in &ended.snapshots {
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
    }
}

// Alone, each of these left no snapshot and no word about it.
on_each!(snapshots_after_privileges_are_dropped, |compiler| {
    for what in ["setuid,wait", "chroot,wait", "close,chroot,setuid,wait"] {
        let program = gives_up(compiler, what, 20_000);
        let running = Running::start(&program, &["--rate", "1e-3", "--snapshot", "exit"]);
        let heap = running.snapshot();
        assert!(!heap.blocks.is_empty(), "{what}");
        let ended = running.end();
        assert_eq!((ended.stdout.as_str(), ended.code), ("done\n", Some(0)), "{what}");
        all_complete(&ended, &[SnapshotReason::Request, SnapshotReason::Exit]);
    }
});

#[test]
fn ocsigenserver_under_www_data() {
    assert_root();
    let site = Site::new(free_port());
    let text = std::fs::read_to_string(&site.configuration).expect("the configuration");
    let user = "<user>www-data</user><group>www-data</group>";
    let text = text.replace("<user></user><group></group>", user);
    assert!(text.contains(user), "{text}");
    std::fs::write(&site.configuration, text).expect("write the configuration");
    let opened = Command::new("chmod").args(["-R", "a+rwX"]).arg(site.folder.path()).status();
    assert!(opened.expect("chmod").success());
    let case = site.case().options(&["--snapshot", "request"]);
    let (mut launcher, recording) = case.start_recorded();
    site.wait();
    // It may answer before `recording.json` is there.
    let is_in_time = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Recording::open(&recording)
            .ok()
            .and_then(|recording| recording.description)
            .is_some_and(|description| user_of(description.pid).is_some_and(|user| user != 0))
    });
    assert!(is_in_time, "it stays root");
    let output = ask(&launcher.id().to_string());
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let pid = answer["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid");
    let user = user_of(pid).expect("it runs");
    assert_ne!(user, 0, "it is root still: {answer}");
    let path = answer["path"].as_str().expect("a path");
    assert!(Heap::read(Path::new(path)).blocks.len() > 1_000);
    launcher.kill().expect("kill");
    launcher.wait().expect("wait");
    let killed = Command::new("kill").args(["-9", &answer["pid"].to_string()]).status();
    assert!(killed.expect("kill").success());
    let snapshots = snapshots_of(&recording);
    assert_eq!(snapshots.len(), 1, "{snapshots:?}");
    assert!(matches!(snapshots[0].outcome, SnapshotOutcome::Complete { .. }), "{snapshots:?}");
}

// Once the launcher had written samples for the program, it named itself as the process of the snapshot.
on_each!(a_launcher_that_writes_for_a_program_is_not_taken_for_it, |compiler| {
    let program = gives_up(compiler, "setuid,wait", 200_000);
    let running = Running::start(&program, &["--rate", "1e-2", "--snapshot", "request"]);
    let launcher = launcher_of(&running.pid);
    let has_trace_open = || {
        let open = std::fs::read_dir(format!("/proc/{launcher}/fd")).expect("it runs").flatten();
        open.filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .any(|path| path.ends_with("trace.ctf"))
    };
    // A packet is written once a second at the latest.
    let is_in_time = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        has_trace_open()
    });
    assert!(is_in_time, "the launcher writes no samples");
    let output = ask(&launcher);
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["pid"].to_string(), running.pid);
    assert_eq!(running.end().code, Some(0));
});

/// `memtrail run` stands for the program that it started, also for one that a script started in its place.
#[test]
fn a_launcher_stands_for_the_program_of_its_script() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = build(&named("system"), "gives_up");
    for (name, value) in [("GIVES_UP", "nothing,wait"), ("BLOCKS", "1000")] {
        program.variables.push((name.into(), value.into()));
    }
    let script = folder.path().join("server.sh");
    let text = format!("#!/bin/sh\n{}\nexit $?\n", program.path.display());
    std::fs::write(&script, text).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
    program.path = script;
    let running = Running::start(&program, &["--snapshot", "request"]);
    let output = ask(&running.launcher());
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["pid"].to_string(), running.pid);
    // The script itself is not recorded.
    let script = ask(&launcher_of(&running.pid));
    let text = String::from_utf8_lossy(&script.stderr).into_owned();
    assert!(text.contains("is not recorded, and has no heap to read"), "{text}");
    assert_eq!(running.end().code, Some(0));
}

/// The user of a process, if it runs.
fn user_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn launcher_of(pid: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent");
    parent.trim().to_owned()
}

fn memtrail(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(arguments).output().expect("memtrail")
}

#[test]
fn nobody_is_left_to_write_a_snapshot_after_setuid() {
    let program = gives_up("ocaml-4.14.1000", "setuid,wait", 20_000);
    let running = Running::start(&program, &["--snapshot", "request"]);
    // Until it has given them up.
    let status = format!("/proc/{}/status", running.pid);
    while !std::fs::read_to_string(&status).expect("it runs").contains("Uid:\t65534") {
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-9", &launcher_of(&running.pid)]).status();
    assert!(killed.expect("kill").success());
    let output = memtrail(&["snapshot", "--wait", "2", &running.pid]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("can no longer reach its recording\nhint: it has changed its user"),
        "{text}"
    );
}

// `run`, `report`, `trace info` and `heap info` once said nothing of it.
#[test]
fn every_view_tells_of_snapshots_that_were_not_taken() {
    let program = build(&named("system"), "heap_live");
    let case = Case::new(&program, &[]).prelude("ulimit -f 64");
    let recorded = case.options(&["--rate", "1e-5", "--snapshot", "exit"]).same();
    assert_eq!(snapshots_of(&recorded.recording).len(), 1);
    let path = recorded.recording.to_str().expect("a name");
    let line = "heap snapshot 1 (exit) was not taken: File too large";
    for command in [&["report"][..], &["trace", "info"]] {
        let output = memtrail(&[command, &[path]].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(line), "{command:?}: {text}");
    }
    let output = memtrail(&["heap", "info", path]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(line), "heap info: {text}");
}

// A request that came too late was forgotten.
on_each!(a_request_that_finds_no_moment_is_told, |compiler| {
    let program = build(&named(compiler), "heap_held_up");
    let running = Running::start(&program, &["--snapshot", "request"]);
    let output = running.ask();
    assert!(!output.status.success(), "{output:?}");
    let all = running.end().snapshots;
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].reason, SnapshotReason::Request);
    match &all[0].outcome {
        SnapshotOutcome::Failed { reason } => {
            assert_eq!(reason, "the program ended before its heap held still");
        }
        outcome @ SnapshotOutcome::Complete { .. } => panic!("{outcome:?}"),
    }
});
