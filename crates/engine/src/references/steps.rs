//! Steps of the paths that lead to blocks.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use memtrail_references::{Edge, Node, Place, Reachability, References, Step, Thread, Variable};

use super::heap_values::HeapValues;
use crate::leaks::sites::AllocationPaths;
use crate::names::shown;
use crate::recording::Recording;

/// Steps of a path that are described.
const MAX_STEPS: usize = 24;

/// A step of a path: where a pointer is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Hop {
    /// In a global variable, and where in it: `+0x18`.
    Variable { name: Rc<str>, at: Option<Rc<str>>, position: Rc<str> },
    /// In what belongs to a thread.
    Thread(Of, u32),
    /// In what belongs to so many threads.
    Threads(Of, usize),
    /// In a block, by what allocated it if it was sampled, and where in it.
    Block { site: Option<Rc<str>>, at: Option<u64> },
    /// In blocks that a function allocated, and in others between them.
    Blocks(Rc<str>),
    /// Anywhere else.
    Other(Rc<str>),
}

/// Memory that belongs to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Of {
    Stack,
    ThreadLocal,
    SystemCall,
}

impl Display for Hop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let block = |site: &Option<Rc<str>>| match site {
            Some(site) => format!("block {site}"),
            None => "block that was not sampled".to_owned(),
        };
        match self {
            Self::Variable { name, at, position } => {
                write!(f, "variable {name}{} ({position})", at.as_deref().unwrap_or_default())
            }
            Self::Thread(Of::Stack, thread) => write!(f, "stack of thread {thread}"),
            Self::Thread(Of::ThreadLocal, thread) => {
                write!(f, "thread-local data of thread {thread}")
            }
            Self::Thread(Of::SystemCall, thread) => {
                write!(f, "system call in which thread {thread} waits")
            }
            Self::Threads(Of::Stack, count) => write!(f, "stacks of {count} threads"),
            Self::Threads(Of::ThreadLocal, count) => {
                write!(f, "thread-local data of {count} threads")
            }
            Self::Threads(Of::SystemCall, count) => {
                write!(f, "system calls in which {count} threads wait")
            }
            Self::Block { site, at: Some(at) } => write!(f, "{}, at +{at:#x}", block(site)),
            Self::Block { site: None, at: None } => f.write_str("blocks that were not sampled"),
            Self::Block { site, at: None } => f.write_str(&block(site)),
            Self::Blocks(site) => write!(f, "blocks {site}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Describes paths. Those of a list's blocks begin alike, and each is made of the one before.
pub(super) struct Steps<'r> {
    recording: &'r Recording,
    references: &'r References,
    reachability: &'r Reachability<'r>,
    paths: AllocationPaths<'r>,
    values: HeapValues<'r>,
    known: HashMap<Node, Rc<[Hop]>>,
}

impl<'r> Steps<'r> {
    pub(super) fn new(
        recording: &'r Recording,
        references: &'r References,
        reachability: &'r Reachability<'r>,
        values: HeapValues<'r>,
    ) -> Self {
        let (paths, known) = (AllocationPaths::new(recording), HashMap::new());
        Self { recording, references, reachability, paths, values, known }
    }

    /// The steps to a block; none to one that is not reachable.
    pub(super) fn of(&mut self, node: Node) -> Option<Rc<[Hop]>> {
        let (mut at, mut edges) = (node, Vec::new());
        let mut steps: Rc<[Hop]> = loop {
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
    fn with(&self, steps: &Rc<[Hop]>, edge: &Edge) -> Rc<[Hop]> {
        let step = if steps.len() < MAX_STEPS {
            self.block(edge)
        } else {
            Hop::Other("further blocks".into())
        };
        if steps.last() == Some(&step) {
            return Rc::clone(steps);
        }
        steps.iter().cloned().chain([step]).collect()
    }

    fn root(&self, place: &Place) -> Vec<Hop> {
        let thread = |of, thread: &Thread| vec![Hop::Thread(of, thread.0)];
        match place {
            Place::Heap { block, is_garbage, .. } => {
                let steps = self.values.steps(*block, *is_garbage);
                steps.into_iter().map(|step| Hop::Other(step.into())).collect()
            }
            Place::Data { module, address, variable } => {
                let path = self.references.modules.get(module.0 as usize);
                let file = path.map_or("", |path| path.rsplit('/').next().unwrap_or_default());
                vec![match variable {
                    Some(variable) => named(variable, file),
                    None => Hop::Other(format!("variable at {}+{address:#x}", shown(file)).into()),
                }]
            }
            Place::Stack(of) => thread(Of::Stack, of),
            Place::ThreadLocal(of) => thread(Of::ThreadLocal, of),
            Place::SystemCall(of) => thread(Of::SystemCall, of),
            Place::Elsewhere => vec![Hop::Other("memory of unknown use".into())],
        }
    }

    fn block(&self, edge: &Edge) -> Hop {
        let block = self.references.blocks.get(edge.from.0 as usize);
        let row = block.and_then(|block| self.recording.profile().find(block.sampled?));
        let place = row.and_then(|row| self.paths.places(&self.paths.of(row)).into_iter().next());
        let site = match (place, row) {
            (Some(place), _) => Some(format!("allocated in {place}").into()),
            (None, Some(_)) => Some("of unknown callstack".into()),
            (None, None) => None,
        };
        Hop::Block { site, at: Some(edge.at.0) }
    }
}

/// A variable: its name ends with where in it the pointer is, unless that is its start.
fn named(variable: &Variable, file: &str) -> Hop {
    let (name, at) = match variable.name.rfind("+0x") {
        Some(end) if end > 0 => variable.name.split_at(end),
        _ => (variable.name.as_str(), ""),
    };
    Hop::Variable {
        name: shown(name).into(),
        at: (!at.is_empty()).then(|| shown(at).into()),
        position: shown(variable.position.as_deref().unwrap_or(file)).into(),
    }
}
