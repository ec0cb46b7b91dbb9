//! Types of a snapshot's blocks, carried from typed global variables along its pointers.
//!
//! The blocks of compilation units have known layouts ([`UnitBlock`]); from there, each field with a type gives one
//! to the block that it points to. Declared types are expanded where a block is met, with their arguments as they
//! are, so recursive abbreviations have an end. Tag and size are checked at each step; a pointer against its type is
//! rejected, not the block that it leaves from. Where two ways give a block different types, the one with fewer unknown parts stays.
//! Where a type cannot be known, the walk ends, and the reason is counted ([`Coverage`]).
#![forbid(unsafe_code)]

mod builtin;
mod closures;
mod coverage;
mod definitions;
mod flow;
mod functions;
mod head;
mod instances;
mod instantiate;
mod last_checks;
mod map_nodes;
mod names;
mod result;
mod same;
mod sections;
mod shape;
mod shapes;
mod state;
mod texts;
mod units;
mod value_definitions;

use memtrail_heap::graph::{Failed, Graph, Place};
use memtrail_heap::read::Snapshot;
use memtrail_heap::{BlockTypes, Bytes};
use memtrail_types::term::TypeTable;

pub use coverage::{Coverage, Difference, Rejected, Stop};
pub use definitions::definitions;
pub use units::UnitBlock;
pub use value_definitions::{DefinedValue, definitions_of_values};

/// How much memory decoded sections may take without a limit.
pub const NO_LIMIT: Bytes = Bytes(u64::MAX);

/// What was found of a snapshot's types.
#[derive(Debug, Default)]
pub struct Flowed {
    /// The types of its blocks.
    pub types: BlockTypes,
    /// How far they reach, if that was asked for.
    pub coverage: Option<Coverage>,
}

/// Finds the types of a snapshot's blocks. Decoded blocks take up no more than `room`, but for one section at a
/// time. With `graph`, it is counted how far the types reach.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn flow(
    snapshot: &Snapshot<'_>,
    table: &TypeTable,
    units: &[UnitBlock<'_>],
    room: Bytes,
    graph: Option<&Graph>,
) -> Result<Flowed, Failed> {
    flow_in(&Place::Memory, snapshot, table, units, room, graph)
}

/// The same with columns at a place.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room for columns.
pub fn flow_in(
    place: &Place,
    snapshot: &Snapshot<'_>,
    table: &TypeTable,
    units: &[UnitBlock<'_>],
    room: Bytes,
    graph: Option<&Graph>,
) -> Result<Flowed, Failed> {
    let mut sections = sections::Sections::new(snapshot, room);
    let mut flow = flow::Flow::new(place, shapes::Shapes::new(table, units), &sections)?;
    flow.start(&mut sections)?;
    closures::flow(&mut flow, &mut sections, table)?;
    let types = result::block_types(place, &flow.shapes, &flow.states)?;
    let coverage = match graph {
        Some(graph) => Some(coverage::coverage(&mut flow, &mut sections, graph)?),
        None => None,
    };
    Ok(Flowed { types, coverage })
}
