//! Totals by place and by selection, against loops over the blocks as the test made them.

use std::collections::HashMap;

use memtrail_profile::Caveats;
use memtrail_profile::report::{Moment, Question, Report, TimeSelection};
use memtrail_profile::sites::By;
use memtrail_profile::time::Elapsed;
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::Source;
use proptest::prelude::*;

const RATE: f64 = 0.25;

fn sites(code: u64) -> Vec<Named> {
    match code {
        1 => vec![("M.f", "m.ml", 1)],
        2 => vec![("M.f", "m.ml", 2)],
        3 => vec![("M.g.(fun)", "m.ml", 3)],
        4 => vec![("Lib__N.h", "n.ml", 3)],
        5 => vec![("M.f", "m.ml", 7), ("c_code", "c.c", 9)],
        6 => vec![("[partial application]", "", 0)],
        _ => vec![],
    }
}

/// The code of a backtrace that allocated: the innermost that has a name and is the program's.
fn allocating(stack: &[u64]) -> Option<u64> {
    let own = stack.iter().rev().find(|code| (1..=5).contains(*code));
    own.or(stack.last()).copied()
}

/// The name that a place must have.
fn name(by: By, code: Option<u64>) -> String {
    let Some(&(function, file, line)) = code.map(sites).unwrap_or_default().last() else {
        return "(no debug information)".into();
    };
    let readable = function.replace("__", ".");
    match by {
        By::Site if file.is_empty() => readable,
        By::Site => format!("{readable} {file}:{line}"),
        By::Function => readable,
        By::File => file.into(),
        By::Module => match code {
            Some(1..=3) => "M".into(),
            Some(4) => "Lib.N".into(),
            _ => "(in no module)".into(),
        },
    }
}

fn spec() -> impl Strategy<Value = Spec> {
    (
        0..30_u64,
        prop::option::of(0..9_u64),
        prop::option::of(0..20_u64),
        (1..70_000_u64, 1..9_u64),
        prop::sample::select(vec![Source::Minor, Source::Major, Source::External]),
        0..3_u16,
        prop::collection::vec(1..8_u64, 0..4),
    )
        .prop_map(
            |(allocated, promoted, collected, (length, samples), source, domain, stack)| {
                let promoted = promoted.map(|after| allocated + after);
                let collected = collected.map(|after| promoted.unwrap_or(allocated) + after);
                Spec { allocated, promoted, collected, length, samples, source, domain, stack }
            },
        )
}

fn moment() -> impl Strategy<Value = Option<Moment>> {
    prop_oneof![
        Just(None),
        Just(Some(Moment::Peak)),
        Just(Some(Moment::End)),
        (0..60_u64).prop_map(|time| Some(Moment::At(Elapsed(time)))),
    ]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #[test]
    fn reports_add_up_to_what_was_written(
        blocks in prop::collection::vec(spec(), 0..40),
        live_at in moment(),
        from in prop::option::of(0..40_u64),
        to in prop::option::of(0..40_u64),
        by in prop::sample::select(vec![By::Site, By::Function, By::Module, By::File]),
        top in 0..8_usize,
    ) {
        let profile = profile(RATE, &blocks, sites);
        let selection =
            TimeSelection { live_at, from: from.map(Elapsed), to: to.map(Elapsed) };
        let report = Report::new(&profile, &Question { selection, by, top, points: 10 }, &Caveats::default());

        let live = |block: &Spec, t: u64| block.allocated <= t && block.collected.is_none_or(|c| c > t);
        let at = |t: u64| blocks.iter().filter(|b| live(b, t)).map(|b| b.samples).sum::<u64>();
        let peak = (0..80).rev().max_by_key(|&t| at(t)).unwrap();
        prop_assert_eq!(report.totals.peak.samples, at(peak));
        prop_assert!(close(report.totals.peak_seconds, peak as f64 / 1e6));
        prop_assert_eq!(report.totals.live_at_end.samples, at(1_000));
        let kinds = report.totals.peak_minor_bytes
            + report.totals.peak_major_bytes
            + report.totals.peak_external_bytes;
        prop_assert!(close(kinds, report.totals.peak.bytes));

        let selected = |block: &&Spec| {
            from.is_none_or(|from| block.allocated >= from)
                && to.is_none_or(|to| block.allocated <= to)
                && match live_at {
                    None => true,
                    Some(Moment::Peak) => live(block, peak),
                    Some(Moment::End) => block.collected.is_none(),
                    Some(Moment::At(time)) => live(block, time.0),
                }
        };
        // Samples, blocks, samples never collected.
        let mut expected: HashMap<String, (u64, f64, u64)> = HashMap::new();
        for block in blocks.iter().filter(selected) {
            let place = expected.entry(name(by, allocating(&block.stack))).or_default();
            place.0 += block.samples;
            let words = block.length + u64::from(block.source != Source::External);
            place.1 += 1.0 / (1.0 - (1.0 - RATE).powf(words as f64));
            place.2 += if block.collected.is_none() { block.samples } else { 0 };
        }
        let total: u64 = expected.values().map(|place| place.0).sum();
        prop_assert_eq!(report.selection.total.samples, total);
        prop_assert_eq!(report.places.len() + report.other_places, expected.len());
        prop_assert_eq!(report.places.len(), expected.len().min(top));
        prop_assert!(report.places.is_sorted_by(|a, b| a.amount.samples >= b.amount.samples));
        let mut named = 0;
        for place in &report.places {
            let name = match (&place.file, place.line) {
                (Some(file), Some(line)) => format!("{} {file}:{line}", place.name),
                _ => place.name.clone(),
            };
            let Some(&(samples, count, never)) = expected.get(&name) else {
                return Err(TestCaseError::fail(format!("{name} is not among {expected:?}")));
            };
            prop_assert_eq!(place.amount.samples, samples);
            prop_assert!(close(place.amount.blocks, count));
            prop_assert!(close(place.amount.bytes, samples as f64 * 8.0 / RATE));
            prop_assert!(close(place.never_collected_share, never as f64 / samples as f64));
            prop_assert!(close(place.bytes_by_tenth_of_time.iter().sum(), place.amount.bytes));
            named += samples;
        }
        prop_assert_eq!(report.other.samples, total - named);
    }
}
