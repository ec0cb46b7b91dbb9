//! Which blocks: conditions that must all hold, as people write them and as passes over rows need
//! them.
//!
//! A filter is a list of [conditions](Condition). Each is one condition with several values, any of which
//! will do. The conditions and their meaning are those of memtrace's viewer, and more:
//!
//! | condition | keeps blocks |
//! |---|---|
//! | `allocated:10s..20s` | allocated then; with the major heap alone, promoted then |
//! | `live:10s..20s`, `live:peak` | allocated at or before the upper end, collected after the lower |
//! | `live:end`, `collected:never` | never collected |
//! | `collected:10s..20s` | collected then; the others count as collected at the end |
//! | `lifetime:..50ms` | by time from allocation to collection, or to the end |
//! | `size:4K..` | by size, header included |
//! | `heap:major` | there, and while they are: see below |
//! | `died:minor`, `died:never` | by where they were when collected |
//! | `domain:0,2`, `thread:main` | by who allocated them |
//! | `process:4711`, `process:coqc` | by process, of a trace of several: its id, program or label |
//! | `in:List.map`, `in:~map`, `in:/^List/` | with such a function in the backtrace |
//! | `module:…`, `file:…` | likewise, by the module or file of any frame |
//! | `by:…`, `byModule:…`, `byFile:…` | likewise, of the innermost frame alone |
//! | `hide:…` | all; such functions are left out of paths |
//! | `collapse:…` | all; functions of such modules that call each other are one node of paths |
//!
//! `-` before a condition means that the condition must not hold. Peak is the peak of all blocks,
//! whatever the filter.
//!
//! **Heaps.** What `heap:` conditions name and `-heap:` conditions do not, is watched. A block counts as
//! long as it is there: one allocated in the minor heap counts as collected when it is promoted
//! if the major heap is not watched, and as allocated when it is promoted if only that is; if it
//! never is promoted, it is left out.

mod condition;
mod conjunction;
pub(crate) mod description;
mod form;
pub mod names;
mod parse;
mod resolve;
pub(crate) mod rows;
mod text;
mod verdicts;

pub use condition::{
    Between, Clause, Collected, Condition, Died, FrameName, FrameScope, Heap, Millionths, Moment,
    Name,
};
pub use conjunction::{Filter, FilterError};
pub use form::{ConditionForm, ValueForm};
pub use names::FunctionSet;
pub use parse::ConditionError;
pub use resolve::Resolved;
pub use rows::Kept;
