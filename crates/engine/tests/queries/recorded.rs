//! Engines that hold what is asked about.

use memtrail_engine::{Description, Engine, ResponseBody, Setting, Status};
use serde_json::Value;

/// A trace of the reader's fixtures.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

/// All of them, and one that was cut in the middle.
pub(crate) fn traces() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "ctf"))
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut traces: Vec<_> = names.into_iter().map(|name| (name.clone(), fixture(&name))).collect();
    let cut = fixture("cache-v2.ctf");
    traces.push(("truncated".to_owned(), cut[..cut.len() / 2].to_vec()));
    traces
}

/// An engine that holds these traces.
pub(crate) fn engine(traces: &[&[u8]]) -> Engine {
    let engine = Engine::new(Setting::default());
    for trace in traces {
        engine.add(trace, Description::default(), &mut |_| ()).unwrap();
    }
    engine
}

/// The answer to a query that must have one.
pub(crate) fn answer(engine: &Engine, query: &Value) -> ResponseBody {
    let reply = engine.query(query.to_string().as_bytes());
    let answer = ResponseBody::decode(&reply.bytes).unwrap();
    assert_eq!(reply.status, Status::Answered, "{query}: {:?}", answer.header());
    answer
}

/// The error that a query must give.
pub(crate) fn api_error(engine: &Engine, query: &[u8]) -> (Status, Value) {
    let reply = engine.query(query);
    let answer = ResponseBody::decode(&reply.bytes).unwrap();
    assert_ne!(reply.status, Status::Answered, "{}", String::from_utf8_lossy(query));
    (reply.status, answer.header()["error"].clone())
}

/// Whether a number of a header is this one, to what reading JSON in a hurry leaves of it.
pub(crate) fn is(number: &Value, expected: f64) -> bool {
    let number = number.as_f64().unwrap_or(f64::NAN);
    (number - expected).abs() <= 1e-12 * expected.abs()
}

/// A column as numbers.
pub(crate) fn column(answer: &ResponseBody, name: &str) -> Vec<f64> {
    answer.column(name).unwrap_or_else(|| panic!("no column {name}")).numbers()
}
