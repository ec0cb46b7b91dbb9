//! Questions to an analysed snapshot. Pure functions: what they answer is what views and `--json`
//! show, sizes in bytes.

mod allocated_by;
mod block;
mod boxes;
mod catalogue;
mod children;
mod compare;
mod contained;
mod containers;
mod dominated;
mod escape;
mod examples;
mod folded;
mod function_place;
mod heap;
mod held_values;
mod histogram;
mod info;
mod joint;
mod joint_blocks;
mod kind;
mod made_of;
mod merged_path;
mod module_blocks;
mod names;
mod over_time;
mod owned;
mod owner;
mod owners;
mod path;
mod path_text;
mod places;
mod reach_cache;
mod retained;
mod root_rows;
mod roots;
mod sampled;
mod sampled_sites;
mod shapes;
mod sizes;
mod strings;
mod summary;
mod summary_sum;
mod tally;
mod trend;

pub use allocated_by::{AllocatedBy, AllocatedPart};
pub use block::{BlockFacts, Reference, Referrer, block, referrers};
pub use boxes::{BoxLimits, NestedBox, nested_boxes, path_boxes};
pub use catalogue::{Catalogue, KindId};
pub use children::{
    Child, ChildOrder, NodeKind, REST, TreeItem, children, form_name, group_members, node_name,
    sort_children,
};
pub use compare::{Change, Difference, diff};
pub use contained::{Contained, FoldedContainer};
pub use containers::{Container, Containers, Waste, containers};
pub use dominated::{Dominated, DominatedRoot, Group, dominated};
pub use escape::escaped;
pub use examples::{Example, examples};
pub use folded::{fold_containers, may_fold};
pub use function_place::FunctionPlace;
pub use heap::Heap;
pub use held_values::{
    HeldByRoots, HeldByStored, add_held_values, held_by_roots, held_by_stored, with_held,
};
pub use histogram::{Histogram, KindOrder, KindRow, histogram, owned_histogram};
pub use info::{Info, SpaceRow, info};
pub use joint::{Everything, everything};
pub use joint_blocks::{
    CutReference, JointBlock, JointLimits, JointShare, ReachingRoot, joint_shares, joint_shares_in,
};
pub use kind::Kind;
pub use merged_path::{MergedPath, merged_paths, sample, sample_of_type, weighted_paths};
pub use module_blocks::{ModuleBlock, module_blocks};
pub use names::{joint_name, label_path, root_name};
pub use over_time::{Evolution, Growth, RootsBy, Series, SeriesBy, evolution, growth};
pub use owned::{OwnedBlocks, owned_blocks};
pub use owner::{OwnerDetails, SharedPart, owner_details};
pub use owners::{OwnerRow, Owners, StoredNames, full_name, owners, stored_names};
pub use path::{DisjointPaths, Path, Step, disjoint_paths, path};
pub use places::{Found as FoundPlaces, Places};
pub use reach_cache::ReachCache;
pub use retained::{Group as RetainedGroup, Retained, retained};
pub use root_rows::{RootKindRow, RootRow, Shared, root_kinds, root_rows, shared};
pub use roots::{Root, RootOrder, RootQuery, RootScope, roots, stack};
pub use sampled::{Sampled, group_kinds, sampled};
pub use sampled_sites::{
    Allocator, NamedPart, PRECISIONS, PlaceName, Precision, SampledSites, UntypedPlaces,
};
pub use shapes::{Shape, ShapeId, ShapeOf, Shapes};
pub use strings::{Duplicate, StringOrder, StringSums, Strings, strings};
pub use summary::{KindSum, OwnerSum, RootSum, Summary, stored_root};
pub use tally::tally;
pub use trend::Trend;
