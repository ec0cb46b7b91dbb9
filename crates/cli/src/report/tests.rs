//! Whole reports, as people and programs see them.

use std::path::PathBuf;

use anstream::adapter::strip_str;
use jiff::tz::TimeZone;
use memtrail_profile::Caveats;
use memtrail_profile::Profile;
use memtrail_profile::report::{
    CallerChain, Frame, Moment, Place, Question, Report, TENTHS, TimeSelection,
};
use memtrail_profile::sites::By;
use memtrail_profile::time::Elapsed;
use memtrail_recording::Recording;
use memtrail_trace::write::TraceWriter;
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::{Process, curve, json, text};

/// A trace is all that there is of the process.
const NOTHING_KNOWN: Process = Process { memory: None, collections: None };

const CACHE: &[u8] = include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf");
const COMPILER: &[u8] = include_bytes!("../../../trace/tests/fixtures/ocamlopt-upstream.ctf");
const LISTS: &[u8] = include_bytes!("../../../trace/tests/fixtures/lists_and_sets-v1.ctf");
const DOMAINS: &[u8] = include_bytes!("../../../trace/tests/fixtures/domains-v3.ctf");

fn bare() -> Recording {
    let path = PathBuf::from("some.ctf");
    let (rates, threads) = (path.clone(), path.clone());
    Recording { trace: path.clone(), rates, threads, path, description: None, problem: None }
}

/// A recording whose description says this of its trace and its end.
fn recorded(trace: &str, outcome: &str) -> Recording {
    let text = format!(
        r#"{{
            "format": 1, "memtrail": "0.1.0", "program": "/usr/bin/server",
            "arguments": ["server", "--port", "80"], "pid": 4711, "host": "box",
            "runtime": {{"language": "OCaml", "version": "4.13", "word_bits": 64, "parameters": ""}},
            "sampling": {{"rate": 1e-4, "callstacks": "incremental"}},
            "clock": {{"start_unix_us": 1, "start_monotonic_ns": 2}},
            "trace": {{"file": "trace.ctf", "bytes": 1, "blocks": 1, {trace}}},
            "outcome": {outcome}
        }}"#
    );
    Recording { description: Some(serde_json::from_str(&text).unwrap()), ..bare() }
}

fn question(live_at: Option<Moment>) -> Question {
    let selection = TimeSelection { live_at, ..TimeSelection::default() };
    Question { selection, by: By::Site, top: 6, points: 78 }
}

fn report(trace: &[u8], question: &Question) -> Report {
    Report::new(&Profile::read(trace, &mut |_| {}).unwrap(), question, &Caveats::default())
}

/// As it is in a file.
fn plain(recording: &Recording, report: &Report, width: usize) -> String {
    let text = text::render(recording, report, None, &NOTHING_KNOWN, None, width, &TimeZone::UTC);
    strip_str(&text).to_string()
}

fn at_width(trace: &[u8], question: Question, width: usize) -> String {
    let question = Question { points: curve::points(width), ..question };
    plain(&bare(), &report(trace, &question), width)
}

#[test]
fn a_leaking_program_at_80_columns() {
    insta::assert_snapshot!(at_width(CACHE, question(Some(Moment::Peak)), 80));
}

#[test]
fn a_leaking_program_at_200_columns() {
    insta::assert_snapshot!(at_width(CACHE, question(Some(Moment::Peak)), 200));
}

#[test]
fn a_compiler_at_80_columns() {
    insta::assert_snapshot!(at_width(COMPILER, question(Some(Moment::Peak)), 80));
}

#[test]
fn a_compiler_at_200_columns() {
    insta::assert_snapshot!(at_width(COMPILER, question(Some(Moment::Peak)), 200));
}

#[test]
fn deep_recursion_at_80_columns() {
    insta::assert_snapshot!(at_width(LISTS, question(Some(Moment::Peak)), 80));
}

#[test]
fn several_domains_at_80_columns() {
    insta::assert_snapshot!(at_width(DOMAINS, question(Some(Moment::End)), 80));
}

/// A program that allocated first and slept then had lasted up to its last sample, and allocated a hundred times as fast.
#[test]
fn a_program_lasted_until_its_end() {
    let report = report(COMPILER, &question(None));
    let mut recording = recorded(r#""state": "complete", "lost": 0"#, r#"{"exited": {"code": 0}}"#);
    let description = recording.description.as_mut().unwrap();
    description.ended_unix_us = Some(report.trace.start_unix_us + 100_000_000);
    let text = plain(&recording, &report, 80);
    assert!(text.contains("\n1m40s from "), "{text}");
    let rate = report.totals.allocated.bytes / 100.0;
    assert!(text.contains(&format!("{}/s", memtrail_text::rounded::bytes(rate))), "{text}");
}

/// `ulimit -f` had cut the trace, and the bytes of its two seconds were divided by the ten of the program.
#[test]
fn a_trace_that_was_cut_has_the_rate_of_its_time() {
    let report = report(COMPILER, &question(None));
    let mut recording =
        recorded(r#""state": "cut", "lost": 9"#, r#"{"write-failed": {"errno": 27}}"#);
    let description = recording.description.as_mut().unwrap();
    description.ended_unix_us = Some(report.trace.start_unix_us + 100_000_000);
    let text = plain(&recording, &report, 80);
    assert!(text.contains("\n1m40s from "), "{text}");
    let rate = report.totals.allocated.bytes / report.trace.duration_seconds;
    assert!(text.contains(&format!("{}/s", memtrail_text::rounded::bytes(rate))), "{text}");
}

#[test]
fn by_module_of_what_was_allocated_in_a_range() {
    let selection =
        TimeSelection { from: Some(Elapsed(100_000)), to: Some(Elapsed(200_000)), live_at: None };
    let question = Question { selection, by: By::Module, ..question(None) };
    insta::assert_snapshot!(at_width(COMPILER, question, 80));
}

#[test]
fn by_file_of_what_is_live_at_some_time() {
    let question = Question { by: By::File, ..question(Some(Moment::At(Elapsed(300_000)))) };
    insta::assert_snapshot!(at_width(CACHE, question, 80));
}

#[test]
fn forty_columns_are_enough() {
    insta::assert_snapshot!(at_width(
        CACHE,
        Question { top: 2, ..question(Some(Moment::End)) },
        40
    ));
}

/// A trace without events.
fn empty(rate: f64) -> Vec<u8> {
    let info = TraceInfo {
        sample_rate: SampleRate(rate),
        word_bits: 64,
        executable: "/usr/bin/idle".into(),
        host: "box".into(),
        runtime_params: String::new(),
        pid: 17,
        start: Timestamp(1_700_000_000_000_000),
        context: Some("nothing\u{1b}[31m to do".into()),
    };
    TraceWriter::new(Vec::new(), &info).unwrap().finish().unwrap()
}

#[test]
fn a_trace_without_samples() {
    insta::assert_snapshot!(at_width(&empty(1e-4), question(Some(Moment::Peak)), 80));
}

#[test]
fn where_allocations_could_not_be_recorded_nothing_is_said_of_their_number() {
    let mut recording = recorded(r#""state": "complete""#, r#"{"exited": {"code": 0}}"#);
    let description = recording.description.as_mut().unwrap();
    description.sampling.impossible = Some("its code cannot be changed".into());
    description.notes = vec!["no allocations were recorded: its code cannot be changed".into()];
    let report = report(&empty(1e-4), &question(Some(Moment::Peak)));
    let text = plain(&recording, &report, 80);
    assert!(text.contains("Nothing is known of allocations"), "{text}");
    assert!(text.contains("note: no allocations were recorded: its code cannot"), "{text}");
    assert!(!text.contains("allocated little"), "{text}");
}

#[test]
fn a_selection_without_samples() {
    let selection = TimeSelection { from: Some(Elapsed(0)), to: Some(Elapsed(1)), live_at: None };
    let text = at_width(CACHE, Question { selection, ..question(None) }, 80);
    assert!(text.contains("No sampled block is among these."), "{text}");
}

#[test]
fn what_is_missing_is_said() {
    let report = report(&CACHE[..CACHE.len() - 1_000], &question(Some(Moment::End)));
    let ending = |trace, outcome| {
        let text = plain(&recorded(trace, outcome), &report, 80);
        let lines: Vec<_> = text.lines().rev().take(3).map(str::to_owned).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    };
    let endings = [
        ending(r#""state": "cut""#, r#"{"killed": {"signal": 9}}"#),
        ending(r#""state": "growing""#, "null"),
        ending(r#""state": "complete", "lost": 1234"#, r#"{"write-failed": {"errno": 28}}"#),
        ending(r#""state": "complete""#, r#""gave-way""#),
    ];
    insta::assert_snapshot!(endings.join("\n\n"));
}

#[test]
fn json_holds_everything() {
    let question = Question { top: 1, points: 2, ..question(Some(Moment::End)) };
    let recording = recorded(r#""state": "complete""#, r#"{"exited": {"code": 0}}"#);
    let report = report(CACHE, &question);
    let view = "memtrail view x";
    let text = json::document(&recording, &[], view, &report, None, &NOTHING_KNOWN);
    let text = json::render(&text);
    let version = format!("\"memtrail\": \"{}\",\n  \"rec", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(text.replace(&version, "\"memtrail\": \"VERSION\",\n  \"rec"));
}

/// Names of any length with characters of any width, some that no name should have.
fn name() -> impl Strategy<Value = String> {
    prop::string::string_regex("[A-Za-z.é宽\u{1F600}\u{200D}\u{FE0F}\u{7}\u{202E}\t ]{0,90}")
        .unwrap()
}

fn frame() -> BoxedStrategy<Frame> {
    let parts = (name(), name(), 0..100_000_u32, any::<bool>());
    let frame = parts.prop_map(|(name, file, line, sign)| Frame {
        function: name.clone(),
        name,
        file,
        line,
        lines_differ: sign,
        recursive: !sign,
    });
    frame.boxed()
}

fn chain() -> impl Strategy<Value = CallerChain> {
    let frames = prop::collection::vec(frame(), 1..6);
    let outermost = prop::option::of((frame(), 1..5_000_usize));
    let leaf = (frames.clone(), outermost.clone(), 0.0..1.0_f64).prop_map(leaf_of);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (frames.clone(), outermost.clone(), 0.0..1.0_f64, prop::collection::vec(inner, 0..3))
            .prop_map(|(frames, outermost, share, branches)| CallerChain {
                branches,
                ..leaf_of((frames, outermost, share))
            })
    })
}

fn leaf_of((chain, outermost, share): (Vec<Frame>, Option<(Frame, usize)>, f64)) -> CallerChain {
    let (outermost, omitted) = outermost.unzip();
    let omitted = omitted.unwrap_or(0);
    CallerChain {
        share,
        bytes: 1.0,
        bytes_stderr: 1.0,
        chain,
        omitted,
        outermost,
        branches: vec![],
    }
}

fn place() -> impl Strategy<Value = Place> {
    let position = (prop::option::of(name()), prop::option::of(any::<u32>()));
    let numbers = (0.0..1e19_f64, 0.0..1e19_f64, 0.0..1.0_f64);
    (name(), position, numbers, prop::collection::vec(chain(), 0..3)).prop_map(
        |(name, (file, line), (bytes, blocks, share), callers)| {
            let amount = memtrail_profile::report::Amount {
                bytes,
                bytes_stderr: bytes * share,
                blocks,
                blocks_stderr: 0.0,
                samples: 3,
                recorded_blocks: 3,
            };
            Place {
                name,
                function: line.map(|_| "f".to_owned()),
                file,
                line,
                amount,
                share,
                never_collected_share: share,
                mean_age_seconds: share * 1e9,
                bytes_by_tenth_of_time: [share; TENTHS],
                callers,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_line_exceeds_its_width(
        places in prop::collection::vec(place(), 0..4),
        (executable, host) in (name(), name()),
        width in 40..=crate::canvas::MAX_COLUMNS,
        huge in any::<bool>(),
    ) {
        let question = Question { points: curve::points(width), ..question(Some(Moment::Peak)) };
        let mut report = report(DOMAINS, &question);
        report.places = places;
        report.trace.executable = executable;
        report.trace.host = host;
        if huge {
            report.totals.allocated.bytes = 9e18;
            report.trace.duration_seconds = 1e9;
        }
        let recording = recorded(r#""state": "cut", "lost": 7"#, "null");
        for recording in [bare(), recording] {
            for line in plain(&recording, &report, width).lines() {
                prop_assert!(line.width() <= width, "{} columns of {width}: {line}", line.width());
                prop_assert!(!line.contains(char::is_control), "{line:?}");
            }
        }
    }
}
