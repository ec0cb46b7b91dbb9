//! The answer to [`ProcessQuery`](crate::query::Process): what the recorder measured of the process besides its
//! allocations. All that is computed of it is what samples say of memory from `malloc`.

use memtrail_profile::Profile;
use memtrail_profile::malloc_use::{MallocBlocks, MallocUse};
use memtrail_profile::time::Elapsed;
use serde::{Deserialize, Serialize};

/// What was measured of the process; what was not is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ProcessResponse {
    /// What its resident memory was used for.
    pub memory: Option<ResidentMemory>,
    /// What its garbage collector did.
    pub collections: Option<Collections>,
}

impl ProcessResponse {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.memory.is_none() && self.collections.is_none()
    }
}

/// Resident memory over time: all columns have the length of `seconds`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ResidentMemory {
    /// Since the recording began, ascending.
    pub seconds: Vec<f64>,
    /// By the kernel's counter, in bytes.
    pub rss: Vec<u64>,
    /// Seconds of CPU time of the process since the recording began; none if they were not recorded.
    pub cpu_seconds: Vec<f64>,
    /// What for; together about `rss`.
    pub parts: Vec<MemoryPart>,
    /// What would return memory at the end, in words.
    pub advice: Vec<String>,
    /// Of the parts, what `malloc` has in use at the end, if the calls of it are recorded.
    pub malloc_in_use: Option<u64>,
    /// What that is for, by samples.
    pub malloc: Option<MallocUse>,
}

/// Call sites of each kind that are named.
const MAX_SITES: usize = 5;

impl ResidentMemory {
    /// CPU time that the process had used at a moment, at most, and that it used in all, in seconds. Between two measurements it ran
    /// on no more processors than between any others.
    pub(crate) fn cpu_until(&self, moment: f64) -> Option<(f64, f64)> {
        let (last, whole) = (self.seconds.len().checked_sub(1)?, *self.cpu_seconds.last()?);
        let spans = self.seconds.windows(2).zip(self.cpu_seconds.windows(2));
        let rates =
            spans.map(|(at, cpu)| (cpu[1] - cpu[0]) / (at[1] - at[0]).max(f64::MIN_POSITIVE));
        let processors = rates.fold(1.0, f64::max).ceil();
        let next = self.seconds.partition_point(|at| *at <= moment);
        let (from, used) = match next.checked_sub(1) {
            Some(before) => (self.seconds[before], *self.cpu_seconds.get(before)?),
            None => (0.0, 0.0),
        };
        let most = *self.cpu_seconds.get(next.min(last))?;
        Some(((used + (moment - from).max(0.0) * processors).min(most), whole))
    }

    /// With what the samples say of it.
    pub(crate) fn with_samples(mut self, profile: &Profile, blocks: MallocBlocks) -> Self {
        let at = self.seconds.last().map(|seconds| Elapsed((seconds * 1e6) as u64));
        let other = self.parts.iter().find(|part| part.kind == "other");
        let other = other.and_then(|part| part.bytes.last()).copied().unwrap_or(0);
        self.malloc = at.zip(self.malloc_in_use).and_then(|(at, in_use)| {
            let found = MallocUse::new(profile, blocks, at, in_use, MAX_SITES)?;
            found.fits(in_use, other).then_some(found)
        });
        self
    }
}

/// What a part of resident memory is used for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryPart {
    /// What for, in words.
    pub name: String,
    /// The same for programs: `malloc-used`.
    #[serde(default)]
    pub kind: String,
    /// Bytes over time.
    pub bytes: Vec<u64>,
}

/// What the garbage collector did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Collections {
    /// Since the recording began.
    pub whole: CollectionSpan,
    /// In stretches of time, one after the other.
    pub over_time: Vec<CollectionSpan>,
}

/// What the garbage collector did in a stretch of time. Seconds and counts are sums over all domains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CollectionSpan {
    /// Since the recording began, in seconds.
    pub from: f64,
    /// The same.
    pub to: f64,
    /// Minor collections.
    pub minor_collections: u64,
    /// What they took.
    pub minor_seconds: f64,
    /// Slices of the major collection.
    pub slices: u64,
    /// What they took.
    pub slice_seconds: f64,
    /// What all took; what ran within another is counted once.
    pub seconds: f64,
    /// That as a share of the time: of several domains it may exceed 1.
    pub share: f64,
    /// Cycles of the major collection that ended.
    pub major_cycles: Option<u64>,
    /// Compactions.
    pub compactions: Option<u64>,
    /// Whether hooks of the program's hid the collector: all but cycles and compactions is of the time before.
    pub replaced: bool,
    /// The longest ones, the longest first.
    pub longest: Vec<LongPause>,
}

/// One of the longest pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LongPause {
    /// What ran, in words.
    pub part: String,
    /// How long.
    pub seconds: f64,
    /// When it ended, since the recording began.
    pub at: f64,
}
