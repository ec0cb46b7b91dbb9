//! What refers to the blocks that a function allocated: paths from variables, stacks and thread-local variables.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::Sum;
use memtrail_references::{Edge, Node, Place, Reachability, References, State, Step, Variable};
use serde::Serialize;

use super::heap_values::HeapValues;
use super::joined::{add, sampled, seconds};
use crate::api_error::ApiError;
use crate::heap::loaded::LoadedSnapshot;
use crate::heap::samples::sites;
use crate::leaks::BlocksEstimate;
use crate::leaks::sites::AllocationPaths;
use crate::names::shown;
use crate::recording::Recording;

/// Functions that are named at most.
const MAX_NAMES: usize = 10;
/// Steps of a path that are described.
const MAX_STEPS: usize = 24;

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
    let roots = blocks.iter().filter_map(|(node, _)| match reachability.path(*node)?.root.place {
        Place::Heap { block, .. } => Some(block),
        _ => None,
    });
    let values = HeapValues::new(loaded, roots.collect())?;
    let mut steps = Steps::new(recording, references, &reachability, values);
    let (mut alive, mut unreachable) = <(Sum, Sum)>::default();
    let mut paths: HashMap<(Rc<[String]>, bool), Sum> = HashMap::new();
    for (node, row) in blocks {
        add(recording, &mut alive, row);
        match steps.of(node) {
            Some(steps) => {
                let is_reachable = reachability.state(node) == State::Reachable;
                let sum = paths.entry((steps, is_reachable)).or_default();
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
    let path = |((steps, is_reachable), sum): ((Rc<[String]>, bool), Sum)| ReferringPath {
        steps: steps.to_vec(),
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

/// Describes paths. Those of a list's blocks begin alike, and each is made of the one before.
struct Steps<'r> {
    recording: &'r Recording,
    references: &'r References,
    reachability: &'r Reachability<'r>,
    paths: AllocationPaths<'r>,
    values: HeapValues<'r>,
    known: HashMap<Node, Rc<[String]>>,
}

impl<'r> Steps<'r> {
    fn new(
        recording: &'r Recording,
        references: &'r References,
        reachability: &'r Reachability<'r>,
        values: HeapValues<'r>,
    ) -> Self {
        let (paths, known) = (AllocationPaths::new(recording), HashMap::new());
        Self { recording, references, reachability, paths, values, known }
    }

    /// The steps to a block; none to one that is not reachable.
    fn of(&mut self, node: Node) -> Option<Rc<[String]>> {
        let (mut at, mut edges) = (node, Vec::new());
        let mut steps: Rc<[String]> = loop {
            if let Some(known) = self.known.get(&at) {
                break Rc::clone(known);
            }
            match self.reachability.last_step(at)? {
                Step::Root(root) => break self.root(&root.place).into(),
                Step::Edge(edge) => {
                    edges.push(edge);
                    at = edge.from;
                }
            }
        };
        self.known.insert(at, Rc::clone(&steps));
        for edge in edges.into_iter().rev() {
            steps = self.with(&steps, &edge);
            self.known.insert(edge.to, Rc::clone(&steps));
        }
        Some(steps)
    }

    /// One step more. A list is one step, however long it is.
    fn with(&self, steps: &Rc<[String]>, edge: &Edge) -> Rc<[String]> {
        let step = if steps.len() < MAX_STEPS {
            format!("{}, at +{:#x}", self.block(edge.from), edge.at.0)
        } else {
            "further blocks".to_owned()
        };
        if steps.last() == Some(&step) {
            return Rc::clone(steps);
        }
        steps.iter().cloned().chain([step]).collect()
    }

    fn root(&self, place: &Place) -> Vec<String> {
        let step = match place {
            Place::Heap { block, is_garbage, .. } => {
                return self.values.steps(*block, *is_garbage);
            }
            Place::Data { module, address, variable } => {
                let path = self.references.modules.get(module.0 as usize);
                let file = path.map_or("", |path| path.rsplit('/').next().unwrap_or_default());
                match variable {
                    Some(Variable { name, position }) => {
                        let place = position.as_deref().unwrap_or(file);
                        format!("variable {} ({})", shown(name), shown(place))
                    }
                    None => format!("variable at {}+{address:#x}", shown(file)),
                }
            }
            Place::Stack(thread) => format!("stack of thread {}", thread.0),
            Place::ThreadLocal(thread) => format!("thread-local data of thread {}", thread.0),
            Place::SystemCall(thread) => {
                format!("system call in which thread {} waits", thread.0)
            }
            Place::Elsewhere => "memory of unknown use".to_owned(),
        };
        vec![step]
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
