//! Asks all that a page asks about a trace, and prints what each answer takes:
//! `asks TRACE [CHIP…]`.

use std::time::Instant;
use std::{env, fs};

use memtrail_engine::{Answer, Description, Engine, Setting};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let Some(path) = args.next() else { return Err("usage: asks TRACE [CHIP…]".into()) };
    let chips: Vec<String> = args.collect();
    let engine = Engine::new(Setting::default());
    let start = Instant::now();
    engine.add(&fs::read(path)?, Description::default(), |_| ())?;
    println!("{:>10.1} ms  reading", start.elapsed().as_secs_f64() * 1e3);
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
        let start = Instant::now();
        let reply = engine.ask(ask.to_string().as_bytes());
        let took = start.elapsed().as_secs_f64() * 1e3;
        println!("{took:>10.1} ms {:>10} bytes  {ask}", reply.bytes.len());
        if let Some(Value::Object(error)) = Answer::decode(&reply.bytes)?.header().get("error") {
            println!("{error:?}");
        }
    }
    Ok(())
}
