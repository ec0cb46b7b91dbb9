//! When snapshots are taken.

use memtrail_recording::{SnapshotOutcome, SnapshotReason};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use memtrail_test_support::snapshot::Heap;

use crate::asking::{Running, ask, snapshots_of};

on_each!(asked_for_while_it_waits, |compiler| {
    // Nothing has to be said beforehand.
    let running = Running::start(&build(&named(compiler), "heap_waits"), &[]);
    for _ in 0..3 {
        let heap = running.snapshot();
        assert!(heap.pause > 0, "the pause is known");
        // Three frames hold an array each.
        let (blocks, words) = heap.sum(&heap.live());
        assert!(blocks > 3 && words > 101 + 102 + 103, "{blocks} blocks, {words} words");
    }
    let ended = running.end();
    assert_eq!(ended.stdout, "woken by input\n303\n", "it was not woken by us");
    assert_eq!(ended.snapshots.iter().map(|s| s.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(ended.snapshots.iter().all(|s| s.reason == SnapshotReason::Request));
});

#[test]
fn programs_without_snapshots_refuse_at_once() {
    let running = Running::start(&build(&named("system"), "heap_waits"), &["--snapshot", "off"]);
    let refused = running.ask();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("was started with --snapshot off") && said.contains("hint: "), "{said}");
    running.end();
}

on_each!(two_who_ask_at_once_are_both_answered, |compiler| {
    let running =
        Running::start(&build(&named(compiler), "heap_waits"), &["--snapshot", "request"]);
    let pid = running.pid.clone();
    let other = std::thread::spawn(move || ask(&pid));
    running.snapshot();
    let other = other.join().expect("the other's answer");
    assert!(other.status.success(), "{other:?}");
    running.end();
});

on_each!(a_signal_that_the_program_does_not_use, |compiler| {
    let running = Running::start(
        &build(&named(compiler), "heap_reads"),
        &["--snapshot", "signal", "--signal", "USR2"],
    );
    running.signal("USR2");
    running.wait_for("0001.heap");
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("line\n", Some(0)));
    assert_eq!(ended.snapshots[0].reason, SnapshotReason::Signal);
});

// The program handles SIGUSR1 itself.
on_each!(a_signal_that_the_program_uses_is_left_to_it, |compiler| {
    let program = build(&named(compiler), "signals");
    Case::new(&program, &[]).options(&["--snapshot", "signal"]).same();
});

on_each!(every_major_collection_thinned, |compiler| {
    let program = build(&named(compiler), "churn");
    let case = Case::new(&program, &["10"]);
    let recorded = case.options(&["--snapshot", "every-major", "--at-most", "3"]).same();
    let all = snapshots_of(&recorded.recording);
    // While one is being written none is taken.
    assert!((1..=3).contains(&all.len()), "{all:?}");
    assert!(all.iter().all(|s| s.reason == SnapshotReason::EveryMajor), "{all:?}");
    for snapshot in &all {
        Heap::read(&recorded.recording.join(&snapshot.file));
    }
});

on_each!(every_major_collection_but_not_too_often, |compiler| {
    let program = build(&named(compiler), "churn");
    let case = Case::new(&program, &["10"]);
    let recorded = case.options(&["--snapshot", "every-major", "--every", "10h"]).same();
    assert_eq!(snapshots_of(&recorded.recording).len(), 1);
});

on_each!(a_heap_that_grows_too_large, |compiler| {
    let running = Running::start(&build(&named(compiler), "heap_grows"), &["--above", "20MiB"]);
    running.wait_for("0001.heap");
    let heap = Heap::read(&running.recording.join("0001.heap"));
    let (_, words) = heap.sum(&heap.reachable(0..heap.blocks.len() as u32));
    assert!(8 * words >= 20 << 20, "{words} words");
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("32\n", Some(0)));
    // It has not doubled since.
    let reasons: Vec<_> = ended.snapshots.iter().map(|snapshot| snapshot.reason).collect();
    assert_eq!(reasons, [SnapshotReason::Above]);
});

#[test]
fn a_heap_that_grows_in_other_domains() {
    let program = build(&named("ocaml-5.3.0"), "heap_grows_apart");
    let running = Running::start(&program, &["--above", "20MiB"]);
    running.wait_for("0001.heap");
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("32\n", Some(0)));
    assert_eq!(ended.snapshots[0].reason, SnapshotReason::Above);
}

on_each!(a_heap_that_stays_small, |compiler| {
    let program = build(&named(compiler), "heap_live");
    let recorded = Case::new(&program, &[]).options(&["--above", "1GiB"]).same();
    assert_eq!(snapshots_of(&recorded.recording), [], "it never was so large");
});

#[test]
fn without_the_option_there_are_none() {
    let program = build(&named("system"), "heap_waits");
    let case = Case::new(&program, &[]).stdin(b"\n").options(&["--rate", "1e-4"]);
    let recorded = case.recorded();
    let entries = std::fs::read_dir(&recorded.recording).expect("a folder").flatten();
    let names: Vec<_> = entries.map(|entry| entry.path()).collect();
    assert!(names.iter().all(|path| path.extension() != Some("heap".as_ref())), "{names:?}");
    // None can be asked for, either.
    assert!(!names.iter().any(|path| path.ends_with("request")), "{names:?}");
    // This very process is not recorded.
    let answer = ask(&std::process::id().to_string());
    assert_eq!(answer.status.code(), Some(3), "{answer:?}");
    assert!(String::from_utf8_lossy(&answer.stderr).contains("is not recorded"));
}

/// A child that ended while it was looked at made `memtrail snapshot` fail with "cannot look into process".
#[test]
fn children_that_end_meanwhile_are_passed_over() {
    let script = "while :; do /bin/true; done";
    let mut shell = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
    for _ in 0..40 {
        let answer = ask(&shell.id().to_string());
        let stderr = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(stderr.contains("is not recorded"), "{stderr}");
    }
    shell.kill().unwrap();
    shell.wait().unwrap();
}

#[test]
fn whoever_reads_the_output_sees_its_end_while_snapshots_are_written() {
    let program = build(&named("system"), "heap_live");
    let recorded = Case::new(&program, &[]).options(&["--snapshot", "exit,every-major"]).same();
    let complete = |outcome: &SnapshotOutcome| matches!(outcome, SnapshotOutcome::Complete { .. });
    assert!(snapshots_of(&recorded.recording).iter().all(|s| complete(&s.outcome)));
}

/// Asks again and again while domains are at work, the first of them the main one.
fn answered_each_time(work: &str) {
    let program = build(&named("ocaml-5.3.0"), "busy_domains");
    let shell = format!("export WORK={work}");
    let running = Running::start_after(&shell, &program, &["--rate", "1e-4"]);
    for round in 0..12 {
        let answer = running.ask_within(20);
        assert!(answer.status.success(), "request {round}: {answer:?}");
    }
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("done\n", Some(0)));
}

#[test]
fn one_busy_domain_answers_each_time() {
    answered_each_time("allocating");
    answered_each_time("looping");
}

#[test]
fn four_busy_domains_answer_each_time() {
    answered_each_time("allocating,allocating,allocating,allocating");
    answered_each_time("looping,looping,looping,looping");
}

#[test]
fn eight_busy_domains_answer_each_time() {
    answered_each_time(&["allocating"; 8].join(","));
}

#[test]
fn busy_domains_answer_while_the_main_one_waits() {
    answered_each_time("joining,allocating,looping,allocating,looping");
}

#[test]
fn idle_and_busy_domains_that_begin_and_end_answer_each_time() {
    answered_each_time("napping,spawning,allocating,napping");
    answered_each_time("spawning,spawning,looping");
}

// On OCaml 4 each request registered a thread of ours, which took an identifier.
on_each!(thread_identifiers_do_not_move, |compiler| {
    let program = build(&named(compiler), "thread_ids");
    let alone = Case::new(&program, &[]).stdin(b"\n").plain().stdout();
    let (_, alone) = alone.split_once('\n').expect("its number, and what it printed behind");
    let running = Running::start(&program, &[]);
    for _ in 0..3 {
        running.snapshot();
    }
    assert_eq!(running.end().stdout, alone);
});

/// They had no limit: the files of a run of weeks would have filled the disk.
#[test]
fn those_at_moments_keep_to_a_part_of_the_disk_space() {
    let program = build(&named("system"), "heap_replaced");
    // Snapshots of three times their part: on a slow machine half of them fit exactly.
    let case = Case::new(&program, &["120"]);
    let options = ["--snapshot", "every-major", "--disk", "6MiB", "--rate", "1e-4"];
    let recorded = case.options(&options).same();
    let all = snapshots_of(&recorded.recording);
    let bytes = |number: u64| {
        let file = recorded.recording.join(format!("{number:04}.heap"));
        std::fs::metadata(file).expect("it is there").len()
    };
    let numbers: Vec<u64> = all.iter().map(|snapshot| snapshot.number).collect();
    let last = numbers.last().copied().expect("snapshots");
    assert!(numbers.len() >= 4 && last > numbers.len() as u64, "some were dropped: {numbers:?}");
    assert_eq!(numbers[0], 1, "the first stays");
    // A few may have been written after the last look.
    let sum: u64 = numbers.iter().map(|&number| bytes(number)).sum();
    let largest = numbers.iter().map(|&number| bytes(number)).max().expect("snapshots");
    assert!(sum <= (6 << 20) / 4 + 4 * largest, "{sum} bytes");
}
