//! Questions about a snapshot: each is a type, with one answer for a process and for all processes of a family.
//!
//! The answer is what JSON has; text and tables are made of it. Answers that add up are [merged](Merge), process by process,
//! by one [`Reduction`].

mod allocated;
mod blocks;
mod containers;
mod dominators;
mod family;
mod histogram;
mod info;
mod joint;
mod merge;
pub mod named;
mod owners;
mod paths;
mod reduction;
mod retained;
mod roots;
mod selection;
mod shared;
mod sites;
mod stack;
mod strings;
mod summed;
mod survivors;
mod unanswered;
mod view;
mod who;
mod why;

pub use containers::{ContainersQuestion, LargestContainers};
pub use dominators::{BelowDominator, DominatorsQuestion};
pub use family::{Family, FamilySums, Generation, Member, OfProcess, Sizes, Twice};
pub use histogram::{HistogramQuestion, KindHistogram, KindPart};
pub use info::{InfoQuestion, SnapshotInfo};
pub use joint::{JointQuestion, JointShares, MAX_CUT};
pub use merge::{FamilyForm, Merge, Question};
pub use owners::{OwnerFigures, OwnerPart, OwnersQuestion, RootOwners};
pub use paths::{
    BlocksOf, DisjointPathsQuestion, PathQuestion, PathShapes, PathShapesQuestion, RetainingPath,
};
pub use reduction::{Outcome, Reduction};
pub use retained::RetainedQuestion;
pub use roots::{RetainingRoots, RootsQuestion};
pub use selection::Selection;
pub use shared::SharedQuestion;
pub use stack::{StackFrames, StackQuestion};
pub use strings::{DuplicateStrings, StringPart, StringsQuestion};
pub use summed::{OfMember, SumRow, Summed};
pub use unanswered::Unanswered;
pub use view::{Host, Trace, View};
pub use why::Retainers;
