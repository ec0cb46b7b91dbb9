//! A finished report: all numbers and names, nothing left to compute.
//!
//! Field names are stable and carry their unit. `_stderr` is the standard error of the field of
//! the same name without it ([`estimate`](crate::estimate)). Times in seconds count from the
//! trace's start.

mod amount;
mod answer;
mod details;
mod naming;

use std::ops::AddAssign;

use memtrail_stats::{Estimate, unseen};
use serde::Serialize;

use crate::caveats::Caveats;
use crate::estimate::Adapted;
use crate::sites::By;
use crate::time::Elapsed;

/// What to report on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Which blocks.
    pub selection: TimeSelection,
    /// Grouped by what.
    pub by: By,
    /// The most places to name.
    pub top: usize,
    /// Points of the timeline.
    pub points: usize,
}

/// Which blocks are asked for, before the peak is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSelection {
    /// Live at this moment, if it matters.
    pub live_at: Option<Moment>,
    /// Allocated then or later.
    pub from: Option<Elapsed>,
    /// Allocated then or earlier.
    pub to: Option<Elapsed>,
}

/// A moment of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When most was live.
    Peak,
    /// The time of the last event.
    End,
    /// Some time.
    At(Elapsed),
}

/// Everything that a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The trace that the figures are from.
    pub trace: Trace,
    /// Totals over the whole trace.
    pub totals: Totals,
    /// Live memory over time, at equal distances.
    pub timeline: Vec<TimelinePoint>,
    /// Which blocks the places are about.
    pub selection: Selected,
    /// What places are: `site`, `function`, `module` or `file`.
    pub by: &'static str,
    /// The largest places, the largest first.
    pub places: Vec<Place>,
    /// How many places there are besides.
    pub other_places: usize,
    /// What these hold.
    pub other: Amount,
    /// What of the trace could not be made sense of.
    pub anomalies: Anomalies,
    /// What must be known of the figures.
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    pub caveats: Caveats,
}

/// The trace, as it says itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Path of the executable.
    pub executable: String,
    /// Process id.
    pub pid: u64,
    /// Name of the machine.
    pub host: String,
    /// What the user called the run.
    pub context: Option<String>,
    /// Settings of the runtime.
    pub runtime_parameters: String,
    /// When recording began, in microseconds since the Unix epoch.
    pub start_unix_us: u64,
    /// Until the last event.
    pub duration_seconds: f64,
    /// Probability that a word is sampled.
    pub samples_per_word: f64,
    /// Bytes that a sample stands for.
    pub bytes_per_sample: f64,
    /// How far the rate was lowered on the way; absent if it was not. Samples then count as many as
    /// they stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapted: Option<Adapted>,
}

/// An amount of memory, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Amount {
    /// Bytes.
    pub bytes: f64,
    /// Standard error of `bytes`.
    pub bytes_stderr: f64,
    /// Blocks.
    pub blocks: f64,
    /// Standard error of `blocks`.
    pub blocks_stderr: f64,
    /// Samples that this is estimated from.
    pub samples: u64,
    /// Blocks in the trace that this is estimated from.
    pub recorded_blocks: u64,
}

impl Trace {
    /// The most bytes, 19 times out of 20, of blocks none of which was sampled; 0 if every word was.
    pub fn unseen_bytes(&self) -> f64 {
        if self.samples_per_word >= 1.0 {
            return 0.0;
        }
        let lowest = self.adapted.map_or(self.samples_per_word, |of| of.lowest_samples_per_word);
        unseen(self.bytes_per_sample * self.samples_per_word / lowest)
    }
}

impl Amount {
    /// Bytes with their error.
    pub fn bytes_estimate(&self) -> Estimate {
        Estimate { value: self.bytes, stderr: self.bytes_stderr }
    }
}

impl AddAssign for Amount {
    /// The sum of estimates that are independent of each other.
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.bytes_stderr = self.bytes_stderr.hypot(other.bytes_stderr);
        self.blocks += other.blocks;
        self.blocks_stderr = self.blocks_stderr.hypot(other.blocks_stderr);
        self.samples += other.samples;
        self.recorded_blocks += other.recorded_blocks;
    }
}

/// Totals over the whole trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// All that was allocated.
    pub allocated: Amount,
    /// What of it moved from the minor to the major heap.
    pub promoted: Amount,
    /// What was live when most was.
    pub peak: Amount,
    /// When that was first.
    pub peak_seconds: f64,
    /// Of the peak, what was in the minor heap.
    pub peak_minor_bytes: f64,
    /// Of the peak, what was in the major heap.
    pub peak_major_bytes: f64,
    /// Of the peak, what was outside the OCaml heap.
    pub peak_external_bytes: f64,
    /// What was never collected.
    pub live_at_end: Amount,
}

/// Live memory at the end of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimelinePoint {
    /// The end of the stretch.
    pub seconds: f64,
    /// In the minor heap.
    pub minor_bytes: f64,
    /// In the major heap.
    pub major_bytes: f64,
    /// Outside the OCaml heap.
    pub external_bytes: f64,
    /// The most that was live at any time in the stretch.
    pub most_bytes: f64,
}

/// Which blocks the places are about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Selected {
    /// `peak`, `end`, `time`, or `any` if it does not matter when they were live.
    pub live_at: &'static str,
    /// That moment.
    pub live_at_seconds: Option<f64>,
    /// Allocated then or later.
    pub allocated_from_seconds: Option<f64>,
    /// Allocated then or earlier.
    pub allocated_to_seconds: Option<f64>,
    /// All of them.
    pub total: Amount,
    /// Share of their bytes that was never collected, 0 to 1.
    pub never_collected_share: f64,
    /// Mean age of their bytes: see [`Total::mean_age`](crate::sites::Total::mean_age).
    pub mean_age_seconds: f64,
}

/// A place that allocates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// What to call it: a function, module or file, as people write it.
    pub name: String,
    /// The function, as the trace spells it.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// What of the selection was allocated here.
    pub amount: Amount,
    /// Its share of the selection's bytes, 0 to 1.
    pub share: f64,
    /// Share of its bytes that was never collected, 0 to 1.
    pub never_collected_share: f64,
    /// Mean age of its bytes: see [`Total::mean_age`](crate::sites::Total::mean_age).
    pub mean_age_seconds: f64,
    /// When it was allocated: bytes by tenth of the trace's time. Equal tenths of what is still
    /// live mean that it grows steadily.
    pub bytes_by_tenth_of_time: [f64; TENTHS],
    /// From where it is called, the heaviest first.
    pub callers: Vec<CallerChain>,
}

/// Parts that the trace's time is divided in to say when a place allocated.
pub const TENTHS: usize = 10;

/// Callers, innermost first; see [`callers`](crate::callers).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallerChain {
    /// Share of the place's bytes that comes by this path, 0 to 1.
    pub share: f64,
    /// These bytes.
    pub bytes: f64,
    /// Standard error of `bytes`.
    pub bytes_stderr: f64,
    /// The callers, innermost first, or the first of them.
    pub chain: Vec<Frame>,
    /// How many were left out after those.
    pub omitted: usize,
    /// The last caller, if any were left out.
    pub outermost: Option<Frame>,
    /// What comes in at the outer end.
    pub branches: Vec<CallerChain>,
}

/// A frame of a callstack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// The function, as people write it.
    pub name: String,
    /// The function, as the trace spells it.
    pub function: String,
    /// The source file.
    pub file: String,
    /// The line of the (heaviest) call.
    pub line: u32,
    /// Whether calls on other lines count, too.
    pub lines_differ: bool,
    /// Whether the function calls itself, perhaps by way of others.
    pub recursive: bool,
}

/// What of the trace could not be made sense of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Anomalies {
    /// Damage to the file that was read past.
    pub damage: u64,
    /// Events that contradict others.
    pub inconsistent_events: u64,
}
