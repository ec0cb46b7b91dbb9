//! Programs that write recordings of themselves. Each is a test of this file, run by itself in a session as
//! `memtrail run` makes them, and ignored otherwise.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitStatus};

use memtrail_map::MappedFile;
use memtrail_recording::session::{
    CALLSTACK_DEPTH, Options, Pace, SESSION_VARIABLE, Sampler, State, Status,
};
use memtrail_recording::{FileState, Recording};
use memtrail_sampler::{Alloc, label, trace_if_requested};
use memtrail_trace::{BlockId, Detail, Event, Reader};

#[global_allocator]
static ALLOCATOR: Alloc = Alloc::system();

const BLOCK: usize = 100_000;

#[inline(never)]
fn leaks() {
    std::mem::forget(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

#[inline(never)]
fn frees() {
    drop(black_box(vec![1_u8; BLOCK]));
}

/// Blocks of one byte, each of which takes a word.
#[inline(never)]
fn tiny() {
    for n in 0..100_000 {
        drop(black_box(Box::new(n as u8)));
    }
}

#[test]
#[ignore = "a program, run by the other tests"]
fn program() {
    trace_if_requested();
    for _ in 0..100 {
        let _label = label("phase", "leaks");
        leaks();
        frees();
        std::thread::spawn(frees).join().unwrap();
    }
    match std::env::args().nth(1).as_deref() {
        Some("tiny") => tiny(),
        Some("aborts") => {
            // As soon as some of it has been written.
            let session = std::env::var_os(SESSION_VARIABLE).unwrap();
            let trace = recorded(Path::new(&session)).trace;
            while !totals(&trace).0.contains_key("recorded::leaks") {
                std::thread::sleep(std::time::Duration::from_millis(20));
                leaks();
            }
            std::process::abort();
        }
        Some("forks") => {
            // SAFETY: the child allocates, which glibc allows.
            let child = unsafe { libc::fork() };
            (0..100).for_each(|_| leaks());
            if child != 0 {
                let mut status = 0;
                // SAFETY: it is this process's child.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
            }
        }
        _ => {}
    }
    std::process::exit(0);
}

fn options(base: &Path, rate: f64) -> Options {
    Options {
        memtrail: env!("CARGO_PKG_VERSION").into(),
        rate,
        pace: Pace::Constant,
        decline_samples: false,
        assume_version: None,
        sampler: Sampler::Memprof,
        output: None,
        base: base.into(),
        children: false,
        attached: false,
        launcher: std::process::id(),
        runtime_callstacks: false,
        callstack_depth: CALLSTACK_DEPTH,
        check_callstacks: false,
        seed: Some(1),
        context: None,
        labels: std::collections::BTreeMap::new(),
        disk: None,
        notes: Vec::new(),
        malloc: false,
        mappings: false,
        snapshots: None,
    }
}

/// Runs the program above in a session; `how` is a filter of tests besides, which no test has in its name.
fn run(session: &Path, how: &str) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args([how, "program", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(SESSION_VARIABLE, session)
        .output()
        .unwrap()
        .status
}

/// Bytes allocated and live at the end, by the function that allocated; and anomalies of the trace.
fn totals(trace: &Path) -> (BTreeMap<String, (f64, f64)>, u64) {
    let trace = MappedFile::open(trace).unwrap();
    let reader = Reader::new(&trace).unwrap();
    let rate = reader.info().sample_rate.0;
    let mut blocks: BTreeMap<BlockId, (String, f64, bool)> = BTreeMap::new();
    let mut is_labelled = false;
    let decoded = reader.for_each(Detail::Codes, |event, tables| match event {
        Event::Alloc(alloc) => {
            let site = alloc.backtrace.last().and_then(|&code| tables.locations.of(code).last());
            let function = site.map_or(String::new(), |&site| {
                let location = tables.locations.resolve(site);
                let function = String::from_utf8_lossy(location.function).into_owned();
                let outermost = alloc.backtrace.first();
                let label = outermost.and_then(|&code| tables.locations.of(code).first());
                let label = label.map(|&site| tables.locations.resolve(site).function);
                is_labelled |= label == Some(b"[phase leaks]") && function == "recorded::leaks";
                if function.starts_with("recorded::") {
                    assert!(location.file.ends_with(b"main.rs") && location.line > 0, "{function}");
                }
                function
            });
            let bytes = alloc.samples as f64 / rate * 8.0;
            blocks.insert(alloc.id, (function, bytes, true));
        }
        Event::Collect(mark) => blocks.get_mut(&mark.id).expect("it was allocated").2 = false,
        Event::Promote(_) => panic!("nothing is promoted"),
    });
    let mut totals: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (function, bytes, live) in blocks.into_values() {
        let total = totals.entry(function).or_default();
        total.0 += bytes;
        total.1 += if live { bytes } else { 0.0 };
    }
    assert_eq!(is_labelled, totals.contains_key("recorded::leaks"));
    (totals, decoded.anomalies.total())
}

/// The same of a program that came to its end.
fn totals_of_whole(trace: &Path) -> BTreeMap<String, (f64, f64)> {
    let (totals, anomalies) = totals(trace);
    assert_eq!(anomalies, 0);
    totals
}

fn recorded(session: &Path) -> Recording {
    let statuses = Status::load_all(session).unwrap();
    let [Status { state: State::Recording { folder, failure: None }, .. }] = &statuses[..] else {
        panic!("{statuses:?}");
    };
    Recording::open(folder).unwrap()
}

#[test]
fn exact_recordings_have_the_program_s_own_figures() {
    let session = tempfile::tempdir().unwrap();
    options(session.path(), 1.0).save(session.path()).unwrap();
    assert!(run(session.path(), "exits").success());
    let recording = recorded(session.path());
    let description = recording.description.expect("a description");
    assert_eq!(description.trace.state, FileState::Complete);
    let totals = totals_of_whole(&recording.trace);
    let all = (100 * BLOCK) as f64;
    assert_eq!(totals.get("recorded::leaks"), Some(&(all, all)), "{totals:?}");
    assert_eq!(totals.get("recorded::frees"), Some(&(2.0 * all, 0.0)), "{totals:?}");
}

#[test]
fn sampled_recordings_have_estimates() {
    let session = tempfile::tempdir().unwrap();
    // 1,000 samples of 10 MB.
    options(session.path(), 8e-4).save(session.path()).unwrap();
    assert!(run(session.path(), "exits").success());
    let totals = totals_of_whole(&recorded(session.path()).trace);
    let all = (100 * BLOCK) as f64;
    let (allocated, live) = totals["recorded::leaks"];
    assert!((allocated / all - 1.0).abs() < 0.2 && live >= allocated, "{totals:?}");
    let (allocated, live) = totals["recorded::frees"];
    assert!((allocated / all - 2.0).abs() < 0.3 && live <= 0.0, "{totals:?}");
}

/// Bytes that were asked for were sampled, but the trace has words: an eighth of these blocks was estimated.
#[test]
fn blocks_of_a_byte_are_estimated_without_bias() {
    let session = tempfile::tempdir().unwrap();
    // 1,000 samples of 100,000 words.
    options(session.path(), 1e-2).save(session.path()).unwrap();
    assert!(run(session.path(), "tiny").success());
    let totals = totals_of_whole(&recorded(session.path()).trace);
    // An inlined function is named without its module.
    let allocated: f64 =
        totals.iter().filter(|(name, _)| name.ends_with("tiny")).map(|(_, (all, _))| all).sum();
    assert!((allocated / 800_000.0 - 1.0).abs() < 0.2, "{totals:?}");
}

#[test]
fn what_a_killed_program_has_written_can_be_read() {
    let session = tempfile::tempdir().unwrap();
    options(session.path(), 1.0).save(session.path()).unwrap();
    assert!(!run(session.path(), "aborts").success());
    let recording = recorded(session.path());
    let description = recording.description.expect("a description");
    assert_eq!(description.trace.state, FileState::Growing);
    // The last packet may be cut.
    let (totals, _) = totals(&recording.trace);
    assert!(totals.contains_key("recorded::leaks"), "{totals:?}");
}

#[test]
fn a_forked_child_does_not_write_its_parent_s_recording() {
    let session = tempfile::tempdir().unwrap();
    options(session.path(), 1.0).save(session.path()).unwrap();
    assert!(run(session.path(), "forks").success());
    let totals = totals_of_whole(&recorded(session.path()).trace);
    let all = (200 * BLOCK) as f64;
    assert_eq!(totals.get("recorded::leaks"), Some(&(all, all)), "{totals:?}");
}

#[test]
fn a_program_that_is_not_asked_to_records_nothing() {
    let session = tempfile::tempdir().unwrap();
    // Another one is recorded.
    options(session.path(), 1.0).save(session.path()).unwrap();
    std::fs::write(session.path().join("claim"), "1").unwrap();
    assert!(run(session.path(), "exits").success());
    let statuses = Status::load_all(session.path()).unwrap();
    assert!(matches!(&statuses[..], [Status { state: State::Passed, .. }]), "{statuses:?}");
    // Another version's launcher.
    let session = tempfile::tempdir().unwrap();
    let other = Options { memtrail: "0.0.0".into(), ..options(session.path(), 1.0) };
    other.save(session.path()).unwrap();
    assert!(run(session.path(), "exits").success());
    let statuses = Status::load_all(session.path()).unwrap();
    assert!(matches!(&statuses[..], [Status { state: State::Refused { .. }, .. }]), "{statuses:?}");
    // No launcher at all.
    assert!(run(Path::new("/nonexistent"), "exits").success());
}
