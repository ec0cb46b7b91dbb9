//! Who owns how much: every reachable byte once.
//!
//! The graph attributes each block to one root by the snapshot alone. Here the rows get their names. Roots
//! that hold the very same block are one row: it has the name of the variable's definition, and the others
//! are its aliases.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::joint::held;
use super::names::{SEVERAL_KINDS, STATIC, label_path};
use super::summary::stored_owner;
use crate::graph::{RootNode, RootNodeId, SUPER_ROOT};
use crate::label::{LabelRole, Labels, RootKind, Strength, Variable};
use crate::units::{BlockIndex, Bytes, LabelId};

/// All that is reachable, by owner.
#[derive(Clone, Debug, Serialize)]
pub struct Owners {
    /// All that is reachable.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// The owners, those of most first, off-heap memory included.
    pub rows: Vec<OwnerRow>,
}

/// A root and what is attributed to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnerRow {
    /// The kind of root.
    pub kind: &'static str,
    /// Names from the coarsest to its own.
    pub path: Vec<String>,
    /// The variable's full name, if it is one and that is known: `Cache.Table.entries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The variable's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// How that is known: `cmt`, `computed` or `neighbours`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivation: Option<&'static str>,
    /// Of a global variable without a name, what it holds: `class Shop.cart`. Only where it was looked for
    /// ([`add_held_values`](super::add_held_values)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// The number of the root that has the name.
    pub root: RootNodeId,
    /// The root that blocks are attributed to: that with the name, or one of the aliases.
    #[serde(skip)]
    pub owner: RootNodeId,
    /// The block that it holds, if it is one.
    pub block: Option<BlockIndex>,
    /// What is attributed to it.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// What of all that is reachable is attributed to it.
    pub share: f64,
    /// What would be freed without it and its aliases, exactly. The rest of what it owns is reachable from
    /// other roots, too.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// Other roots that hold the same block, and modules that it is a value of.
    pub aliases: Vec<String>,
    /// Their numbers.
    #[serde(skip)]
    pub alias_roots: Vec<RootNodeId>,
}

impl OwnerRow {
    /// Its name in one text.
    pub fn name(&self) -> String {
        match &self.variable {
            Some(variable) => variable.clone(),
            None if self.path.is_empty() => STATIC.to_owned(),
            None => self.path.join(" / "),
        }
    }
}

/// All owners of anything, and those that own nothing but are named by `also`.
pub fn owners(heap: &Heap<'_>, also: &[RootNodeId]) -> Owners {
    let names = Names::new(heap);
    let all = [heap.graph.held(SUPER_ROOT).bytes(), heap.graph.held_external(SUPER_ROOT)];
    let sizes = heap.graph.owned();
    let also: Vec<RootNodeId> = also.iter().map(|root| names.owner_of(*root)).collect();
    let mut rows = Vec::new();
    for (number, size) in sizes.iter().enumerate() {
        let owner = RootNodeId(number as u32);
        if size.words.0 > 0 || size.external.0 > 0 || also.contains(&owner) {
            let mut row = names.row(owner);
            row.owned = size.words.bytes();
            row.owned_external = size.external;
            row.share = row.owned.share_of(all[0]);
            rows.push(row);
        }
    }
    let size = |row: &OwnerRow| row.owned + row.owned_external;
    rows.sort_rows_by_key(|row| (Reverse(size(row)), Reverse(row.owned), row.owner));
    Owners { owned: all[0], owned_external: all[1], rows }
}

/// Names of owners and of the coarsest roots by those that summaries have, which know no variables: kind and name.
pub type StoredNames = HashMap<(String, String), String, FxBuildHasher>;

/// The names of variables by those in a [`Summary`](super::Summary) of the same program.
pub fn stored_names(heap: &Heap<'_>) -> StoredNames {
    let (names, labels) = (Names::new(heap), &heap.snapshot.labels);
    let root_nodes = heap.graph.root_nodes();
    let mut stored = StoredNames::default();
    for (label, _) in labels.iter() {
        let owner = root_nodes.label(label);
        let RootNode::Label(definition) = root_nodes.get(names.definition(owner)) else { continue };
        if labels.variable(definition).is_some() {
            let (kind, name) = stored_owner(heap, RootNode::Label(label));
            stored.insert((kind.to_owned(), name), full_name(labels, definition));
        }
    }
    stored
}

/// The owner's name for each root node that owns anything, and how its row is found by others.
pub(super) struct Names<'n, 'h> {
    heap: &'n Heap<'h>,
    /// What each label holds, if that is one block.
    block_of: HashMap<LabelId, Option<BlockIndex>, FxBuildHasher>,
    /// The labels that hold nothing but a block, by block, in order.
    holders: HashMap<BlockIndex, Vec<LabelId>, FxBuildHasher>,
    /// Modules' blocks, by the values in them.
    modules: HashMap<BlockIndex, Vec<BlockIndex>, FxBuildHasher>,
}

impl<'n, 'h> Names<'n, 'h> {
    pub(super) fn new(heap: &'n Heap<'h>) -> Self {
        let mut block_of: HashMap<LabelId, Option<BlockIndex>, FxBuildHasher> = HashMap::default();
        for root in heap.snapshot.roots.iter().filter(|root| root.strength == Strength::Strong) {
            let known = block_of.entry(root.label).or_insert(Some(root.block));
            *known = known.filter(|block| *block == root.block);
        }
        let mut holders: HashMap<BlockIndex, Vec<LabelId>, FxBuildHasher> = HashMap::default();
        // Finalisers with the same function have nothing else in common: each keeps a value of its own.
        let labels = heap.snapshot.labels.iter();
        for (label, _) in labels.filter(|(_, label)| label.kind != RootKind::Finaliser) {
            if let Some(Some(block)) = block_of.get(&label) {
                holders.entry(*block).or_default().push(label);
            }
        }
        let mut modules: HashMap<BlockIndex, Vec<BlockIndex>, FxBuildHasher> = HashMap::default();
        for (module, value) in heap.graph.modules() {
            modules.entry(value).or_default().push(module);
        }
        Self { heap, block_of, holders, modules }
    }

    /// The roots that hold the same block as one does, itself among them.
    fn holders(&self, owner: RootNodeId) -> (Option<BlockIndex>, &[LabelId]) {
        let RootNode::Label(label) = self.heap.graph.root_nodes().get(owner) else {
            return (None, &[]);
        };
        let block = self.block_of.get(&label).copied().flatten();
        let has_more = self.heap.snapshot.labels.get(label).is_none_or(|label| {
            matches!(label.kind, RootKind::Stack | RootKind::LocalC | RootKind::Finaliser)
        });
        match block.and_then(|block| self.holders.get(&block)) {
            // Frames that hold a block have nothing else in common.
            Some(_) if has_more => (None, &[]),
            Some(holders) => (block, holders),
            None => (None, &[]),
        }
    }

    /// The block that a root holds, if it is a global variable without a name and holds one.
    pub(super) fn unnamed(&self, root: RootNodeId) -> Option<BlockIndex> {
        let labels = &self.heap.snapshot.labels;
        let label = label_of(self.heap, self.definition(root))?;
        let is_global = labels.get(label).is_some_and(|label| label.kind == RootKind::Global);
        let is_unnamed = is_global && labels.variable(label).is_none();
        self.holders(root).0.filter(|_| is_unnamed)
    }

    /// The label under whose name an owner is shown.
    pub(super) fn definition(&self, owner: RootNodeId) -> RootNodeId {
        let labels = &self.heap.snapshot.labels;
        let (_, holders) = self.holders(owner);
        let globals = holders
            .iter()
            .filter(|label| labels.get(**label).is_some_and(|of| of.kind == RootKind::Global));
        let best = globals.min_by_key(|label| Definition::of(labels, **label));
        best.map_or(owner, |label| self.heap.graph.root_nodes().label(*label))
    }

    /// Without sizes of what is owned.
    fn row(&self, owner: RootNodeId) -> OwnerRow {
        let Heap { graph, snapshot, .. } = self.heap;
        let labels = &snapshot.labels;
        let root = self.definition(owner);
        let label = label_of(self.heap, root);
        let variable = label.and_then(|label| labels.variable(label));
        let position = label.and_then(|label| labels.position(label));
        let path = label.map_or_else(Vec::new, |label| label_path(labels, label));
        let (block, holders) = self.holders(owner);
        let [retained, retained_external] = match block {
            Some(block) => [graph.retained_size(block).bytes(), graph.external(block)],
            // Static data is never freed.
            None if label.is_none() => [Bytes(0); 2],
            None => held(self.heap, owner),
        };
        let mut aliases: BTreeSet<LabelId> = holders.iter().copied().collect();
        let modules = block.and_then(|block| self.modules.get(&block)).into_iter().flatten();
        aliases.extend(modules.filter_map(|module| self.holders.get(module)).flatten());
        if let Some(label) = label {
            aliases.remove(&label);
        }
        OwnerRow {
            kind: kind_of(self.heap, root),
            variable: variable.map(|_| path.join(".")),
            path,
            r#type: variable.map(|variable| variable.ty.clone()).filter(|ty| !ty.is_empty()),
            derivation: position.as_ref().map(|position| position.derivation),
            position: position.map(|position| position.text),
            holds: None,
            root,
            owner,
            block,
            owned: Bytes(0),
            owned_external: Bytes(0),
            share: 0.0,
            retained,
            retained_external,
            aliases: aliases.iter().map(|label| full_name(labels, *label)).collect(),
            alias_roots: aliases.iter().map(|label| graph.root_nodes().label(*label)).collect(),
        }
    }

    /// The name of an owner in one text.
    pub(super) fn name(&self, owner: RootNodeId) -> String {
        self.own_name(self.definition(owner))
    }

    /// A root's own name, whatever it is an alias of.
    pub(super) fn own_name(&self, root: RootNodeId) -> String {
        match label_of(self.heap, root) {
            Some(label) => full_name(&self.heap.snapshot.labels, label),
            None => STATIC.to_owned(),
        }
    }

    /// Where a root is defined, if it is a variable and that is known.
    pub(super) fn position(&self, root: RootNodeId) -> Option<String> {
        let position = self.heap.snapshot.labels.position(label_of(self.heap, root)?);
        position.map(|position| position.text)
    }

    /// A root's own kind.
    pub(super) fn own_kind(&self, root: RootNodeId) -> &'static str {
        kind_of(self.heap, root)
    }

    /// The kind of root that an owner is.
    pub(super) fn kind(&self, owner: RootNodeId) -> &'static str {
        kind_of(self.heap, self.definition(owner))
    }

    /// The owner of what a root holds: itself, or the one that it is an alias of.
    pub(super) fn owner_of(&self, root: RootNodeId) -> RootNodeId {
        let (block, _) = self.holders(root);
        let owner = block.and_then(|block| self.heap.graph.owner(block));
        // What another root reaches at a distance is not the same as what that holds.
        let is_alias = |owner: &RootNodeId| self.holders(*owner).0 == block;
        owner.filter(is_alias).unwrap_or(root)
    }
}

fn label_of(heap: &Heap<'_>, root: RootNodeId) -> Option<LabelId> {
    match heap.graph.root_nodes().get(root) {
        RootNode::Label(label) => Some(label),
        RootNode::Everything | RootNode::Kind(_) => None,
    }
}

/// A root's name with those above it, as one text.
pub fn full_name(labels: &Labels, label: LabelId) -> String {
    let is_variable = labels.variable(label).is_some();
    label_path(labels, label).join(if is_variable { "." } else { " / " })
}

/// The kind of root that a node is of.
fn kind_of(heap: &Heap<'_>, root: RootNodeId) -> &'static str {
    let labels = &heap.snapshot.labels;
    match heap.graph.root_nodes().get(root) {
        RootNode::Label(label) => labels.get(label).map_or("", |label| label.kind.name()),
        RootNode::Kind(kind) => kind.name(),
        RootNode::Everything => SEVERAL_KINDS,
    }
}

/// How likely a variable is the definition of a value, rather than another name of it; the least is the
/// most likely one. Re-exported variables have the position of the definition, which is in
/// another module's file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "they are compared one after the other")]
struct Definition {
    is_unnamed: bool,
    is_no_symbol: bool,
    is_module: bool,
    is_elsewhere: bool,
    line: u64,
    depth: Reverse<usize>,
    label: LabelId,
}

impl Definition {
    fn of(labels: &Labels, label: LabelId) -> Self {
        let variable = labels.variable(label);
        let position = variable.and_then(|variable| variable.position.as_deref());
        let (file, line) = position.and_then(|at| at.rsplit_once(':')).unwrap_or_default();
        let depth = |variable: &Variable| variable.name.split('.').count();
        Self {
            is_unnamed: variable.is_none(),
            is_no_symbol: variable.is_none() && !is_symbol_of_variable(labels, label),
            is_module: variable.is_some_and(|variable| variable.ty == "module"),
            is_elsewhere: position.is_some() && !is_of_unit(labels, label, file),
            line: line.parse().unwrap_or(u64::MAX),
            depth: Reverse(variable.map_or(0, depth)),
            label,
        }
    }
}

/// Whether a label is the symbol of a variable, as compilers with flambda make them: `table`, `table_12`.
fn is_symbol_of_variable(labels: &Labels, label: LabelId) -> bool {
    labels.get(label).is_some_and(|label| label.part == LabelRole::Symbol)
        && !labels.is_operation(label)
}

/// Whether a source file is that of the unit which a label is below: `src/cache.ml` of `App.Cache`.
fn is_of_unit(labels: &Labels, label: LabelId, file: &str) -> bool {
    let stem = file.rsplit('/').next().unwrap_or(file);
    let stem = stem.split('.').next().unwrap_or(stem);
    let mut at = labels.get(label);
    while let Some(label) = at {
        if label.part == LabelRole::Unit {
            let unit = String::from_utf8_lossy(labels.name(label)).replace("__", ".");
            let own = unit.rsplit('.').next().unwrap_or(&unit);
            return own.eq_ignore_ascii_case(stem);
        }
        at = label.parent.and_then(|parent| labels.get(parent));
    }
    false
}
