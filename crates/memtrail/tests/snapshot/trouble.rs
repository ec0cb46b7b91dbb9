//! Full disks, deaths and limits.

use std::path::Path;
use std::process::Command;

use memtrail_recording::{Recording, Snapshot, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use memtrail_test_support::snapshot::Heap;

use crate::asking::{Running, ask, children, snapshots_of};

fn names_in(recording: &Path) -> Vec<String> {
    let all = std::fs::read_dir(recording).expect("a folder").flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

on_each!(no_room_for_the_file, |compiler| {
    let program = build(&named(compiler), "heap_live");
    // 64 KiB: more would raise SIGXFSZ.
    let case = Case::new(&program, &[]).prelude("ulimit -f 64");
    let recorded = case.options(&["--rate", "1e-5", "--snapshot", "exit"]).same();
    let all = snapshots_of(&recorded.recording);
    assert_eq!(all.len(), 1, "{all:?}");
    match &all[0].outcome {
        SnapshotOutcome::Failed { reason } => assert!(reason.contains("too large"), "{reason}"),
        outcome @ SnapshotOutcome::Complete { .. } => panic!("{outcome:?}"),
    }
    let left = names_in(&recorded.recording);
    assert!(left.iter().all(|name| !name.contains(".heap")), "{left:?}");
});

on_each!(killed_while_its_snapshot_is_written, |compiler| {
    let running =
        Running::start(&build(&named(compiler), "heap_waits"), &["--snapshot", "request"]);
    let pid = running.pid.clone();
    let asked = std::thread::spawn(move || ask(&pid));
    // As soon as the copy is made, or nearly so.
    while !running.recording.join("request").exists() && !asked.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    while running.recording.join("request").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.signal("KILL");
    let recording = running.recording.clone();
    asked.join().expect("answered or told that it ended");
    let (ended, ()) = running.end_with(|| {
        for snapshot in snapshots_of(&recording) {
            if matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }) {
                Heap::read(&recording.join(&snapshot.file));
            }
        }
    });
    assert_eq!(ended.code, None, "killed");
});

on_each!(a_writer_that_is_killed, |compiler| {
    let running =
        Running::start(&build(&named(compiler), "heap_grows"), &["--snapshot", "request"]);
    let (mut failed, mut tries) = (0, 0);
    // It may have been faster than we.
    while failed == 0 {
        tries += 1;
        assert!(tries < 1000, "each was faster");
        let pid = running.pid.clone();
        let asked = std::thread::spawn(move || ask(&pid));
        while !asked.is_finished() {
            for writer in children(&running.pid) {
                let _ = Command::new("kill").args(["-9", &writer]).output();
            }
        }
        let output = asked.join().expect("an answer");
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(text.contains("its writer was killed by signal 9"), "{text}");
            failed += 1;
        }
    }
    running.snapshot();
    let recording = running.recording.clone();
    let (all, left) = running.end_with(|| names_in(&recording));
    assert_eq!(all.stdout, "32\n");
    let complete = |s: &&Snapshot| matches!(s.outcome, SnapshotOutcome::Complete { .. });
    let whole = all.snapshots.iter().filter(complete).count();
    assert_eq!(all.snapshots.len(), whole + failed, "{:?}", all.snapshots);
    let heaps = left.iter().filter(|name| name.contains("heap")).count();
    assert_eq!(heaps, whole, "{left:?}");
});

#[test]
fn the_user_is_told_of_snapshots_that_failed() {
    let program = build(&named("system"), "heap_live");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -f 64; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_memtrail")]);
    command.args(["run", "--rate", "1e-5", "--snapshot", "exit", "-o", "it.memtrail", "--"]);
    let output = command.arg(&program.path).current_dir(folder.path()).output().expect("a run");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("heap snapshot 1 (exit) was not taken: File too large"), "{text}");
}

on_each!(little_address_space, |compiler| {
    let program = build(&named(compiler), "heap_live");
    let case = Case::new(&program, &[]).prelude("ulimit -v 1500000");
    let recorded = case.options(&["--snapshot", "exit"]).same();
    assert_eq!(snapshots_of(&recorded.recording).len(), 1);
});

// Forked children, and programs started, are not written down and not disturbed.
on_each!(forks_and_children, |compiler| {
    for program in ["fork", "children", "exec", "waiting"] {
        let program = build(&named(compiler), program);
        Case::new(&program, &[]).options(&["--snapshot", "every-major,exit,signal"]).same();
    }
});

// It was asked to come by for a snapshot that was taken by another thread meanwhile, and looked for it for ever, before a
// system call. One run of nine did.
on_each!(a_domain_is_not_asked_for_what_is_done, |compiler| {
    let program = build(&named(compiler), "waiting");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let case = || Case::new(&program, &[]).options(&["--snapshot", "every-major,exit"]);
            scope.spawn(move || drop(case().same()));
        }
    });
});

on_each!(memory_that_runs_low, |compiler| {
    let program = build(&named(compiler), "heap_near_limit");
    let options = ["--snapshot", "out-of-memory"];
    let running = Running::start_after("ulimit -v 3000000", &program, &options);
    running.wait_for("0001.heap");
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("done\n", Some(0)));
    let all = ended.snapshots;
    assert!(all.iter().all(|s| s.reason == SnapshotReason::OutOfMemory), "{all:?}");
    assert!((1..=3).contains(&all.len()), "one a level: {all:?}");
});

on_each!(before_out_of_memory_is_raised, |compiler| {
    let program = build(&named(compiler), "heap_exhausted");
    let options = ["--rate", "1e-3", "--snapshot", "out-of-memory"];
    let recorded = Case::new(&program, &[]).options(&options).same();
    assert_eq!(recorded.seen.status.code(), Some(2), "{:?}", recorded.seen);
    let all = snapshots_of(&recorded.recording);
    let reasons: Vec<_> = all.iter().map(|snapshot| snapshot.reason).collect();
    assert_eq!(reasons, [SnapshotReason::OutOfMemory]);
    // The frames are still there.
    let heap = Heap::read(&recorded.recording.join(&all[0].file));
    let frames = heap.roots.iter().filter(|root| root.path.ends_with("/Heap_exhausted.nested"));
    let mut held: Vec<_> = frames.map(|root| heap.blocks[root.block as usize].wosize).collect();
    held.sort_unstable();
    assert_eq!(held, [1000, 1001, 1002], "{:#?}", heap.paths());
    // A program that copes with it is written down once, not each time.
    let recorded = Case::new(&program, &["caught"]).options(&options).same();
    assert_eq!(recorded.seen.stdout(), "caught 100\n");
    assert!(!snapshots_of(&recorded.recording).is_empty());
    assert!(snapshots_of(&recorded.recording).len() < 100);
});

// Those that allocate so little that nothing of it is sampled are not recorded at all.
on_each!(forked_children_are_written_down_as_themselves, |compiler| {
    let program = build(&named(compiler), "fork");
    let options = ["--rate", "1e-2", "--children", "--snapshot", "exit"];
    let case = Case::new(&program, &[]).options(&options);
    let (_, recordings) = case.recorded_in_folder();
    let mut written = 0;
    for recording in &recordings {
        let description = Recording::open(recording).expect("a recording").description;
        let description = description.expect("a description");
        for snapshot in description.snapshots.expect("asked for") {
            assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
            assert_eq!((snapshot.number, snapshot.reason), (1, SnapshotReason::Exit));
            let heap = Heap::read(&recording.join(&snapshot.file));
            assert_eq!(heap.pid, u64::from(description.pid));
            written += 1;
        }
    }
    assert!(written >= 2, "{written} of {} recordings", recordings.len());
});

// What it opens for a moment takes no number that the program might count on.
on_each!(the_thread_that_waits_has_no_descriptors_of_the_program, |compiler| {
    let running =
        Running::start(&build(&named(compiler), "heap_waits"), &["--snapshot", "out-of-memory"]);
    let own_table = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", running.pid)).expect("it runs");
        tasks.flatten().any(|task| {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            let open = std::fs::read_dir(task.path().join("fd"));
            name.trim() == "memtrail" && open.is_ok_and(|open| open.count() <= 1)
        })
    };
    let begun = std::time::Instant::now();
    while !own_table() {
        assert!(begun.elapsed().as_secs() < 120, "no such thread");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // It still does its work.
    running.snapshot();
    assert_eq!(running.end().stdout, "woken by input\n303\n");
});

on_each!(programs_that_close_every_descriptor, |compiler| {
    let program = build(&named(compiler), "descriptors");
    let options = ["--snapshot", "out-of-memory,exit,every-major"];
    Case::new(&program, &[]).options(&options).same();
    Case::new(&program, &["keep"]).options(&options).same();
});

// The launcher said nothing of the snapshot that was asked for.
on_each!(a_killed_program_is_said_to_have_no_last_snapshot, |compiler| {
    let program = build(&named(compiler), "ends");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["run", "--rate", "1e-3", "--snapshot", "exit", "-o", "it.memtrail", "--"]);
    let output = command.arg(&program.path).args(["kill", "9"]).current_dir(folder.path()).output();
    let text = String::from_utf8_lossy(&output.expect("memtrail run").stderr).into_owned();
    let line = "heap snapshot 1 (exit) was not taken: signal 9 killed the program";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("memtrail leaks"), "there is nothing to look at: {text}");
    let all = snapshots_of(&folder.path().join("it.memtrail"));
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].reason, SnapshotReason::Exit);
});
