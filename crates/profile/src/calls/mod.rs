//! Who calls whom, and how much is allocated on whose behalf.
//!
//! | module | gives |
//! |---|---|
//! | [`entities`] | numbers, keys and names of functions and allocation sites |
//! | [`tree`] | all call paths of a recording, as a tree in preorder |
//! | [`mod@flame`] | the calls from a focus inwards, and to it from outside |
//! | [`mod@table`] | totals by function, site, module or file |
//! | [`mod@below`] | which backtraces have a fragment of a path |
//! | [`mod@branches`] | the callers or callees of a line of such a table |
//! | [`mod@hot_fragments`] | the functions and paths that carry the weight |
//! | [`mod@search`] | how much has a name on its path |
//! | [`mod@time_order`] | the calls in the order of time |
//! | [`compare`] | two recordings, or two choices from one, side by side |
//!
//! The tree is made once a recording, its [`Cells`](crate::selected::Cells) once a filter; everything else is computed from
//! these two when it is asked for, without looking at blocks again.

pub mod below;
pub mod branches;
pub mod compare;
pub mod entities;
pub mod flame;
pub mod hot_fragments;
mod level;
pub mod renamed;
mod search;
mod suffixes;
pub mod table;
pub mod time_order;
pub mod tree;
mod view;

pub use below::{Below, below};
pub use branches::{Branch, branches};
pub use compare::{Change, Status, compare_flame, compare_table};
pub use entities::{Entities, Entity, Kind, Label, Position};
pub use flame::{Boxes, Flame, FlameSides, Limits, flame};
pub use hot_fragments::{HotFragments, SIGNIFICANCE, Suspect, hot_fragments};
pub use search::{Found, Pattern, PatternError, search};
pub use table::{Column, Line, sort, table};
pub use time_order::{Clock, Columns, TimeOrder, time_order};
pub use tree::{CallTree, Recursion, Transforms};
pub use view::{Side, View};
