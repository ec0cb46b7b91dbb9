//! The Firefox Profiler's processed profile format, version 55, which newer profilers upgrade.
//!
//! Two tracks of samples weighted in bytes, what was allocated and what of it was never collected,
//! at the times of allocation; and a track of live memory. Blocks of one call path that are
//! allocated within a thousandth of the recording share a sample; within a longer time, if that
//! would be more samples than the profiler shows in good time.

use std::collections::BTreeMap;

use memtrail_profile::time::Elapsed;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::naming::UNKNOWN;
use crate::paths::Paths;
use crate::selection::Selection;
use crate::weight::{Rounding, Weight};

/// Version of the format.
const VERSION: u32 = 55;
/// Stretches of time that samples are put together in, from the best to what always fits.
const STRETCHES: [u64; 4] = [1000, 100, 10, 1];
/// Points of the track of memory.
const POINTS: u64 = 1000;
/// Samples of a track at most.
const MAX_SAMPLES: usize = 500_000;

/// The file.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    let profile = selection.profile;
    let threads = [
        thread(selection, 0, "Allocated", |_| true),
        thread(selection, 1, "Never collected", |weight| weight.live > 0),
    ];
    let arguments =
        [selection.conditions.clone(), selection.labels(), selection.caveats.notes()].concat();
    let file = json!({
        "meta": {
            "categories": [
                { "name": "OCaml", "color": "blue", "subcategories": ["Other"] },
            ],
            "debug": false,
            "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
            "interval": milliseconds(Elapsed(profile.end.0 / POINTS)).max(0.001),
            "preprocessedProfileVersion": VERSION,
            "processType": 0,
            "product": selection.title,
            "importedFrom": concat!("memtrail ", env!("CARGO_PKG_VERSION")),
            "arguments": arguments.join(" "),
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs" },
            "startTime": profile.info.start.0 as f64 / 1e3,
            "symbolicated": true,
            "pausedRanges": [],
            "version": 24,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "markerSchema": [],
            "initialVisibleThreads": [0, 1],
            "initialSelectedThreads": [0],
        },
        "libs": [],
        "pages": [],
        "threads": threads,
        "counters": [memory(selection)],
    });
    serde_json::to_vec(&file).unwrap_or_default()
}

fn milliseconds(time: Elapsed) -> f64 {
    time.0 as f64 / 1e3
}

/// Strings, each once.
#[derive(Default)]
struct Strings {
    table: Vec<String>,
    ids: FxHashMap<String, usize>,
}

impl Strings {
    fn index(&mut self, string: &str) -> usize {
        *self.ids.entry(string.to_owned()).or_insert_with_key(|string| {
            self.table.push(string.clone());
            self.table.len() - 1
        })
    }
}

fn thread(
    selection: &Selection<'_>,
    tid: usize,
    name: &str,
    keep: impl Fn(&Weight) -> bool,
) -> Value {
    let paths = Paths::new(selection, keep);
    let live_only = tid == 1;
    let samples = samples(selection, &paths, live_only);
    let mut strings = Strings::default();
    let (functions, frames) = functions(selection, &paths, &mut strings);
    json!({
        "name": name,
        "isMainThread": tid == 0,
        "pid": selection.profile.info.pid.to_string(),
        "tid": tid.to_string(),
        "processName": selection.title,
        "processType": "default",
        "processStartupTime": 0.0,
        "processShutdownTime": milliseconds(selection.profile.end),
        "registerTime": 0.0,
        "unregisterTime": milliseconds(selection.profile.end),
        "pausedRanges": [],
        "showMarkersInTimeline": false,
        "samples": samples,
        "stackTable": stacks(&paths),
        "frameTable": frames,
        "funcTable": functions,
        "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
        "nativeSymbols": {
            "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
        },
        "markers": {
            "length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
            "startTime": [],
        },
        "stringArray": strings.table,
    })
}

/// Microseconds of each of so many stretches.
fn length(end: Elapsed, stretches: u64) -> u64 {
    end.0.saturating_add(1).div_ceil(stretches).max(1)
}

/// What was allocated when, by node of the tree; the sum is what the page says.
fn samples(selection: &Selection<'_>, paths: &Paths, live_only: bool) -> Value {
    let profile = selection.profile;
    let mut sums: BTreeMap<(u64, u32), u64> = BTreeMap::new();
    let mut span = 1;
    for stretches in STRETCHES {
        span = length(profile.end, stretches);
        sums.clear();
        for kept in selection.rows().filter(|kept| !live_only || kept.died.is_none()) {
            let node = paths.of(profile.blocks.stack(kept.row));
            let sum = sums.entry((kept.born.0 / span, node)).or_default();
            *sum = sum.saturating_add(profile.blocks.samples(kept.row));
            if sums.len() > MAX_SAMPLES && stretches > 1 {
                break;
            }
        }
        if sums.len() <= MAX_SAMPLES {
            break;
        }
    }
    let mut rounding = Rounding::default();
    let (mut stack, mut deltas, mut weight) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = 0.0;
    for ((stretch, node), samples) in sums {
        let time = milliseconds(Elapsed(stretch * span));
        // Behind the frames' own nodes stands the one for paths that are not known.
        stack.push(if node == 0 { paths.len() - 1 } else { node as usize - 1 });
        deltas.push(time - last);
        weight.push(rounding.next(samples as f64 * profile.estimator.bytes_per_sample()));
        last = time;
    }
    json!({
        "length": stack.len(),
        "weightType": "bytes",
        "stack": stack,
        "timeDeltas": deltas,
        "weight": weight,
        "threadCPUDelta": vec![0; deltas.len()],
    })
}

/// The tree, and a path of an unknown function for what is at its root.
fn stacks(paths: &Paths) -> Value {
    let nodes = 1..paths.len() as u32;
    let prefix = |node| paths.parent(node).checked_sub(1);
    json!({
        "length": paths.len(),
        "prefix": nodes.clone().map(prefix).chain([None]).collect::<Vec<_>>(),
        "frame": nodes.map(|node| paths.frame(node)).chain([paths.frames.len()]).collect::<Vec<_>>(),
    })
}

/// The functions and the positions in them; the last of both is the unknown one.
fn functions(selection: &Selection<'_>, paths: &Paths, strings: &mut Strings) -> (Value, Value) {
    let naming = &selection.naming;
    let mut ids = FxHashMap::default();
    let (mut names, mut files) = (Vec::new(), Vec::new());
    let (mut func, mut line, mut column) = (Vec::new(), Vec::new(), Vec::new());
    for site in &paths.frames {
        func.push(*ids.entry((site.function, site.file)).or_insert_with(|| {
            names.push(strings.index(naming.function(site.function)));
            files.push(Some(strings.index(&naming.file(site.file))));
            names.len() - 1
        }));
        line.push(Some(site.line));
        column.push(Some(u32::from(site.start_col) + 1));
    }
    names.push(strings.index(UNKNOWN));
    files.push(None);
    func.push(names.len() - 1);
    line.push(None);
    column.push(None);
    let (functions, frames) = (names.len(), func.len());
    let nothing = |len| vec![Value::Null; len];
    let function_table = json!({
        "length": functions,
        "name": names,
        "isJS": vec![false; functions],
        "relevantForJS": vec![false; functions],
        "resource": vec![-1; functions],
        "fileName": files,
        "lineNumber": nothing(functions),
        "columnNumber": nothing(functions),
    });
    let frame_table = json!({
        "length": frames,
        "address": vec![-1; frames],
        "inlineDepth": vec![0; frames],
        "category": vec![0; frames],
        "subcategory": vec![0; frames],
        "func": func,
        "nativeSymbol": nothing(frames),
        "innerWindowID": vec![0; frames],
        "line": line,
        "column": column,
    });
    (function_table, frame_table)
}

/// Live memory of the selection over time, as changes.
fn memory(selection: &Selection<'_>) -> Value {
    let profile = selection.profile;
    let span = length(profile.end, POINTS);
    let mut changes: BTreeMap<u64, (i128, u64)> = BTreeMap::new();
    for kept in selection.rows() {
        let samples = i128::from(profile.blocks.samples(kept.row));
        let mut note = |time: Elapsed, change: i128| {
            let (sum, events) = changes.entry(time.0 / span).or_default();
            *sum += change;
            *events += 1;
        };
        note(kept.born, samples);
        if let Some(died) = kept.died {
            note(died, -samples);
        }
    }
    let (mut count, mut number, mut deltas, mut last) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for (stretch, (samples, events)) in changes {
        let time = milliseconds(Elapsed(stretch * span));
        count.push(samples as f64 * profile.estimator.bytes_per_sample());
        number.push(events);
        deltas.push(time - last);
        last = time;
    }
    json!({
        "category": "Memory",
        "name": "malloc",
        "description": "Live memory on the OCaml heap",
        "mainThreadIndex": 0,
        "pid": profile.info.pid.to_string(),
        "samples": {
            "length": count.len(), "count": count, "number": number, "timeDeltas": deltas,
        },
    })
}
