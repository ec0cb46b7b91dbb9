//! What refers to the blocks that a function allocated: paths from variables, stacks and thread-local variables.

use std::rc::Rc;

use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::Sum;
use memtrail_references::{Node, Place, Reachability, References, State};
use serde::Serialize;

use super::grouped::grouped;
use super::heap_values::HeapValues;
use super::joined::{add, sampled, seconds};
use super::steps::{Hop, Steps};
use crate::api_error::ApiError;
use crate::heap::loaded::LoadedSnapshot;
use crate::heap::samples::sites;
use crate::leaks::BlocksEstimate;
use crate::names::shown;
use crate::recording::Recording;

/// Functions that are named at most.
const MAX_NAMES: usize = 10;

/// What refers to what a function allocated.
#[derive(Clone, Debug, Serialize)]
pub struct ReferrersResponse {
    /// The functions that are meant.
    pub names: Vec<String>,
    /// Whether they are on the callstacks of allocations, but allocate nothing that is alive themselves.
    pub are_callers: bool,
    /// When references were looked for, in seconds since the start.
    pub at: f64,
    /// References were found by a conservative scan: always `true`.
    pub conservative: bool,
    /// What they allocated that was alive then.
    pub alive: BlocksEstimate,
    /// What of it is unreachable.
    pub unreachable: BlocksEstimate,
    /// The paths to the rest, those of most bytes first. Paths of the same steps are one, and so are those of a root from
    /// which very different ones lead to blocks.
    pub paths: Vec<ReferringPath>,
    /// How many paths there are.
    pub count: usize,
}

/// A path to blocks.
#[derive(Clone, Debug, Serialize)]
pub struct ReferringPath {
    /// The root, then the blocks from which a pointer leads on, each once however often it follows itself. A position in
    /// a variable or block (`+0x18`) is there if all of the paths have it.
    pub steps: Vec<String>,
    /// Whether the root is a variable, a stack, a thread-local variable or a reachable value of OCaml's heap.
    pub is_reachable: bool,
    /// The blocks that are referred to by such a path.
    pub blocks: BlocksEstimate,
}

/// Finds what refers to what a function allocated.
pub(crate) fn referrers(
    recording: &Recording,
    references: &References,
    name: &str,
    limit: usize,
    loaded: Option<&LoadedSnapshot>,
) -> Result<ReferrersResponse, ApiError> {
    let Some((names, are_callers, blocks)) = allocated_by(recording, references, name) else {
        let message = format_args!("nothing that {name:?} allocated was alive and sampled");
        return Err(ApiError::absent(message));
    };
    let reachability = Reachability::new(references);
    let values = match loaded {
        Some(_) => {
            let root = |(node, _): &(Node, Row)| match reachability.path(*node)?.root.place {
                Place::Heap { block, .. } => Some(block),
                _ => None,
            };
            HeapValues::new(loaded, blocks.iter().filter_map(root).collect())?
        }
        // Each path is walked, which takes as long as a list is.
        None => HeapValues::unknown(),
    };
    let mut steps = Steps::new(recording, references, &reachability, values);
    let (mut alive, mut unreachable) = <(Sum, Sum)>::default();
    let mut paths: Vec<(Rc<[Hop]>, bool, Sum)> = Vec::new();
    for (node, row) in blocks {
        add(recording, &mut alive, row);
        match steps.of(node) {
            Some(steps) => {
                let mut sum = Sum::default();
                add(recording, &mut sum, row);
                paths.push((steps, reachability.state(node) == State::Reachable, sum));
            }
            None => add(recording, &mut unreachable, row),
        }
    }
    let paths = grouped(paths);
    let count = paths.len();
    let path = |(steps, is_reachable, sum): (Vec<String>, bool, Sum)| ReferringPath {
        steps,
        is_reachable,
        blocks: BlocksEstimate::of(recording, &sum),
    };
    Ok(ReferrersResponse {
        names,
        are_callers,
        at: seconds(recording, references),
        conservative: true,
        alive: BlocksEstimate::of(recording, &alive),
        unreachable: BlocksEstimate::of(recording, &unreachable),
        paths: paths.into_iter().take(limit).map(path).collect(),
        count,
    })
}

/// The names of functions that are meant, whether they call what allocates, and the blocks.
type Allocated = (Vec<String>, bool, Vec<(Node, Row)>);

/// What a name means: functions called so that allocate, else those with it in their names, else those on callstacks.
fn allocated_by(recording: &Recording, references: &References, name: &str) -> Option<Allocated> {
    let all: Vec<(Node, Row)> = sampled(recording, references).collect();
    for (are_callers, is_exact) in [(false, true), (false, false), (true, true), (true, false)] {
        let is_meant = |known: &str| if is_exact { known == name } else { known.contains(name) };
        let (mut names, mut blocks) = (Vec::new(), Vec::new());
        for &(node, row) in &all {
            let callstack = sites(recording, row).take(if are_callers { usize::MAX } else { 1 });
            let functions = callstack.filter_map(|site| {
                let entity = recording.entities.of_function(site.function)?;
                Some(recording.entities.name(entity))
            });
            let Some(known) = functions.into_iter().find(|known| is_meant(known)) else { continue };
            blocks.push((node, row));
            let known = shown(known);
            if names.len() < MAX_NAMES && !names.contains(&known) {
                names.push(known);
            }
        }
        if !blocks.is_empty() {
            return Some((names, are_callers, blocks));
        }
    }
    None
}
