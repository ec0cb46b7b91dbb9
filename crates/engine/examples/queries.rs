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
    engine.add(&fs::read(path)?, Description::default(), &mut |_| ())?;
    println!("{:>10.1} ms  reading", used() - start);
    let queries = [
        json!({ "query": "about" }),
        json!({ "query": "overview", "filter": conditions, "points": 1024 }),
        json!({ "query": "flame", "filter": conditions }),
        json!({ "query": "flame", "filter": conditions, "direction": "both" }),
        json!({ "query": "hotfragments", "filter": conditions }),
        json!({ "query": "table", "filter": conditions }),
        json!({ "query": "table", "filter": conditions, "by": "site" }),
        json!({ "query": "table", "filter": conditions, "by": "module" }),
        json!({ "query": "density", "filter": conditions }),
        json!({ "query": "search", "filter": conditions, "text": "map" }),
        json!({ "query": "presets" }),
        json!({ "query": "compare", "b": { "filter": conditions } }),
        json!({ "query": "export", "format": "folded", "filter": conditions }),
        json!({ "query": "export", "format": "pprof", "filter": conditions }),
        json!({ "query": "export", "format": "speedscope", "filter": conditions }),
        json!({ "query": "export", "format": "firefox", "filter": conditions }),
        json!({ "query": "export", "format": "json", "filter": conditions }),
        json!({ "query": "export", "format": "svg", "filter": conditions }),
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
            json!({ "query": "heapchildren" }),
            json!({ "query": "heapchildren" }),
            json!({ "query": "evolution" }),
            json!({ "query": "heaproots" }),
            json!({ "query": "heaproots", "sort": "shared", "find": "a" }),
            json!({ "query": "heaphistogram" }),
            json!({ "query": "heaphistogram", "sort": "retained" }),
            json!({ "query": "heapchildren", "node": "kind:static" }),
            json!({ "query": "heapchildren", "node": "group:all/tag 0, 2 fields" }),
            json!({ "query": "heapchildren", "node": "block:1000" }),
            json!({ "query": "heaptreemap" }),
            json!({ "query": "heapflame" }),
            json!({ "query": "heapflame", "kind": "string" }),
            json!({ "query": "heapblock", "block": 1000 }),
            json!({ "query": "heappath", "block": 1000 }),
            json!({ "query": "heappath", "block": 1000, "how": "disjoint" }),
            json!({ "query": "heappath", "kind": "string" }),
            json!({ "query": "heapstack" }),
            json!({ "query": "heapshared", "a": "kind:global", "b": "kind:stack" }),
            json!({ "query": "heapstrings" }),
            json!({ "query": "heapsamples" }),
        ],
    )
}

fn measure(engine: &Engine, queries: &[Value]) -> Result<(), Box<dyn std::error::Error>> {
    for query in queries {
        let (start, clock) = (used(), Instant::now());
        let response = engine.query(query.to_string().as_bytes());
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
