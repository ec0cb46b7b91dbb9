//! Each rule: a program that has the leak, and what looks like it and is none.

use std::process::Command;

use memtrail_test_support::compilers;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build, build_with_packages};
use memtrail_test_support::running::Case;

use serde_json::Value;

use crate::{leaks, response, suspects};

/// A kind of leak in a program of `tests/programs`.
struct Leak {
    program: &'static str,
    rule: &'static str,
    /// A part of the owner's name.
    owner: &'static str,
    /// The function of the program's own that allocates what stays.
    allocated: &'static str,
    /// A part of what is said of the owner.
    clause: &'static str,
    /// Arguments with which the program has no leak.
    sound: &'static [&'static str],
}

const TABLE: Leak = Leak {
    program: "leak_table",
    rule: "growing container",
    owner: "Leak_table / field ",
    allocated: "Leak_table.load",
    clause: "and never removed",
    sound: &["filled", "bounded"],
};
const QUEUE: Leak = Leak {
    program: "leak_queue",
    rule: "queue that falls behind",
    owner: "Leak_queue / field ",
    allocated: "Leak_queue.compose",
    clause: "faster than they are removed",
    sound: &["bursts"],
};
const CALLBACKS: Leak = Leak {
    program: "leak_callbacks",
    rule: "callback list",
    owner: "Leak_callbacks / field ",
    allocated: "Leak_callbacks.open_",
    clause: "each retains what it captured",
    sound: &["removed"],
};
const FINALISERS: Leak = Leak {
    program: "leak_finalisers",
    rule: "finalisers that do not run",
    owner: "Leak_finalisers.",
    allocated: "Leak_finalisers.open_",
    clause: "retained by finalisers",
    sound: &["closed"],
};
const WEAK: Leak = Leak {
    program: "leak_weak",
    rule: "weak table",
    owner: "Leak_weak / field ",
    allocated: "Leak_weak.watch",
    clause: " of 240,000 cells are empty: their values are gone, and they stay until the table is cleaned",
    sound: &["cleaned"],
};
const THREADS: Leak = Leak {
    program: "leak_threads",
    rule: "abandoned threads or fibers",
    owner: "Leak_threads.serve",
    allocated: "Leak_threads.serve",
    clause: " stacks of threads or fibers wait there",
    sound: &["end"],
};
const FIBERS: Leak = Leak {
    program: "leak_fibers",
    rule: "abandoned threads or fibers",
    owner: "Leak_fibers / field ",
    allocated: "Leak_fibers.serve",
    clause: "4,000 fibers wait",
    sound: &["continued"],
};
const BIGARRAYS: Leak = Leak {
    program: "leak_bigarrays",
    rule: "large buffers",
    owner: "Leak_bigarrays / field ",
    allocated: "Leak_bigarrays.load",
    clause: "off-heap memory",
    sound: &["dropped"],
};

const BUFFER: Leak = Leak {
    program: "leak_buffer",
    rule: "large buffers",
    owner: "Leak_buffer / field ",
    allocated: "Leak_buffer.note",
    clause: "a buffer is appended to, and not cleared",
    sound: &["filled", "cleared"],
};

const CHANNELS: Leak = Leak {
    program: "leak_channels",
    rule: "large buffers",
    owner: "Leak_channels / field ",
    allocated: "Leak_channels.serve",
    clause: "300 channels are open, each with its buffer",
    sound: &["closed"],
};
const PROMISES: Leak = Leak {
    program: "leak_promises",
    rule: "promises that are not resolved",
    owner: "Leak_promises / field ",
    allocated: "Leak_promises.request",
    clause: "promises that are pending retain their callbacks",
    sound: &["resolved"],
};

/// Runs it with a leak and without.
fn check(compiler: &str, leak: &Leak) {
    check_program(&build(&compilers::named(compiler), leak.program), leak);
}

fn check_program(program: &Program, leak: &Leak) {
    let recorded = |argument: &str| {
        let case =
            Case::new(program, &[argument]).options(&["--rate", "1e-3", "--snapshot", "exit"]);
        case.same()
    };
    let run = recorded("leak");
    let found = response(&run.recording);
    let [first, others @ ..] = &suspects(&found)[..] else { panic!("no suspect: {found:#}") };
    assert!(others.is_empty(), "{found:#}");
    assert_eq!(first["rule"], leak.rule, "{found:#}");
    assert!(first["owner"].as_str().unwrap().starts_with(leak.owner), "{found:#}");
    // Small functions are inlined by some compilers, under another's name.
    let allocated: Vec<&str> = first["allocated"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|at| at["function"].as_str())
        .collect();
    let module = leak.allocated.split('.').next().unwrap();
    assert!(allocated.first().is_some_and(|name| name.starts_with(module)), "{found:#}");
    let descriptions = first["descriptions"].to_string();
    assert!(descriptions.contains(leak.clause), "{found:#}");
    assert!(first["growth"]["rate"]["value"].as_f64().unwrap() > 0.0, "{found:#}");
    // Lifetimes are the evidence of queues alone; it was that blocks are from all parts of the work.
    let by_lifetimes = first["evidence"].as_str().unwrap().starts_with("later blocks live longer");
    assert_eq!(by_lifetimes, first["class"] == "falls_behind", "{found:#}");
    let output = leaks(&run.recording, &["--width", "70"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.starts_with("1 ") && flat.contains(leak.rule), "{text}");
    assert!(flat.contains("next: memtrail why "), "{text}");
    for argument in leak.sound {
        let run = recorded(argument);
        let found = response(&run.recording);
        assert!(suspects(&found).is_empty(), "{argument}: {found:#}");
        let text = String::from_utf8(leaks(&run.recording, &[]).stdout).unwrap();
        assert!(text.starts_with("no leak found") && text.contains(" owners ("), "{text}");
    }
}

on_each!(table, |compiler| check(compiler, &TABLE));
on_each!(queue, |compiler| check(compiler, &QUEUE));
on_each!(callbacks, |compiler| check(compiler, &CALLBACKS));
on_each!(finalisers, |compiler| check(compiler, &FINALISERS));
on_each!(weak, |compiler| check(compiler, &WEAK));
on_each!(threads, |compiler| check(compiler, &THREADS));
on_each!(buffer, |compiler| check(compiler, &BUFFER));
on_each!(bigarrays, |compiler| check(compiler, &BIGARRAYS));

#[test]
fn fibers_ocaml_5_3() {
    check("ocaml-5.3.0", &FIBERS);
}

/// Of 400 threads that waited, twenty had a sampled block: "too few to judge".
#[test]
fn threads_that_do_not_end_are_found_with_few_samples() {
    let program = build(&compilers::named("system"), THREADS.program);
    let found = |argument: &str| {
        let options = ["--rate", "2e-5", "--snapshot", "exit"];
        response(&Case::new(&program, &[argument]).options(&options).recorded().recording)
    };
    let leak = found("leak");
    let [first] = &suspects(&leak)[..] else { panic!("{leak:#}") };
    assert_eq!(first["rule"], THREADS.rule, "{leak:#}");
    assert!(first["owner"].as_str().unwrap().starts_with(THREADS.owner), "{leak:#}");
    let sound = found("end");
    assert!(suspects(&sound).is_empty(), "{sound:#}");
}

on_each!(channels, |compiler| check(compiler, &CHANNELS));

/// OCaml 5.3 does not tell its sampler of the memory of channels: at the default rate, five snapshots were needed.
#[test]
fn channels_at_the_default_rate_need_one_snapshot_ocaml_5_3() {
    let program = build(&compilers::named("ocaml-5.3.0"), CHANNELS.program);
    for sampler in ["runtime", "memtrail"] {
        let found = |argument: &str| {
            let options = ["--snapshot", "exit", "--sampler", sampler];
            response(&Case::new(&program, &[argument]).options(&options).recorded().recording)
        };
        let leak = found("leak");
        let [first] = &suspects(&leak)[..] else { panic!("{leak:#}") };
        assert_eq!(first["growth"]["from"], "samples", "{leak:#}");
        assert_eq!(first["allocated"][0]["function"], CHANNELS.allocated, "{leak:#}");
        assert!(first["owner"].as_str().unwrap().starts_with(CHANNELS.owner), "{leak:#}");
        let closed = found("closed");
        assert!(suspects(&closed).is_empty(), "{closed:#}");
    }
}

/// Of 300 channels four blocks were sampled. Their buffers are off-heap memory, which sizes of owners did not include.
#[test]
fn channels_are_counted_in_snapshots_ocaml_5_3() {
    let program = build(&compilers::named("ocaml-5.3.0"), CHANNELS.program);
    let case = |argument: &str| {
        let options = ["--rate", "1e-8", "--snapshot", "every-major,exit"];
        // A collector that hurries, and some twenty snapshots: a collection that ends while one is written has none.
        let case = Case::new(&program, &[argument, "60"]).variable("OCAMLRUNPARAM", "o=10");
        response(&case.options(&options).recorded().recording)
    };
    let found = case("leak");
    assert_eq!(suspects(&found).len(), 1, "{found:#}");
    let first = &suspects(&found)[0];
    assert_eq!(first["growth"]["from"], "snapshots", "{found:#}");
    assert_eq!(first["rule"], CHANNELS.rule, "{found:#}");
    assert!(first["descriptions"].to_string().contains(CHANNELS.clause), "{found:#}");
    let found = case("closed");
    assert!(suspects(&found).is_empty(), "{found:#}");
}

#[test]
fn promises_of_lwt() {
    check_program(&build_with_packages("leak_promises", "lwt.unix"), &PROMISES);
}

/// A server that leaked for a second and then had no visitors for fourteen was cleared, as what is filled at the start is.
#[test]
fn a_leak_before_a_very_long_wait_is_a_suspect() {
    let program = build_with_packages("leak_idle", "unix");
    let found = |argument: &str| {
        let options = ["--rate", "1e-3", "--snapshot", "exit"];
        response(&Case::new(&program, &[argument]).options(&options).same().recording)
    };
    let leak = found("leak");
    assert_eq!(suspects(&leak).len(), 1, "{leak:#}");
    let first = &suspects(&leak)[0];
    assert!(first["owner"].as_str().unwrap().starts_with("Leak_idle"), "{leak:#}");
    assert!(first["growth"]["until"].as_f64().unwrap() < 3.0, "{leak:#}");
    let filled = found("filled");
    assert!(suspects(&filled).is_empty(), "{filled:#}");
}

/// Named was the call that started the event loop, which allocates nothing that stays.
#[test]
fn what_an_event_loop_allocates_is_of_the_closures_that_retain_it() {
    let program = build_with_packages("leak_lwt_io", "lwt.unix");
    let options = ["--rate", "1e-3", "--snapshot", "exit"];
    let run = Case::new(&program, &["leak"]).options(&options).same();
    let found = response(&run.recording);
    assert_eq!(suspects(&found).len(), 1, "{found:#}");
    let first = &suspects(&found)[0];
    assert_eq!(first["rule"], "callback list", "{found:#}");
    assert_eq!(first["closure"]["retains"], true, "{found:#}");
    assert_eq!(first["closure"]["place"]["function"], "Leak_lwt_io.(fun)", "{found:#}");
    assert_eq!(first["closure"]["place"]["line"], 8, "{found:#}");
    assert_eq!(first["added"]["function"], "Leak_lwt_io.keep", "{found:#}");
    let run = Case::new(&program, &["dropped"]).options(&options).same();
    let found = response(&run.recording);
    assert!(suspects(&found).is_empty(), "{found:#}");
}

/// `next` is a command about what the suspect says: it was about 4 % of that, as `Bytes.make` allocated the rest.
#[test]
fn the_next_command_is_about_most_of_the_suspect() {
    let program = build_with_packages("leak_promises", "lwt.unix");
    let case = Case::new(&program, &["leak"]).options(&["--rate", "1e-3", "--snapshot", "exit"]);
    let run = case.recorded();
    let found = response(&run.recording);
    let next = suspects(&found)[0]["next"].as_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.arg("why").arg(&run.recording).args([next, "--json"]).output().unwrap();
    let why: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(why["share"].as_f64().unwrap() > 0.5, "{why:#}");
    let coverage = &why["coverage"];
    assert!(coverage["found"].as_u64().unwrap() > 100, "{coverage}");
    assert_eq!(coverage["not_found"], 0, "{coverage}");
}

/// A table that was emptied before the program ended was "no leak found", by a snapshot at the end alone.
fn cleaned(compiler: &str) {
    let program = build(&compilers::named(compiler), "leak_table");
    let case = Case::new(&program, &["cleaned"]);
    let run = case.options(&["--rate", "1e-3", "--snapshot", "exit"]).recorded();
    let found = response(&run.recording);
    assert_eq!(found["conclusion"]["verdict"], "undecided", "{found:#}");
    let reason = found["conclusion"]["description"].as_str().unwrap();
    assert!(reason.contains("was freed shortly before the last snapshot"), "{reason}");
}

on_each!(what_is_freed_before_the_end_is_not_cleared, cleaned);

/// Exact sizes of several snapshots decide, if there are enough.
#[test]
fn many_snapshots_are_enough_without_samples() {
    let program = build(&compilers::named("system"), "leak_table");
    let case = |argument: &str| {
        let options = ["--rate", "1e-8", "--snapshot", "every-major"];
        // A collector that hurries.
        let case = Case::new(&program, &[argument, "10"]).variable("OCAMLRUNPARAM", "o=10");
        case.options(&options).recorded()
    };
    let run = case("leak");
    let found = response(&run.recording);
    assert_eq!(suspects(&found).len(), 1, "{found:#}");
    let first = &suspects(&found)[0];
    assert_eq!(first["growth"]["from"], "snapshots", "{found:#}");
    assert_eq!(first["rule"], "growing container", "{found:#}");
    let run = case("bounded");
    let found = response(&run.recording);
    assert!(suspects(&found).is_empty(), "{found:#}");
}

/// A server that leaked for two minutes and then had no visitors for five: the leak was "filled early".
fn waiting(compiler: &str) {
    let program = build(&compilers::named(compiler), "leak_table");
    let found = |argument: &str| {
        let case = Case::new(&program, &[argument, "1", "2"]);
        response(&case.options(&["--rate", "1e-3", "--snapshot", "exit"]).recorded().recording)
    };
    let leak = found("leak");
    let [first] = &suspects(&leak)[..] else { panic!("{leak:#}") };
    assert_eq!(first["rule"], "growing container", "{leak:#}");
    let until = first["growth"]["until"].as_f64().expect("it waits");
    assert!(until < leak["seconds"].as_f64().unwrap() / 2.0, "{leak:#}");
    assert!(first["heading"].as_str().unwrap().contains("until the program began to wait at"));
    for argument in ["filled", "bounded"] {
        let sound = found(argument);
        assert!(suspects(&sound).is_empty(), "{argument}: {sound:#}");
    }
}

on_each!(what_leaked_before_a_long_wait_is_a_suspect, waiting);

#[test]
fn a_recording_without_snapshots_is_an_error() {
    let program = build(&compilers::named("system"), "leak_table");
    let run = Case::new(&program, &["leak"]).recorded();
    let output = leaks(&run.recording, &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("has no heap snapshots") && text.contains("hint: "), "{text}");
}
