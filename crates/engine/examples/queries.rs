//! Makes all queries that a page makes about a trace or a heap snapshot, and prints what each response
//! takes, in time of all processors, in time on the clock, and in bytes: `queries TRACE [CONDITION…]`,
//! `queries HEAP`. On Linux.

use std::sync::Arc;
use std::time::Instant;
use std::{env, fs};

use memtrail_engine::{Description, Engine, InMemory, ResponseBody, Setting, SnapshotFacts};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let Some(path) = args.next() else { return Err("usage: queries TRACE [CONDITION…]".into()) };
    let conditions: Vec<String> = args.collect();
    if fs::read(&path)?.starts_with(b"MTHEAP") {
        return snapshot(&path);
    }
    let engine = Engine::new(Setting::default());
    let start = used();
    engine.add(&fs::read(path)?, Description::default(), |_| ())?;
    println!("{:>10.1} ms  reading", used() - start);
    let queries = [
        json!({ "ask": "about" }),
        json!({ "ask": "overview", "filter": conditions, "points": 1024 }),
        json!({ "ask": "flame", "filter": conditions }),
        json!({ "ask": "flame", "filter": conditions, "direction": "both" }),
        json!({ "ask": "hotfragments", "filter": conditions }),
        json!({ "ask": "table", "filter": conditions }),
        json!({ "ask": "table", "filter": conditions, "by": "site" }),
        json!({ "ask": "table", "filter": conditions, "by": "module" }),
        json!({ "ask": "density", "filter": conditions }),
        json!({ "ask": "search", "filter": conditions, "text": "map" }),
        json!({ "ask": "presets" }),
        json!({ "ask": "compare", "b": { "filter": conditions } }),
        json!({ "ask": "export", "format": "folded", "filter": conditions }),
        json!({ "ask": "export", "format": "pprof", "filter": conditions }),
        json!({ "ask": "export", "format": "speedscope", "filter": conditions }),
        json!({ "ask": "export", "format": "firefox", "filter": conditions }),
        json!({ "ask": "export", "format": "json", "filter": conditions }),
        json!({ "ask": "export", "format": "svg", "filter": conditions }),
    ];
    measure(&engine, &queries)
}

fn snapshot(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = engine.add_without_trace(Description::default());
    let bytes = fs::read(path)?;
    let facts = SnapshotFacts::peek(&bytes)?;
    println!("{} blocks", facts.blocks);
    engine.add_snapshot(id, facts, Some(Arc::new(InMemory(bytes.into()))));
    measure(
        &engine,
        &[
            // The first one waits for the analysis.
            json!({ "ask": "heapchildren" }),
            json!({ "ask": "heapchildren" }),
            json!({ "ask": "evolution" }),
            json!({ "ask": "heaproots" }),
            json!({ "ask": "heaproots", "sort": "shared", "find": "a" }),
            json!({ "ask": "heaphistogram" }),
            json!({ "ask": "heaphistogram", "sort": "retained" }),
            json!({ "ask": "heapchildren", "node": "kind:static" }),
            json!({ "ask": "heapchildren", "node": "group:all/tag 0, 2 fields" }),
            json!({ "ask": "heapchildren", "node": "block:1000" }),
            json!({ "ask": "heaptreemap" }),
            json!({ "ask": "heapflame" }),
            json!({ "ask": "heapflame", "kind": "string" }),
            json!({ "ask": "heapblock", "block": 1000 }),
            json!({ "ask": "heappath", "block": 1000 }),
            json!({ "ask": "heappath", "block": 1000, "how": "disjoint" }),
            json!({ "ask": "heappath", "kind": "string" }),
            json!({ "ask": "heapstack" }),
            json!({ "ask": "heapshared", "a": "kind:global", "b": "kind:stack" }),
            json!({ "ask": "heapstrings" }),
            json!({ "ask": "heapsamples" }),
        ],
    )
}

fn measure(engine: &Engine, queries: &[Value]) -> Result<(), Box<dyn std::error::Error>> {
    for query in queries {
        let (start, clock) = (used(), Instant::now());
        let response = engine.ask(query.to_string().as_bytes());
        let (took, clock) = (used() - start, clock.elapsed().as_secs_f64() * 1e3);
        println!("{took:>10.1} ms {clock:>10.1} ms {:>10} bytes  {query}", response.bytes.len());
        if let Some(Value::Object(error)) =
            ResponseBody::decode(&response.bytes)?.header().get("error")
        {
            println!("{error:?}");
        }
    }
    Ok(())
}

/// Milliseconds that all threads have run so far.
fn used() -> f64 {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e6
}
