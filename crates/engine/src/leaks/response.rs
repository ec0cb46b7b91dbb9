//! The response: figures, and descriptions made of them.

use std::fmt::{self, Display, Formatter};

use memtrail_heap::Bytes;
use memtrail_heap::query::AllocatedBy;
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use super::growth::GrowthRate;
use super::teardown::Teardown;
use super::unrecorded::Unrecorded;
use super::verdict::{Class, Evidence};
use crate::heap::parts::add_fields;

/// What leaks, as far as the recording shows.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LeaksResponse {
    /// The verdict on the recording.
    pub conclusion: Conclusion,
    /// Suspects, the largest growth first.
    pub suspects: Vec<Suspect>,
    /// Suspects that the limit left out.
    pub left_out: usize,
    /// The largest of the other owners, with what speaks for them.
    pub cleared: Vec<ClearedOwner>,
    /// What was looked at and found, one after the other.
    pub summary: Vec<String>,
    /// How many owners there are, or call sites if there are no snapshots.
    pub owners: usize,
    /// All that is alive, off-heap memory included; without snapshots, all that is not freed.
    pub alive: Bytes,
    /// Of what time, in seconds.
    pub seconds: f64,
    /// Snapshots that were looked at.
    pub snapshots: usize,
    /// The number of all snapshots up to the last of these, if there are more: then some at even steps of the work are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub snapshots_taken: Option<usize>,
    /// Sampled blocks that are alive.
    pub sampled: usize,
    /// What owners own of whose blocks too few were sampled to judge whether they grow.
    pub unjudged: Bytes,
    /// The part of that to which nothing refers any more in the last snapshot, although collections had not freed it.
    pub unowned: Bytes,
    /// The part of that which was allocated after the last snapshot, and stayed until the end.
    pub after_last: Bytes,
    /// Of native programs whose references were looked for: the blocks to which none leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unreachable: Option<UnreachableResponse>,
    /// Why references were not found, although they were looked for: blocks may be unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unexamined: Option<String>,
    /// Bytes that were kept for long and freed shortly before the last snapshot, where no earlier one shows who had them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub freed_at_end: Option<Bytes>,
    /// Memory that the end of the program freed, if the verdict was made before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub teardown: Option<Teardown>,
    /// Memory that grows and that the recording tells nothing of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unrecorded: Option<Unrecorded>,
    /// Snapshots that are damaged, each with the reason: sizes in them were not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<DamagedSnapshot>>", optional))]
    pub damaged: Vec<DamagedSnapshot>,
    /// Why samples are missing, in words: what was not written may leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub incomplete: Option<String>,
    /// What was judged, to be stored and judged again.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub evidence: Evidence,
}

/// A snapshot that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DamagedSnapshot {
    /// Its number.
    pub number: u64,
    /// The kind of damage, and where it is.
    pub reason: String,
}

impl std::fmt::Display for DamagedSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "snapshot {} is damaged, and was not used: {}", self.number, self.reason)
    }
}

/// The verdict on a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conclusion {
    /// The verdict.
    pub verdict: LeakVerdict,
    /// A sentence that states it.
    pub description: String,
}

/// The verdict, as programs read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LeakVerdict {
    /// Owners or call sites that grow, or blocks to which nothing refers.
    Leaks,
    /// No suspect, and too little evidence to rule a leak out.
    Undecided,
    /// No suspect.
    #[default]
    NoLeak,
}

/// A variable, a stack, or thread-local data that retains a part of the blocks of a call site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Retainer {
    /// Its name: `variable table (cache.c:9)`.
    pub name: String,
    /// The part that it retains, from 0 to 1.
    pub share: f64,
}

/// An owner that grows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Suspect {
    /// What sort of leak it looks like: `growing container`.
    pub rule: &'static str,
    /// What it does.
    pub class: Class,
    /// How much, and how fast it grows.
    pub heading: String,
    /// What it is, where it was allocated, what owns it.
    pub descriptions: Vec<String>,
    /// What is measured for these.
    pub evidence: String,
    /// The roots that retain most of a call site's blocks, the largest part first. Empty if nobody looked for references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Retainer>>"))]
    pub retained_by: Vec<Retainer>,
    /// The function that allocated most of it, as `memtrail why` takes it.
    pub next: Option<String>,
    /// The owner's name.
    pub owner: String,
    /// Of a global variable without a name, what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub holds: Option<String>,
    /// The kind of root.
    pub kind: &'static str,
    /// The variable's type, if it is one and that is known.
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    pub position: Option<String>,
    /// What queries call it.
    pub node: String,
    /// What is attributed to it.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// Of all that is alive.
    pub share: f64,
    /// How it grows.
    pub growth: GrowthRate,
    /// Entries of the container that retains most of it.
    pub entries: Option<u64>,
    /// The kind of what is in the container, or of most blocks.
    pub values: Option<String>,
    /// What allocated most of these, if they have no type and that is known.
    pub values_allocated: Option<AllocatedBy>,
    /// The nearest call of the program's own to the allocation of most of it, and its callers.
    pub allocated: Vec<Place>,
    /// Callers of the place that allocated most of it, with their shares of that; the largest first.
    pub callers: Vec<CallerShare>,
    /// The program's own closures that are nearest to it, if a library allocated it from its event loop.
    pub closure: Option<NearestClosure>,
    /// What part of it was allocated there.
    pub allocated_share: f64,
    /// Where entries are added to the container, if that is known.
    pub added: Option<Place>,
    /// Sampled cells of the container from before the last tenth of the work that are alive; of call sites, blocks.
    pub alive: u64,
    /// Those that were freed.
    pub freed: u64,
}

/// A function of the program's own whose closures have to do with what a library allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NearestClosure {
    /// The function.
    pub place: Place,
    /// Whether they are on the retaining paths, not below.
    pub retains: bool,
}

/// A caller of a place, and its part of what was allocated there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallerShare {
    /// The caller.
    pub place: Place,
    /// Its part, from 0 to 1.
    pub share: f64,
}

/// An owner that is no suspect.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClearedOwner {
    /// Its name.
    pub owner: String,
    /// What it does.
    pub class: Class,
    /// What is attributed to it, off-heap memory included.
    pub bytes: Bytes,
    /// Of all that is alive.
    pub share: f64,
    /// Why it is none.
    pub reason: String,
}

/// A call site of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Place {
    /// The function.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{} ({file}:{line})", self.function),
            _ => f.write_str(&self.function),
        }
    }
}

/// An estimate of blocks from those that were sampled.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlocksEstimate {
    /// Bytes, sampled or not.
    pub bytes: Estimate,
    /// How many, sampled or not.
    pub blocks: Estimate,
    /// How many were sampled.
    pub sampled: u64,
}

add_fields!(BlocksEstimate: bytes, blocks, sampled);

/// What is unreachable, by call site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UnreachableResponse {
    /// When references were looked for, in seconds since the start.
    pub at: f64,
    /// References were found by a conservative scan: always `true`.
    pub conservative: bool,
    /// What is reachable from variables, stacks, thread-local variables and OCaml's heap.
    pub reachable: BlocksEstimate,
    /// What is referred to from garbage of OCaml's heap alone: finalisers free it when that is collected.
    pub garbage: BlocksEstimate,
    /// What is referred to from memory of unknown use alone.
    pub elsewhere: BlocksEstimate,
    /// What nothing refers to but blocks that are unreachable themselves.
    pub unreachable: BlocksEstimate,
    /// The call sites of these, those of most bytes first.
    pub sites: Vec<UnreachableSite>,
    /// How many call sites there are.
    pub count: usize,
    /// What was found, in a sentence.
    pub summary: String,
    /// Call sites that are known leaks, and were taken out.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub(crate) forgotten: usize,
}

/// Unreachable blocks that were allocated by the same calls.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UnreachableSite {
    /// How much, and how that was found.
    pub heading: String,
    /// Where it was allocated, and what refers to it after all.
    pub descriptions: Vec<String>,
    /// The call that allocated, and its callers.
    pub allocated: Vec<Place>,
    /// All of them.
    pub unreachable: BlocksEstimate,
    /// Those of them to which nothing refers at all.
    pub direct: BlocksEstimate,
}
