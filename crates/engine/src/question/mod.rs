//! Questions about a snapshot: each is a type, with one answer for a process and for all processes of a family.
//!
//! The answer is what JSON has; text and tables are made of it. Answers that add up are [merged](Merge), process by process,
//! by one [`Reduction`].

mod containers;
mod family;
mod histogram;
mod merge;
pub mod named;
mod reduction;
mod unanswered;
mod view;

pub use containers::{ContainerOf, ContainersQuestion, LargestContainers};
pub use family::{FamilySums, Member, OfProcess, Sizes, Twice};
pub use histogram::{HistogramQuestion, KindHistogram, KindSum, ProcessPart, allocated_parts};
pub use merge::{Merge, Question};
pub use reduction::{Outcome, Reduction};
pub use unanswered::Unanswered;
pub use view::{Host, Trace, View};
