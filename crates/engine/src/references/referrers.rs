//! What refers to the blocks that a function allocated: paths from variables, stacks and thread-local variables.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::Sum;
use memtrail_references::{Node, Path, Place, Reachability, References, State};
use serde::Serialize;

use super::joined::{BlocksEstimate, add, sampled, seconds};
use crate::api_error::ApiError;
use crate::heap::samples::sites;
use crate::leaks::sites::AllocationPaths;
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
    /// The paths to the rest, those of the same steps as one, those of most bytes first.
    pub paths: Vec<ReferringPath>,
    /// How many paths there are.
    pub count: usize,
}

/// A path to blocks.
#[derive(Clone, Debug, Serialize)]
pub struct ReferringPath {
    /// The root, then the blocks from which a pointer leads on, each once however often it follows itself.
    pub steps: Vec<String>,
    /// Whether the root is a variable, a stack or a thread-local variable, not memory of unknown use.
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
) -> Result<ReferrersResponse, ApiError> {
    let Some((names, are_callers, blocks)) = allocated_by(recording, references, name) else {
        let message = format_args!("nothing that {name:?} allocated was alive and sampled");
        return Err(ApiError::bad(message));
    };
    let reachability = Reachability::new(references);
    let steps = Steps { recording, references, paths: AllocationPaths::new(recording) };
    let (mut alive, mut unreachable) = <(Sum, Sum)>::default();
    let mut paths: HashMap<(Vec<String>, bool), Sum> = HashMap::new();
    for (node, row) in blocks {
        add(recording, &mut alive, row);
        match reachability.path(node) {
            Some(path) => {
                let is_reachable = reachability.state(node) == State::Reachable;
                let sum = paths.entry((steps.of(&path), is_reachable)).or_default();
                add(recording, sum, row);
            }
            None => add(recording, &mut unreachable, row),
        }
    }
    let count = paths.len();
    let mut paths: Vec<_> = paths.into_iter().collect();
    paths.sort_by(|(a, one), (b, other)| {
        (Reverse(one.samples), a).cmp(&(Reverse(other.samples), b))
    });
    let path = |((steps, is_reachable), sum): ((Vec<String>, bool), Sum)| ReferringPath {
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

/// Describes paths.
struct Steps<'r> {
    recording: &'r Recording,
    references: &'r References,
    paths: AllocationPaths<'r>,
}

impl Steps<'_> {
    fn of(&self, path: &Path<'_>) -> Vec<String> {
        let mut steps = vec![self.root(&path.root.place)];
        for edge in &path.edges {
            let step = format!("{}, at +{:#x}", self.block(edge.from), edge.at.0);
            // A list is one step, however long it is.
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
        steps
    }

    fn root(&self, place: &Place) -> String {
        match place {
            Place::Data { module, address, variable } => {
                let path = self.references.modules.get(module.0 as usize);
                let file = path.map_or("", |path| path.rsplit('/').next().unwrap_or_default());
                match variable {
                    Some(variable) => format!("variable {} ({})", shown(variable), shown(file)),
                    None => format!("variable at {}+{address:#x}", shown(file)),
                }
            }
            Place::Stack(thread) => format!("stack of thread {}", thread.0),
            Place::ThreadLocal(thread) => format!("thread-local data of thread {}", thread.0),
            Place::Elsewhere => "memory of unknown use".to_owned(),
        }
    }

    fn block(&self, node: Node) -> String {
        let block = self.references.blocks.get(node.0 as usize);
        let row = block.and_then(|block| self.recording.profile().find(block.sampled?));
        let place = row.and_then(|row| self.paths.places(&self.paths.of(row)).into_iter().next());
        match (place, row) {
            (Some(place), _) => format!("block allocated in {place}"),
            (None, Some(_)) => "block of unknown callstack".to_owned(),
            (None, None) => "block that was not sampled".to_owned(),
        }
    }
}
