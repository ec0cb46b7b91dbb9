//! What goes to the page after a filter has changed, whatever the trace: not more than 300 KB.

use memtrail_engine::Engine;
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{Code, DomainId, Location, SampleRate, Source, Timestamp, TraceInfo, Words};
use serde_json::{Value, json};

use crate::queries::recorded::{answer, column, engine, traces};

/// Bytes after a change.
const MOST: usize = 300_000;

/// Everything that a page asks when its filter changes, with the parameters that it uses.
fn change(engine: &Engine, filter: &[&str]) -> usize {
    let size = |query: Value| {
        let size = engine.query(query.to_string().as_bytes()).bytes.len();
        assert!(size <= MOST, "{size} bytes for {query}");
        size
    };
    let flame = json!({
        "query": "flame", "filter": filter, "limit": 10_000, "direction": "both",
    });
    let boxes = answer(engine, &flame);
    let wide = column(&boxes, "down_bytes");
    let entities = column(&boxes, "down_entity");
    // Names are asked for where there is room to write them: a hundredth of the screen.
    let named = wide.iter().zip(&entities).filter(|&(&bytes, _)| bytes > wide[0] / 100.0);
    let mut named: Vec<u32> = named.map(|(_, &entity)| entity as u32).collect();
    named.sort_unstable();
    named.dedup();
    size(flame)
        + size(json!({ "query": "overview", "filter": filter, "points": 2048 }))
        + size(json!({ "query": "hotfragments", "filter": filter }))
        + size(json!({ "query": "presets" }))
        + size(json!({ "query": "names", "entities": named }))
}

/// A trace in which hardly two stacks are alike, and names are long.
fn bushy(name_length: usize) -> Vec<u8> {
    let info = TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "bushy".into(),
        host: String::new(),
        runtime_params: String::new(),
        pid: 1,
        start: Timestamp(0),
        context: None,
    };
    let mut writer = TraceWriter::new(Vec::new(), &info).unwrap();
    let mut random = 42_u64;
    let mut below = |n: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    let names: Vec<String> =
        (0..3000).map(|f| format!("Module{}.{}{f}", f % 90, "f".repeat(name_length))).collect();
    for at in 0..4_000 {
        // Wide near the outside, where boxes are heavy.
        let depth = 3 + below(30);
        let stack: Vec<Code> = (0..depth)
            .map(|level| {
                let fan = 3 + level * 20;
                Code(1 + (level * 97 + below(fan)) % 3000)
            })
            .collect();
        let event = AllocEvent { length: Words(4), samples: 1, source: Source::Minor };
        let id = writer
            .alloc(DomainId(0), Timestamp(at), &event, &stack, |code, to| {
                to.push(Location {
                    function: names[code.0 as usize - 1].as_bytes(),
                    file: b"src/bushy.ml",
                    line: code.0 as u32,
                    start_col: 0,
                    end_col: 10,
                });
            })
            .unwrap();
        if below(3) > 0 {
            writer.collect(DomainId(0), Timestamp(at), id).unwrap();
        }
    }
    writer.finish().unwrap()
}

#[test]
fn a_change_of_the_filter_is_small_whatever_the_trace() {
    let mut traces = traces();
    traces.push(("bushy".into(), bushy(20)));
    for (name, trace) in traces {
        let engine = engine(&[&trace]);
        for filter in [&[][..], &["live:end"], &["size:..100", "hide:~List"]] {
            let size = change(&engine, filter);
            println!("{name} {filter:?}: {size} bytes");
            assert!(size <= MOST, "{name} {filter:?}: {size} bytes");
        }
    }
}

#[test]
fn each_answer_is_small_even_if_names_are_monstrous() {
    let engine = engine(&[&bushy(3000), &bushy(10)]);
    for query in [
        json!({ "query": "about" }),
        json!({ "query": "overview", "points": 2048 }),
        json!({ "query": "flame", "limit": 10_000, "direction": "both", "cutoff": 0.0 }),
        json!({ "query": "flame", "limit": 10_000, "cutoff": 0.0 }),
        json!({ "query": "names", "entities": (0..3000).collect::<Vec<u32>>() }),
        json!({ "query": "table", "limit": 1000 }),
        json!({ "query": "table", "by": "site", "limit": 1000 }),
        json!({ "query": "branches", "path": ["<toplevel>"], "direction": "callees", "limit": 1000 }),
        json!({ "query": "hotfragments" }),
        json!({ "query": "density" }),
        json!({ "query": "search", "text": "f" }),
        json!({ "query": "compare", "b": { "filter": ["live:end"] }, "limit": 1000 }),
        json!({ "query": "compare", "b": { "rec": 1 }, "view": "flame", "limit": 10_000, "cutoff": 0.0 }),
        json!({ "query": "presets" }),
        json!({ "query": "complete", "limit": 100 }),
    ] {
        let size = engine.query(query.to_string().as_bytes()).bytes.len();
        println!("{size} bytes for {query}");
        assert!(size <= MOST, "{size} bytes for {query}");
    }
}
