//! Full disks, deaths and limits.

use memtrail_recording::{SnapshotOutcome, SnapshotReason};

use crate::asking::{Running, ask, snapshots_of};
use crate::compilers::named;
use crate::heap::Heap;
use crate::on_each;
use crate::programs::build;
use crate::running::Case;

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
    let left: Vec<_> = std::fs::read_dir(&recorded.recording)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains(".heap"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
});

on_each!(killed_while_its_snapshot_is_written, |compiler| {
    let running =
        Running::start(&build(&named(compiler), "heap_waits"), &["--snapshot", "request"]);
    let pid = running.pid.clone();
    let asked = std::thread::spawn(move || ask(&pid));
    // As soon as the copy is made, or nearly so.
    while !running.recording.join("ask").exists() && !asked.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    while running.recording.join("ask").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.signal("KILL");
    let recording = running.recording.clone();
    asked.join().expect("answered or told that it ended");
    let ended = running.end();
    assert_eq!(ended.code, None, "killed");
    for snapshot in &ended.snapshots {
        if matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }) {
            Heap::read(&recording.join(&snapshot.file));
        }
    }
});

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
