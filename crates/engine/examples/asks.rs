//! Asks all that a page asks about a trace, and prints what each answer takes, in time of all
//! processors and in bytes: `asks TRACE [CHIP…]`. On Linux.

use std::{env, fs};

use memtrail_engine::{Answer, Description, Engine, Setting};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let Some(path) = args.next() else { return Err("usage: asks TRACE [CHIP…]".into()) };
    let chips: Vec<String> = args.collect();
    let engine = Engine::new(Setting::default());
    let start = used();
    engine.add(&fs::read(path)?, Description::default(), |_| ())?;
    println!("{:>10.1} ms  reading", used() - start);
    let asks = [
        json!({ "ask": "about" }),
        json!({ "ask": "overview", "filter": chips, "points": 1024 }),
        json!({ "ask": "flame", "filter": chips }),
        json!({ "ask": "flame", "filter": chips, "direction": "both" }),
        json!({ "ask": "suspects", "filter": chips }),
        json!({ "ask": "table", "filter": chips }),
        json!({ "ask": "table", "filter": chips, "by": "site" }),
        json!({ "ask": "table", "filter": chips, "by": "module" }),
        json!({ "ask": "density", "filter": chips }),
        json!({ "ask": "search", "filter": chips, "text": "map" }),
        json!({ "ask": "presets" }),
        json!({ "ask": "compare", "b": { "filter": chips } }),
        json!({ "ask": "export", "format": "folded", "filter": chips }),
        json!({ "ask": "export", "format": "pprof", "filter": chips }),
        json!({ "ask": "export", "format": "speedscope", "filter": chips }),
        json!({ "ask": "export", "format": "firefox", "filter": chips }),
        json!({ "ask": "export", "format": "json", "filter": chips }),
        json!({ "ask": "export", "format": "svg", "filter": chips }),
    ];
    for ask in asks {
        let start = used();
        let reply = engine.ask(ask.to_string().as_bytes());
        let took = used() - start;
        println!("{took:>10.1} ms {:>10} bytes  {ask}", reply.bytes.len());
        if let Some(Value::Object(error)) = Answer::decode(&reply.bytes)?.header().get("error") {
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
