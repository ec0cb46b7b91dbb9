//! Folded stacks and hot spots against the slow way: event by event, name by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_profile::folded::Folded;
use memtrail_profile::hotspots::hotspots;
use memtrail_profile::samples::StackSamples;
use memtrail_profile::stats::{Stats, StatsBuilder};
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    Code, Decoded, Detail, DomainId, Event, Location, Reader, SampleRate, Source, Timestamp,
    TraceInfo, Words,
};
use proptest::prelude::*;

type Lines = Vec<(Vec<String>, u64)>;
/// Function and file.
type Name = (String, String);

fn fast(trace: &[u8]) -> (StackSamples, Decoded) {
    let mut samples = StackSamples::default();
    let decoded = Reader::new(trace).unwrap().for_each(Detail::Stacks, |event, _| {
        if let Event::Alloc(alloc) = event {
            samples.add(&alloc);
        }
    });
    (samples, decoded)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn folded(trace: &[u8]) -> Lines {
    let (samples, decoded) = fast(trace);
    let names = decoded.tables.locations.functions();
    let mut lines = Vec::new();
    let done: Result<(), Infallible> =
        Folded::new(&samples, &decoded.tables).for_each(|path, samples| {
            lines.push((path.iter().map(|&id| text(names.get(id))).collect(), samples));
            Ok(())
        });
    done.unwrap();
    lines
}

fn folded_slowly(trace: &[u8]) -> Lines {
    let mut lines: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let _ = Reader::new(trace).unwrap().for_each(Detail::Codes, |event, tables| {
        if let Event::Alloc(alloc) = event {
            let mut path: Vec<String> = Vec::new();
            for &code in alloc.backtrace {
                for &site in tables.locations.of(code) {
                    let name = text(tables.locations.resolve(site).function);
                    if !path.contains(&name) {
                        path.push(name);
                    }
                }
            }
            if path.len() > 1 {
                *lines.entry(path).or_default() += alloc.samples;
            }
        }
    });
    lines.into_iter().collect()
}

/// Samples of each hot spot, and of each caller that matters the part and the whole.
type Spots = BTreeMap<Name, (u64, BTreeMap<Name, (u64, u64)>)>;

fn spots(trace: &[u8]) -> Spots {
    let (samples, decoded) = fast(trace);
    let found = hotspots(&samples, &decoded.tables);
    assert!(found.is_sorted_by_key(|spot| std::cmp::Reverse(spot.samples)));
    for spot in &found {
        assert!(spot.callers.is_sorted_by_key(|caller| std::cmp::Reverse(caller.samples)));
        assert!(spot.positions.is_sorted_by_key(|&(_, samples)| std::cmp::Reverse(samples)));
        assert_eq!(spot.positions.iter().map(|&(_, samples)| samples).sum::<u64>(), spot.samples);
    }
    let spots = found.iter().map(|spot| {
        let callers = spot
            .callers
            .iter()
            .map(|caller| (caller.place.names(&decoded.tables), (caller.samples, caller.total)));
        (spot.place.names(&decoded.tables), (spot.samples, callers.collect()))
    });
    spots.collect()
}

fn spots_slowly(trace: &[u8]) -> Spots {
    let mut all = 0;
    let mut direct: HashMap<Name, u64> = HashMap::new();
    let mut within: HashMap<Name, u64> = HashMap::new();
    let mut pairs: HashMap<(Name, Name), u64> = HashMap::new();
    let _ = Reader::new(trace).unwrap().for_each(Detail::Codes, |event, tables| {
        let Event::Alloc(alloc) = event else { return };
        all += alloc.samples;
        let name = |index: usize| -> Name {
            let frames = alloc.backtrace[..=index].iter().rev().take(3);
            let mut sites = frames.filter_map(|&code| tables.locations.of(code).last());
            match sites.next() {
                Some(&site) => {
                    let at = tables.locations.resolve(site);
                    (text(at.function), text(at.file))
                }
                None => ("??".into(), format!("#{:x}", alloc.backtrace[index].0)),
            }
        };
        let names: Vec<Name> = (0..alloc.backtrace.len()).map(name).collect();
        let Some((place, callers)) = names.split_last() else {
            *direct.entry(("??".into(), "no backtrace".into())).or_default() += alloc.samples;
            return;
        };
        *direct.entry(place.clone()).or_default() += alloc.samples;
        for name in names.iter().collect::<BTreeSet<_>>() {
            *within.entry(name.clone()).or_default() += alloc.samples;
        }
        for caller in callers.iter().collect::<BTreeSet<_>>() {
            *pairs.entry((caller.clone(), place.clone())).or_default() += alloc.samples;
        }
    });
    let share = |samples: u64| samples as f64 / all as f64;
    let mut spots: Spots = direct
        .iter()
        .filter(|&(_, &samples)| share(samples) > 0.005)
        .map(|(name, &samples)| (name.clone(), (samples, BTreeMap::new())))
        .collect();
    for ((caller, place), samples) in pairs {
        let Some((spot_samples, callers)) = spots.get_mut(&place) else { continue };
        let total = within[&caller];
        let least = (share(*spot_samples) * 1.2).max(0.1);
        if samples as f64 / total as f64 > least && share(samples) > 0.005 {
            callers.insert(caller, (samples, total));
        }
    }
    spots
}

fn stats(trace: &[u8]) -> Stats {
    let mut stats = StatsBuilder::default();
    let _ = Reader::new(trace).unwrap().for_each(Detail::Marks, |event, _| stats.add(&event));
    stats.finish()
}

fn fixture(name: &str) -> MappedFile {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures");
    MappedFile::open(&fixtures.join(name)).unwrap()
}

#[test]
fn traces_of_real_programs() {
    for (name, lines) in [
        ("cache-v2.ctf", 20),
        ("domains-v3.ctf", 2),
        ("lists_and_sets-v1.ctf", 11),
        ("ocamlopt-upstream.ctf", 1010),
    ] {
        let trace = fixture(name);
        let folded = folded(&trace);
        assert_eq!(folded.len(), lines, "what memtrace's tool prints of {name}");
        assert_eq!(folded, folded_slowly(&trace), "{name}");
        assert_eq!(spots(&trace), spots_slowly(&trace), "{name}");
    }
}

/// Figures summed up from what memtrace's `dump_trace` prints.
#[test]
fn figures_of_a_real_program() {
    let stats = stats(&fixture("cache-v2.ctf"));
    assert_eq!((stats.blocks, stats.promoted_blocks, stats.collected_blocks), (7033, 579, 6465));
    assert_eq!((stats.minor, stats.major, stats.external), (7036, 18, 0));
    assert_eq!((stats.promoted, stats.minor_collected), (582, 6409));
    assert_eq!((stats.largest, stats.domains), (Words(16_384), 1));
    assert_eq!(&stats.small[..2], [6297, 6400]);
    assert_eq!(stats.live(), 7054 - stats.minor_collected - stats.major_collected);
}

/// Frames by code: some unknown, some of several functions, some of the same one.
fn locate(code: Code, to: &mut Vec<Location<'_>>) {
    const FUNCTIONS: [&[u8]; 5] = [b"A.main", b"B.map", b"B.map.(fun)", b"C.add", b"a"];
    const FILES: [&[u8]; 3] = [b"a.ml", b"b.ml", b"c.ml"];
    for inlined in 0..code.0 % 4 {
        let pick = (code.0 / 4 + inlined) as usize;
        to.push(Location {
            function: FUNCTIONS[pick % 5],
            file: FILES[pick % 3],
            line: pick as u32,
            start_col: 1,
            end_col: 2,
        });
    }
}

proptest! {
    #[test]
    fn random_stacks(
        blocks in prop::collection::vec(
            (0..2_u16, 1..100_u64, prop::collection::vec(1..40_u64, 0..8)),
            0..120,
        ),
    ) {
        let info = TraceInfo {
            sample_rate: SampleRate(0.01),
            word_bits: 64,
            executable: "a.out".into(),
            host: "h".into(),
            runtime_params: String::new(),
            pid: 1,
            start: Timestamp(5),
            context: None,
        };
        let mut writer = TraceWriter::new(Vec::new(), &info).unwrap();
        for (domain, samples, backtrace) in blocks {
            let event = AllocEvent { length: Words(2), samples, source: Source::Minor };
            let backtrace: Vec<Code> = backtrace.into_iter().map(Code).collect();
            writer.alloc(DomainId(domain), Timestamp(5), &event, &backtrace, locate).unwrap();
        }
        let trace = writer.finish().unwrap();
        prop_assert_eq!(folded(&trace), folded_slowly(&trace));
        prop_assert_eq!(spots(&trace), spots_slowly(&trace));
    }
}
