//! The thread that answers calls, one after another. Analyses take long, and must not keep the protocol waiting.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use memtrail_heap::Bytes;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::call::{Called, call};
use super::folder::Folder;
use super::tools::{Sources, Tool};
use crate::error::{Failure, Kind};
use crate::recording_cache::RecordingCache;

/// Stack of the thread, in bytes.
const STACK: usize = 8 << 20;

/// A call, and where its answer goes.
struct Job {
    tool: &'static Tool,
    arguments: Map<String, Value>,
    answer: oneshot::Sender<Called>,
}

/// The way to the thread.
#[derive(Clone)]
pub(super) struct Worker(Sender<Job>);

impl Worker {
    /// Starts the thread. It ends with the process.
    pub(super) fn start(folder: Folder, memory: Bytes) -> Result<Self, Failure> {
        let (jobs, receiver) = channel();
        let work = move || work(folder, memory, &receiver);
        let thread = thread::Builder::new().name("worker".into()).stack_size(STACK);
        thread.spawn(work).map_err(|error: io::Error| {
            Failure::new(Kind::Work, format_args!("cannot start a thread: {error}"))
        })?;
        Ok(Self(jobs))
    }

    /// Asks for an answer. Nobody waits any more for one whose receiver is dropped.
    pub(super) fn ask(
        &self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
    ) -> oneshot::Receiver<Called> {
        let (answer, receiver) = oneshot::channel();
        // A thread that has ended drops the sender, and the receiver tells that.
        let _ = self.0.send(Job { tool, arguments, answer });
        receiver
    }
}

fn work(folder: Folder, memory: Bytes, jobs: &Receiver<Job>) {
    let sources = Sources { folder, cache: RecordingCache::with_room(memory) };
    let memory = memory.0.to_string();
    while let Ok(Job { tool, arguments, answer }) = jobs.recv() {
        if answer.is_closed() {
            continue;
        }
        let called = catch_unwind(AssertUnwindSafe(|| call(&sources, &memory, tool, &arguments)));
        let called = called.unwrap_or_else(|_| {
            // The cache may have something that is half made.
            sources.cache.clear();
            Called {
                json: serde_json::json!({ "error": "memtrail has a bug: this call failed" }),
                is_error: true,
            }
        });
        let _ = answer.send(called);
    }
}
