//! How many samples each backtrace was allocated with: all that the flame graph and the hot spots
//! need of a trace.

use memtrail_trace::{Alloc, StackId};

/// Samples by backtrace, in the ids of the trace's tree.
#[derive(Clone, Debug, Default)]
pub struct StackSamples {
    by_stack: Vec<u64>,
    /// Samples of all backtraces.
    pub total: u64,
    /// Blocks of all backtraces.
    pub blocks: u64,
}

impl StackSamples {
    /// Counts a block, read with its backtrace interned.
    #[inline]
    pub fn add(&mut self, alloc: &Alloc<'_>) {
        let index = alloc.stack.0 as usize;
        if index >= self.by_stack.len() {
            self.by_stack.resize((index + 1).max(self.by_stack.len() * 2), 0);
        }
        // The total holds, so every sum of some of them does.
        let samples = alloc.samples.min(u64::MAX - self.total);
        self.by_stack[index] += samples;
        self.total += samples;
        self.blocks += 1;
    }

    /// Samples with exactly this backtrace.
    pub fn of(&self, stack: StackId) -> u64 {
        self.by_stack.get(stack.0 as usize).copied().unwrap_or(0)
    }
}
