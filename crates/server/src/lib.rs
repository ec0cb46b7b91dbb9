//! The viewer's HTTP side: its page, the engine's answers, and events of recordings that grow.
//!
//! The page's address holds a random token; without it there is nothing but 404, whoever asks
//! (`guard.rs` has the table of attacks and answers). All figures come from the engine, all
//! layout from the page: here is only the way between them.
//!
//! Invariants: nothing is read from disk, nothing is logged, no answer depends on more than the
//! ask and the engine.
#![forbid(unsafe_code)]

pub mod assets;
mod bind;
mod connections;
mod events;
mod guard;
mod routes;
mod serve;
mod token;
mod trigger;

pub use events::RecordingEvents;
pub use serve::{Error, Options, Server};
pub use trigger::SnapshotTrigger;

/// Adds what the server itself sends to the page's types.
#[cfg(feature = "typescript")]
pub fn declare(declarations: &mut memtrail_engine::typescript::Declarations) {
    declarations.add::<events::EventsResponse>();
    declarations.add::<routes::TakeSnapshotResponse>();
}
