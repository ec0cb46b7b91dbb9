//! What fuzzing checks of the engine. Here rather than with the fuzz target, so that tests can
//! replay its corpus.

use crate::answer::Answer;
use crate::describe::Description;
use crate::engine::{Engine, Setting};
use crate::refusal::Status;

/// A recording to ask about.
///
/// # Panics
/// If `trace` is none.
pub fn engine(trace: &[u8]) -> Engine {
    let engine = Engine::new(Setting::default());
    engine.add(trace, Description::default(), |_| ()).expect("a trace");
    engine
}

/// Asks any bytes: no panic, and an answer or an error.
///
/// # Panics
/// If the engine is wrong.
pub fn ask(engine: &Engine, ask: &[u8]) {
    let reply = engine.ask(ask);
    let answer = Answer::decode(&reply.bytes).expect("a slab");
    let is_error = answer.header().contains_key("error");
    let answered = matches!(reply.status, Status::Answered | Status::Analysing);
    assert_eq!(is_error, !answered);
}

/// Reads any bytes as an answer: no panic, and what is one stays the same.
///
/// # Panics
/// If the reader is wrong.
pub fn answer(bytes: &[u8]) {
    if let Ok(answer) = Answer::decode(bytes) {
        let again = Answer::decode(&answer.encode()).expect("its own bytes");
        assert_eq!(again.header(), answer.header());
        assert_eq!(again.columns().count(), answer.columns().count());
    }
}
