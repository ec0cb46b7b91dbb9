//! Questions to an analysed snapshot. Pure functions: what they answer is what views and `--json`
//! show, sizes in bytes.

mod block;
mod catalogue;
mod compare;
mod disjoint;
mod dominated;
mod escape;
mod heap;
mod histogram;
mod info;
mod kind;
mod names;
mod path;
mod retained;
mod roots;
mod sampled;
mod shapes;
mod strings;
mod summary;
mod tally;
mod trend;

pub use block::{BlockFacts, Reference, Referrer, block, referrers};
pub use catalogue::{Catalogue, KindId};
pub use compare::{Change, Difference, Growth, diff, growth};
pub use disjoint::{DisjointPaths, disjoint_paths};
pub use dominated::{Dominated, Group, dominated};
pub use escape::escaped;
pub use heap::Heap;
pub use histogram::{Histogram, Row, histogram};
pub use info::{Info, SpaceRow, info};
pub use kind::Kind;
pub use names::{holder_name, label_path};
pub use path::{MergedPath, Path, Step, merged_paths, path, sample};
pub use retained::{Group as RetainedGroup, Retained, retained};
pub use roots::{Everything, RootRow, Shared, everything, roots, roots_by_reach, shared, stack};
pub use sampled::{Sampled, sampled};
pub use shapes::{Form, Shape, ShapeId, Shapes};
pub use strings::{Duplicate, Strings, strings};
pub use summary::{KindSum, RootSum, Summary};
pub use tally::tally;
pub use trend::Trend;
