//! Callstacks read again from the trace, as its readers will: they must be what was captured.

use std::collections::VecDeque;

use memtrail_recording::Checked;
use memtrail_trace::write::{Version, info_packet};
use memtrail_trace::{Code, Detail, Event, Follow, SampleRate, Timestamp, TraceInfo};

use crate::os::lock::Lock;

/// What is to be read of a callstack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    frames: usize,
    /// A hash of all frames but the innermost.
    outer: u64,
    innermost: Option<Code>,
}

impl Expected {
    /// Of this callstack, outermost frame first.
    pub(crate) fn of(stack: &[Code]) -> Self {
        let (innermost, outer) =
            stack.split_last().map_or((None, stack), |(last, outer)| (Some(*last), outer));
        // FNV-1a, a word at a time.
        let outer = outer.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, code| {
            (hash ^ code.0).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
        });
        Self { frames: stack.len(), outer, innermost }
    }

    /// The same with another innermost frame.
    pub(crate) fn with_innermost(self, code: Code) -> Self {
        Self { innermost: Some(code), ..self }
    }
}

/// Compares what is in the trace.
pub(crate) struct WrittenCheck {
    reader: Follow,
    /// By block; absent where nothing was captured.
    expected: VecDeque<Option<Expected>>,
    result: Checked,
}

impl WrittenCheck {
    /// For the packets of one domain, written by this process from now on.
    pub(crate) fn new(pid: u64, now: Timestamp) -> Option<Self> {
        let mut packet = vec![0; 1 << 15];
        let info = TraceInfo {
            sample_rate: SampleRate(1.0),
            word_bits: 64,
            executable: String::new(),
            host: String::new(),
            runtime_params: String::new(),
            pid,
            start: now,
            context: None,
        };
        let length = info_packet(&mut packet, &info, Version::V2).ok()?;
        let mut reader = Follow::new(Detail::Codes);
        reader.advance(packet.get(..length)?, |_, _| {});
        Some(Self { reader, expected: VecDeque::new(), result: Checked::default() })
    }

    /// The next block is to have this callstack.
    pub(crate) fn expect(&mut self, expected: Option<Expected>) {
        self.expected.push_back(expected);
    }

    /// Reads a packet.
    pub(crate) fn read(&mut self, packet: &[u8]) {
        let Self { reader, expected, result } = self;
        reader.advance(packet, |event, _| {
            if let Event::Alloc(alloc) = event
                && let Some(expected) = expected.pop_front().flatten()
            {
                result.written += 1;
                result.different += u64::from(Expected::of(alloc.backtrace) != expected);
            }
        });
    }

    /// Adds what was found to `all`.
    pub(crate) fn add_to(&mut self, all: Option<&Lock<Checked>>) {
        if let Some(all) = all {
            let (mut all, found) = (all.lock(), std::mem::take(&mut self.result));
            all.written += found.written;
            all.different += found.different;
        }
    }
}
