//! Writes queued events into the trace, with names for all return addresses.

use std::fs::File;
use std::io;

use memtrail_symbols::Symbols;
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{BlockId, Code, DomainId, Source, Words};

use crate::recording::batch::{Batch, Event};
use crate::recording::folder::Folder;

/// All threads are one domain to the trace.
const DOMAIN: DomainId = DomainId(0);

/// The trace under way.
pub(super) struct Writer {
    folder: Folder,
    trace: TraceWriter<File>,
    symbols: Symbols,
    blocks: u64,
    backtrace: Vec<Code>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(folder: Folder) -> io::Result<Self> {
        let trace = TraceWriter::new(folder.create_trace()?, &folder.trace_info())?;
        Ok(Self {
            folder,
            trace,
            symbols: Symbols::of_this_process(),
            blocks: 0,
            backtrace: Vec::new(),
        })
    }

    /// Appends events.
    pub(super) fn write(&mut self, batch: &Batch) -> io::Result<()> {
        for (code, text) in &batch.labels {
            self.symbols.define_label(*code, text);
        }
        let mut frames = &batch.frames[..];
        for event in &batch.events {
            match *event {
                Event::Allocated { at, size, samples, frames: depth } => {
                    let (callstack, rest) = frames.split_at(depth);
                    frames = rest;
                    self.symbols.resolve(callstack);
                    let innermost = self.symbols.allocating(callstack);
                    self.backtrace.clear();
                    self.backtrace.extend(innermost.iter().rev().map(|&frame| Code(frame)));
                    let event = AllocEvent {
                        // Blocks of the trace have a header besides; these have none.
                        length: Words(size.div_ceil(8).saturating_sub(1)),
                        samples,
                        source: Source::Major,
                    };
                    let symbols = &self.symbols;
                    self.trace.alloc(DOMAIN, at, &event, &self.backtrace, |code, locations| {
                        locations.extend(symbols.locations(code.0));
                    })?;
                    self.blocks += 1;
                }
                // Blocks are numbered in the order of the queue, as the trace numbers them.
                Event::Freed { at, block } => self.trace.collect(DOMAIN, at, BlockId(block))?,
            }
        }
        Ok(())
    }

    /// Lets readers see what was written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.trace.flush_all()
    }

    /// The program has ended.
    pub(super) fn finish(&mut self) {
        self.folder.finish(self.blocks);
    }
}
