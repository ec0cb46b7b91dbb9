//! Call paths as seen by what a table is about: as paths of functions and sites, of modules, or of
//! files. On a path of modules or files, too, only the outermost occurrence of each is kept: the
//! nodes that are not the first of theirs are passed over.

use super::entities::{Entity, Label, NO_ENTITY};
use super::tree::{FIRST_OF_FILE, FIRST_OF_MODULE};
use super::view::View;
use crate::selected::Cell;
use crate::sites::{By, ModuleId};
use memtrail_trace::FileId;

/// A view of a tree.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) view: View<'a>,
    by: By,
    /// The label of each entity, where that is not the entity.
    labels: Option<&'a [u32]>,
    mask: u8,
}

/// A node at which a fragment of a path ends, and what of its subtree is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) node: u32,
    pub(super) cell: Cell,
}

impl<'a> Level<'a> {
    pub(super) fn new(view: View<'a>, by: By) -> Self {
        let (labels, mask) = match by {
            By::Function | By::Site => (None, 0),
            By::Module => (Some(view.entities.module_column()), FIRST_OF_MODULE),
            By::File => (Some(view.entities.file_column()), FIRST_OF_FILE),
        };
        Self { view, by, labels, mask }
    }

    /// Whether a node is one of the path.
    pub(super) fn counts(&self, node: u32) -> bool {
        self.view.tree.firsts()[node as usize] & self.mask == self.mask
    }

    pub(super) fn label_of(&self, entity: u32) -> u32 {
        self.labels.map_or(entity, |labels| labels[entity as usize])
    }

    pub(super) fn label(&self, node: u32) -> u32 {
        self.label_of(self.view.tree.entities()[node as usize])
    }

    /// How many labels there may be.
    pub(super) fn labels(&self) -> usize {
        match self.by {
            By::Function | By::Site => self.view.entities.len(),
            By::Module => self.view.entities.modules().len(),
            By::File => self.view.entities.files().len(),
        }
    }

    pub(super) fn name(&self, label: u32) -> Label {
        match self.by {
            By::Function | By::Site => Label::Entity(Entity(label)),
            By::Module => Label::Module(ModuleId(label)),
            By::File => Label::File(FileId(label)),
        }
    }

    /// The number of a label of this level.
    pub(super) fn number(&self, label: Label) -> Option<u32> {
        let number = match (self.by, label) {
            (By::Function | By::Site, Label::Entity(entity)) => Some(entity.0),
            (By::Module, Label::Module(module)) => Some(module.0),
            (By::File, Label::File(file)) => Some(file.0),
            _ => None,
        };
        number.filter(|&number| (number as usize) < self.labels())
    }

    pub(super) fn subtree(&self, node: u32) -> Cell {
        self.view.cells.subtree(node, self.view.tree.end(node))
    }

    /// The next nodes of the paths below a node, if anything selected is there.
    pub(super) fn children(&self, node: u32, mut each: impl FnMut(u32)) {
        let ends = self.view.tree.ends();
        let end = ends[node as usize];
        let mut at = node + 1;
        while at < end {
            let after = ends[at as usize];
            if self.view.cells.samples(at, after) == 0 {
                at = after;
            } else if self.counts(at) {
                each(at);
                at = after;
            } else {
                at += 1;
            }
        }
    }

    /// The node before a node on its path; none for the root.
    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        let mut at = node;
        while at != 0 {
            at = self.view.tree.parent(at);
            if at == 0 || self.counts(at) {
                return Some(at);
            }
        }
        None
    }

    /// Where a fragment occurs, as the nodes of its last element; each block is in one at most.
    /// The toplevel is the root, the end of all paths is what was allocated with exactly a path.
    pub(super) fn matches(&self, path: &[u32]) -> Vec<Match> {
        let at_end = self.labels.is_none() && path.last() == Some(&Entity::ALLOCATIONS.0);
        let path = if at_end { &path[..path.len() - 1] } else { path };
        let mut found = Vec::new();
        let Some((&last, before)) = path.split_last() else {
            if at_end {
                let nodes = 0..self.view.tree.len() as u32;
                found.extend(nodes.filter_map(|node| self.own(node)));
            }
            return found;
        };
        let (entities, ends) = (self.view.tree.entities(), self.view.tree.ends());
        let mut node = 0;
        while node < entities.len() {
            let here = self.label_of(entities[node]) == last && self.counts(node as u32);
            if !here || !self.follows(node as u32, before) {
                node += 1;
                continue;
            }
            let cell = self.subtree(node as u32);
            if at_end {
                found.extend(self.own(node as u32));
            } else if cell.samples > 0 {
                found.push(Match { node: node as u32, cell });
            }
            node = ends[node] as usize;
        }
        found
    }

    fn own(&self, node: u32) -> Option<Match> {
        let cell = self.view.cells.own(node);
        (cell.samples > 0).then_some(Match { node, cell })
    }

    /// Whether these stand before a node on its path, without anything between.
    fn follows(&self, node: u32, before: &[u32]) -> bool {
        let mut at = node;
        before.iter().rev().all(|&label| {
            self.parent(at).is_some_and(|parent| {
                at = parent;
                self.label_at(parent) == label
            })
        })
    }

    /// As [`label`](Self::label), but the root is the toplevel at every level.
    fn label_at(&self, node: u32) -> u32 {
        if node == 0 && self.labels.is_some() { NO_ENTITY } else { self.label(node) }
    }

    /// The first node of the occurrence of a fragment of so many elements that ends at a node.
    pub(super) fn first(&self, node: u32, elements: usize) -> u32 {
        let mut at = node;
        for _ in 1..elements {
            at = self.parent(at).unwrap_or(0);
        }
        at
    }
}
