//! Totals by function, allocation site, module or file.

use std::cmp::Ordering;

use super::entities::{Entities, Label};
use super::level::Level;
use super::view::View;
use crate::selected::Cell;
use crate::sites::By;
use memtrail_order::SortRows as _;

/// A line of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// What it is about.
    pub label: Label,
    /// Blocks on whose path it stands.
    pub total: Cell,
    /// Blocks that it allocated itself: the innermost function that is known and not hidden.
    pub own: Cell,
}

/// By what lines are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// Blocks on whose path it stands.
    #[default]
    Total,
    /// What it allocated itself.
    Own,
    /// Number of blocks, of the total.
    Blocks,
    /// What was never collected, of the total.
    Live,
    /// Mean lifetime of a byte, of the total.
    Lifetime,
    /// The key.
    Name,
}

/// A line for everything on whose behalf something was allocated, in no order to rely on.
pub fn table(view: View<'_>, by: By) -> Vec<Line> {
    let mut sums = Sums::new(Level::new(view, by), by);
    sums.add(0, view.tree.end(0));
    sums.lines()
}

/// Sums by label.
pub(super) struct Sums<'a> {
    level: Level<'a>,
    by: By,
    /// Total and own of each label.
    totals: Vec<(Cell, Cell)>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(level: Level<'a>, by: By) -> Self {
        Self { level, by, totals: vec![Default::default(); level.labels()] }
    }

    /// Adds nodes, which hold whole subtrees.
    pub(super) fn add(&mut self, from: u32, end: u32) {
        let View { tree, entities, cells } = self.level.view;
        let mut node = from;
        while node < end {
            let after = tree.end(node);
            if cells.samples(node, after) == 0 {
                node = after;
                continue;
            }
            let entity = tree.entities()[node as usize];
            let is_site = entities.is_site(entity);
            let has_line = match self.by {
                By::Function => !is_site && node != 0,
                By::Site => is_site,
                By::Module | By::File => self.level.counts(node),
            };
            if has_line {
                let label = self.level.label(node) as usize;
                if let Some((total, _)) = self.totals.get_mut(label) {
                    *total += cells.subtree(node, after);
                }
            }
            // Only the leaves of paths have something of their own.
            if cells.samples(node, node + 1) > 0 {
                let allocator = self.allocator(entity) as usize;
                if let Some((_, own)) = self.totals.get_mut(allocator) {
                    *own += cells.own(node);
                }
            }
            node += 1;
        }
    }

    /// The label that allocated what is at the end of a path.
    pub(super) fn allocator(&self, entity: u32) -> u32 {
        let entities = self.level.view.entities;
        match self.by {
            By::Function => entities.function_column()[entity as usize],
            By::Site => entity,
            By::Module | By::File => self.level.label_of(entity),
        }
    }

    pub(super) fn add_total(&mut self, label: u32, cell: Cell) {
        self.totals[label as usize].0 += cell;
    }

    pub(super) fn add_own(&mut self, label: u32, cell: Cell) {
        self.totals[label as usize].1 += cell;
    }

    /// Lines of those that have a total.
    pub(super) fn lines(self) -> Vec<Line> {
        let level = self.level;
        let with_total = (0..).zip(self.totals).filter(|(_, (total, _))| total.samples > 0);
        with_total
            .map(|(label, (total, own))| Line { label: level.name(label), total, own })
            .collect()
    }
}

/// Sorts lines; those that are equal in the column go by total, then by key.
pub fn sort(lines: &mut [Line], entities: &Entities, column: Column, descending: bool) {
    let by_key = |a: &Line, b: &Line| entities.label_key(a.label).cmp(entities.label_key(b.label));
    lines.sort_rows_by(|a, b| {
        let order = match column {
            Column::Total => a.total.samples.cmp(&b.total.samples),
            Column::Own => a.own.samples.cmp(&b.own.samples),
            Column::Blocks => a.total.blocks.total_cmp(&b.total.blocks),
            Column::Live => a.total.live.cmp(&b.total.live),
            Column::Lifetime => a.total.mean_lifetime().total_cmp(&b.total.mean_lifetime()),
            Column::Name => by_key(a, b),
        };
        let order = if descending { order.reverse() } else { order };
        let rest = || b.total.samples.cmp(&a.total.samples).then_with(|| by_key(a, b));
        if order == Ordering::Equal { rest() } else { order }
    });
}
