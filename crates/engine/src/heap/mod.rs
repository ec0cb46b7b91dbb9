//! The heap half: queries about snapshots.
//!
//! The host gives [files](file::SnapshotFile); [`snapshot_store`] knows which of a recording's snapshots are
//! open, and what is still to be analysed. Analysing is work that [`Engine::work`](crate::Engine)
//! does, never a query: a query about what is not analysed yet is answered with that it is being done.

pub(crate) mod allocated;
mod analysis;
pub(crate) mod answer;
mod below;
mod block;
mod blocks;
mod boxes;
mod closures;
mod containers;
mod coverage;
mod diff;
pub(crate) mod file;
mod histogram;
pub(crate) mod join;
mod joint;
pub(crate) mod loaded;
mod meant;
pub(crate) mod node;
pub(crate) mod outcome;
mod over_time;
mod owner_changes;
mod owners;
pub(crate) mod parts;
mod paths;
mod roots;
mod rows;
mod sampled_boxes;
pub(crate) mod samples;
mod shared;
pub(crate) mod snapshot_store;
mod stack;
mod strings;
mod survivors;
mod tree;
mod who;
mod why;

pub use analysis::{Opening, Room, open_heap};
pub use block::{BlockResponse, Listed, ReferenceRow, ReferrerRow};
pub use blocks::{BlockRow, BlocksResponse};
pub use boxes::{BoxRow, FlameResponse, TreemapResponse};
pub use containers::{ContainerRow, ContainersResponse};
pub use coverage::Coverage;
pub use file::MemoryLimit;
pub use histogram::{HistogramResponse, HistogramRow, KindPlace};
pub use join::AliveEstimate;
pub use joint::{JointResponse, JointRow, JointWhat};
pub use loaded::{summary, types_of_copy};
pub use node::NodeInfo;
pub use outcome::{Analysing, OfSnapshot, Outcome};
pub use over_time::{
    AnalysedSnapshots, EvolutionResponse, GrowthResponse, SnapshotRow, SnapshotsResponse,
};
pub use owner_changes::{OwnerChange, OwnerChanges};
pub use owners::{OwnerFigures, OwnerKind, OwnersResponse};
pub use parts::{AlivePart, Part, SitePart, SurvivorPart};
pub use paths::{PathResponse, PathRow, PathStep};
pub use roots::{RootFigures, RootKindFigures, RootsResponse};
pub use sampled_boxes::SampledBox;
pub use samples::{BlockFrame, BlockSample, SamplesResponse, SiteRow};
pub use snapshot_store::Done;
pub use stack::{StackResponse, StackRow};
pub use strings::{StringRow, StringTotals, StringsResponse};
pub use survivors::{SurvivorRow, SurvivorsResponse};
pub use tree::{ChildRow, ChildrenResponse};
pub use who::{AllocatorRow, WhoResponse};
pub use why::{OwnerShare, PathShare, WhyResponse};
