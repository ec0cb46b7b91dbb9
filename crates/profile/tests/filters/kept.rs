//! What filters keep, and what one pass says of it, against the oracle.

use memtrail_profile::Profile;
use memtrail_profile::filter::{Condition, Filter};
use memtrail_profile::selected::{Cell, choose, peak};
use memtrail_profile::time::Elapsed;
use memtrail_test_support::traces::{Named, Spec, write};
use memtrail_trace::Source;
use proptest::prelude::*;

use crate::filters::oracle::{self, PlainTrace};

/// Conditions that distinguish these blocks; `T` is a time, `S` a size.
const CONDITIONS: &[&str] = &[
    "allocated:T..T",
    "allocated:T..",
    "allocated:..T",
    "allocated:T,T..",
    "allocated:..40%",
    "allocated:peak..",
    "live:T..T",
    "live:T..",
    "live:..T",
    "live:T",
    "live:T,T..T",
    "live:60%",
    "live:peak",
    "live:end",
    "live:peak..end",
    "live:start",
    "collected:T..T",
    "collected:T..",
    "collected:..T",
    "collected:end",
    "collected:never",
    "collected:never,..T",
    "lifetime:T..T",
    "lifetime:T..",
    "lifetime:..T",
    "size:S..S",
    "size:S..",
    "size:..S",
    "size:S,S",
    "heap:minor",
    "heap:major",
    "heap:external",
    "heap:minor,external",
    "heap:minor,major",
    "died:minor",
    "died:major",
    "died:external,never",
    "domain:0",
    "domain:1,2",
    "in:Stdlib.List.map",
    "in:Stdlib__List.map",
    "in:~run",
    "in:/^Main/",
    "in:Main.loop,caml_alloc",
    "module:Main",
    "module:Stdlib.List,~Lwt",
    "module:/^.*$/",
    "file:main.ml",
    "file:~.ml",
    "file:/^l/",
    "by:Main.run",
    "by:~map,caml_alloc",
    "byModule:Main",
    "byFile:list.ml",
    "hide:~Main",
];

fn sites(code: u64) -> Vec<Named> {
    let (map, run) = (("Stdlib__List.map", "list.ml", 5), ("Main.run", "main.ml", 1));
    match code {
        1 => vec![run],
        2 => vec![map],
        3 => vec![("Main.loop", "main.ml", 2)],
        4 => vec![("Lwt__Unix.read", "lwt_unix.ml", 9)],
        5 => vec![("caml_alloc", "alloc.c", 9)],
        // Inlined.
        6 => vec![run, map],
        7 => vec![map, ("Dune__exe__Main.entry", "bin/main.ml", 3)],
        _ => vec![],
    }
}

fn spec() -> impl Strategy<Value = Spec> {
    let source = prop::sample::select(vec![Source::Minor, Source::Major, Source::External]);
    let times = (0..40_u64, prop::option::of(0..9_u64), prop::option::of(0..20_u64));
    let stack = prop::collection::vec(1..9_u64, 0..5);
    (times, 1..9_u64, 1..5_u64, source, 0..3_u16, stack).prop_map(
        |((allocated, promoted, collected), length, samples, source, domain, stack)| {
            let promoted = promoted.map(|after| allocated + after);
            let promoted = promoted.filter(|_| source == Source::Minor);
            let collected = collected.map(|after| promoted.unwrap_or(allocated) + after);
            Spec { allocated, promoted, collected, length, samples, source, domain, stack }
        },
    )
}

fn condition() -> impl Strategy<Value = String> {
    // Ascending, as ranges are.
    let numbers = prop::collection::vec(0..60_u64, 3);
    (prop::sample::select(CONDITIONS), any::<bool>(), numbers).prop_map(
        |(condition, not, mut numbers)| {
            numbers.sort_unstable();
            let mut numbers = numbers.into_iter();
            let mut text = String::new();
            if not && !condition.starts_with("hide") {
                text.push('-');
            }
            for c in condition.chars() {
                match c {
                    'T' => text.extend([&numbers.next().unwrap().to_string(), "us"]),
                    'S' => text += &numbers.next().unwrap().to_string(),
                    _ => text.push(c),
                }
            }
            text
        },
    )
}

/// Everything that can be said of a filter on a trace.
fn check(trace: &[u8], texts: &[String]) -> Result<(), TestCaseError> {
    let plain = PlainTrace::read(trace);
    let profile = Profile::read(trace, &mut |_| {}).unwrap();
    let conditions: Vec<Condition> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let resolved = Filter::new(conditions.clone()).unwrap().resolve(&profile);
    if plain.refuses(&conditions) {
        prop_assert!(resolved.is_err());
        return Ok(());
    }
    let resolved = resolved.unwrap();
    let kept = plain.keep(&conditions);

    let mut rows = vec![None; plain.blocks.len()];
    for kept in resolved.rows(&profile) {
        rows[kept.row.0 as usize] = Some((kept.born.0, kept.died.map(|died| died.0)));
    }
    prop_assert_eq!(&rows, &kept);

    let leaves: Vec<u32> = (0..profile.stacks.len() as u32).rev().collect();
    let selected = choose(&profile, &resolved, &leaves, leaves.len());
    let mut cells = vec![Cell::default(); leaves.len()];
    let mut all = Cell::default();
    let mut recorded = 0;
    for (row, (block, kept)) in profile.blocks.rows().zip(plain.blocks.iter().zip(&kept)) {
        let Some((born, died)) = *kept else { continue };
        let weight = profile.estimator.weight(profile.blocks.length(row), block.source, 0);
        let lifetime = died.unwrap_or(plain.end) - born;
        let cell = Cell {
            samples: block.samples,
            excess: 0,
            live: if died.is_none() { block.samples } else { 0 },
            blocks: weight,
            age: (block.samples * lifetime) as f64,
        };
        cells[leaves[profile.blocks.stack(row).0 as usize] as usize] += cell;
        all += cell;
        recorded += 1;
    }
    prop_assert_eq!((selected.sum.recorded, selected.sum.samples), (recorded, all.samples));
    prop_assert_eq!((selected.live_end, selected.age.to_bits()), (all.live, all.age.to_bits()));
    let blocks = profile.estimator.blocks(&selected.sum).value;
    prop_assert!((blocks - all.blocks).abs() <= 1e-6 * all.blocks, "{blocks} {all:?}");
    for from in (0..cells.len()).step_by(1 + cells.len() / 256) {
        for end in from..=cells.len().min(from + 5) {
            let mut expected = Cell::default();
            cells[from..end].iter().for_each(|&cell| expected += cell);
            let cell = selected.cells.subtree(from as u32, end as u32);
            prop_assert!((cell.blocks - expected.blocks).abs() <= 1e-6 * all.blocks);
            prop_assert_eq!(Cell { blocks: expected.blocks, ..cell }, expected);
        }
    }

    prop_assert_eq!(selected.live_series.len(), profile.live_series.buckets());
    let width = profile.live_series.width().0;
    for (bucket, &live) in
        selected.live_series.iter().enumerate().step_by(1 + selected.live_series.len() / 64)
    {
        let time = (bucket as u64 + 1) * width - 1;
        prop_assert_eq!(live, oracle::live(&plain.blocks, &kept, time));
    }
    let top = peak(&profile, &resolved, &selected);
    prop_assert_eq!((top.time.0, top.samples), oracle::peak(&plain.blocks, &kept));

    let density = &selected.density;
    let mut samples = vec![0; density.samples.len()];
    let mut never = vec![0; density.never.len()];
    for (block, kept) in plain.blocks.iter().zip(&kept) {
        let Some((born, died)) = *kept else { continue };
        let time = bin(&density.times, born);
        match died {
            Some(died) => {
                let lifetimes = density.lifetimes.len() - 1;
                samples[time * lifetimes + bin(&density.lifetimes, died - born)] += block.samples;
            }
            None => never[time] += block.samples,
        }
    }
    prop_assert_eq!(&density.samples, &samples);
    prop_assert_eq!(&density.never, &never);
    Ok(())
}

/// The last bin that begins at or before a time.
fn bin(edges: &[Elapsed], time: u64) -> usize {
    (0..edges.len() - 1).rev().find(|&bin| edges[bin].0 <= time).unwrap()
}

proptest! {
    #[test]
    fn filters_keep_what_they_say(
        specs in prop::collection::vec(spec(), 0..40),
        conditions in prop::collection::vec(condition(), 0..5),
    ) {
        check(&write(0.3, &specs, sites), &conditions)?;
    }

    #[test]
    fn many_conditions_on_frames_hold_at_once(
        specs in prop::collection::vec(spec(), 1..20),
        wanted in prop::collection::vec(
            (prop::sample::select(&["in", "-in", "by", "-by", "-module", "file"][..]), 0..9_usize),
            9..40,
        ),
    ) {
        let parts = ["", "a", "M", "Main", ".", "run", "list", "ml", "zzz"];
        let conditions: Vec<String> =
            wanted.iter().map(|(key, part)| format!("{key}:~\"{}\"", parts[*part])).collect();
        check(&write(0.3, &specs, sites), &conditions)?;
    }
}

/// `size:` left headers out where `report` counts them.
#[test]
fn size_counts_the_header() {
    let spec = |source| Spec {
        allocated: 0,
        promoted: None,
        collected: None,
        length: 2,
        samples: 1,
        source,
        domain: 0,
        stack: vec![],
    };
    // Two fields, as in a list; memory outside the heap has no header.
    for (source, size) in [(Source::Minor, 24), (Source::Major, 24), (Source::External, 16)] {
        let trace = write(1.0, &[spec(source)], sites);
        let profile = Profile::read(&trace, &mut |_| {}).unwrap();
        for (condition, kept) in [
            (format!("size:{size}"), 1),
            (format!("size:{size}.."), 1),
            (format!("size:..{size}"), 1),
            (format!("size:..{}", size - 1), 0),
            (format!("size:{}..", size + 1), 0),
        ] {
            let filter = Filter::parse(&[&condition]).unwrap().resolve(&profile).unwrap();
            assert_eq!(filter.rows(&profile).count(), kept, "{source:?} {condition}");
        }
    }
}

/// A block of each sort, so that each condition alone is tried for certain.
#[test]
fn every_condition_alone() {
    let mut specs = Vec::new();
    for (index, source) in [Source::Minor, Source::Major, Source::External].into_iter().enumerate()
    {
        for (promoted, collected) in
            [(None, None), (None, Some(30)), (Some(20), None), (Some(20), Some(30))]
        {
            for stack in [vec![], vec![1], vec![1, 2], vec![3, 6], vec![4, 7], vec![5], vec![2, 8]]
            {
                specs.push(Spec {
                    allocated: specs.len() as u64 % 19,
                    promoted: promoted.filter(|_| source == Source::Minor),
                    collected,
                    length: 1 + specs.len() as u64 % 7,
                    samples: 1 + specs.len() as u64 % 3,
                    source,
                    domain: index as u16,
                    stack,
                });
            }
        }
    }
    let trace = write(0.3, &specs, sites);
    for condition in CONDITIONS {
        for not in ["", "-"] {
            if condition.starts_with("hide") && not == "-" {
                continue;
            }
            for (from, to) in [(0, 5), (10, 10), (10, 20), (20, 30), (30, 31), (8, 24)] {
                let condition = condition
                    .replacen('T', &format!("{from}us"), 1)
                    .replace('T', &format!("{to}us"))
                    .replacen('S', &from.to_string(), 1)
                    .replace('S', &to.to_string());
                let conditions = [format!("{not}{condition}")];
                check(&trace, &conditions)
                    .unwrap_or_else(|error| panic!("{conditions:?}: {error}"));
            }
        }
    }
}

/// Real traces, of one domain, of several, and of every version of the format.
#[test]
fn filters_on_real_traces() {
    let filters: &[&[&str]] = &[
        &[],
        &["live:end"],
        &["live:peak", "-in:~main"],
        &["allocated:10%..90%", "live:end"],
        &["collected:20%..50%", "size:..64"],
        &["heap:major"],
        &["heap:minor", "lifetime:..1ms"],
        &["-heap:minor", "collected:never"],
        &["died:minor,never", "allocated:..peak"],
        &["in:/List|Set/", "-module:~Cache"],
        &["byFile:~.ml", "domain:1,2,3"],
        &["by:~map,~add", "live:30%..60%"],
    ];
    for name in ["cache-v2", "lists_and_sets-v1", "domains-v3", "ocamlopt-upstream"] {
        let path = format!("{}/../trace/tests/fixtures/{name}.ctf", env!("CARGO_MANIFEST_DIR"));
        let trace = std::fs::read(path).unwrap();
        for conditions in filters {
            let conditions: Vec<String> =
                conditions.iter().map(|condition| (*condition).to_owned()).collect();
            check(&trace, &conditions)
                .unwrap_or_else(|error| panic!("{name} {conditions:?}: {error}"));
        }
    }
}
