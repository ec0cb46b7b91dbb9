//! What global variables hold: values of their own, or blocks that only lead on to such values.

use crate::label::{RootKind, Strength};
use crate::read::{Columns, Snapshot};
use crate::tag;

/// The blocks of global variables that are no definitions of data.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    /// Closures, in no order.
    closures: Vec<u32>,
    /// Modules' blocks with what each of their fields holds, in no order.
    modules: Vec<(u32, u32)>,
    /// Results of operations that another such result refers to, in no order.
    parts: Vec<u32>,
}

/// The blocks that global variables hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// All of them, in order.
    all: Vec<u32>,
    /// Those that are results of operations ([`Labels::is_operation`](crate::label::Labels::is_operation)), in order.
    operations: Vec<u32>,
}

impl Held {
    /// Those of a snapshot.
    pub(crate) fn new(snapshot: &Snapshot<'_>) -> Self {
        let labels = &snapshot.labels;
        let is_global =
            |label| labels.get(label).is_some_and(|label| label.kind == RootKind::Global);
        let holds = |strength| matches!(strength, Strength::Strong | Strength::Finaliser);
        let (mut all, mut operations) = (Vec::new(), Vec::new());
        for root in &snapshot.roots {
            if holds(root.strength) && is_global(root.label) {
                all.push(root.block.0);
                if labels.is_operation(root.label) {
                    operations.push(root.block.0);
                }
            }
        }
        for blocks in [&mut all, &mut operations] {
            blocks.sort_unstable();
            blocks.dedup();
        }
        Self { all, operations }
    }
}

impl Globals {
    /// Looks at those of a section that are in `held`. The block of a module is one of which all that it
    /// points to is held by global variables, too: the compiler gives a submodule's values slots of
    /// their own. The same is true of a tuple or reference of other variables, which owns as little.
    ///
    /// Of an operation's result that another one's refers to, it is noted that it is a part: the compiler makes a list
    /// cell by cell.
    pub(crate) fn look(&mut self, columns: &Columns, held: &Held) {
        let Held { all: held, operations } = held;
        let end = columns.first.0 + columns.len() as u32;
        let start = held.partition_point(|block| *block < columns.first.0);
        let here = held[start..].iter().take_while(|block| **block < end);
        for block in here.filter_map(|block| columns.get((block - columns.first.0) as usize)) {
            let leads_on = |to: &u32| *to != block.index.0 && held.binary_search(to).is_ok();
            if operations.binary_search(&block.index.0).is_ok() {
                let is_part =
                    |to: &&u32| **to != block.index.0 && operations.binary_search(to).is_ok();
                self.parts.extend(block.targets.iter().filter(is_part));
            }
            match block.tag {
                tag::CLOSURE => self.closures.push(block.index.0),
                0 if !block.targets.is_empty() && block.targets.iter().all(leads_on) => {
                    self.modules.extend(block.targets.iter().map(|to| (block.index.0, *to)));
                }
                _ => {}
            }
        }
    }

    /// Adds what another thread found.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.closures.append(&mut other.closures);
        self.modules.append(&mut other.modules);
        self.parts.append(&mut other.parts);
    }

    /// Puts what was found in order.
    pub(crate) fn sort(&mut self) {
        self.closures.sort_unstable();
        self.modules.sort_unstable();
        self.modules.dedup();
        self.parts.sort_unstable();
        self.parts.dedup();
    }

    /// Whether another operation's result refers to that of one.
    pub(crate) fn is_part(&self, block: u32) -> bool {
        self.parts.binary_search(&block).is_ok()
    }

    /// Whether a block is the value of a variable, and neither a closure nor a module's block.
    pub(crate) fn is_value(&self, block: u32) -> bool {
        let place = self.modules.partition_point(|(module, _)| *module < block);
        self.modules.get(place).is_none_or(|(module, _)| *module != block)
            && self.closures.binary_search(&block).is_err()
    }

    /// Modules' blocks with what each of their fields holds, in order.
    pub(crate) fn into_modules(self) -> Vec<(u32, u32)> {
        self.modules
    }
}
