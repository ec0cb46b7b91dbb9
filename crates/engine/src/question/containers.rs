//! Hash tables, maps, arrays and the like, with what is wasted in them.

use std::cmp::Reverse;

use memtrail_heap::contents::{Structure, Structures};
use memtrail_heap::graph::Failed;
use memtrail_heap::query::{self, Catalogue, Container, Containers};
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::Member;
use super::merge::{FamilyForm, Merge, Question};
use super::selection::Selection;
use super::summed::OfMember;
use super::unanswered::Unanswered;
use super::view::View;
use crate::query::ContainerSort;

/// Which containers retain most?
#[derive(Clone, Debug)]
pub struct ContainersQuestion {
    /// Sorts of containers.
    pub of: Vec<Structure>,
    /// Rows that are wanted.
    pub selection: Selection<ContainerSort>,
}

/// Containers, in the order that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct LargestContainers {
    /// The containers.
    pub rows: Vec<OfMember<Container>>,
    /// The number of all containers.
    pub count: u64,
    /// Containers that are left out.
    pub left_out: u64,
}

impl Question for ContainersQuestion {
    type Response = LargestContainers;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection<ContainerSort> {
        self.selection.clone()
    }

    fn answer(&self, view: &View<'_>) -> Result<LargestContainers, Unanswered> {
        let heap = view.heap;
        let Selection { find, order, .. } = &self.selection;
        // The largest of all processes are among the largest of each.
        let are_largest = find.is_none() && *order == ContainerSort::Retained;
        let most = if are_largest { self.selection.end() } else { usize::MAX };
        let found = view.work("measuring containers", || {
            let mut structures = Structures::new_in(view.place, &heap.snapshot, heap.threads)?;
            structures.add_first_cells(&heap.types);
            let catalogue = Catalogue::new_in(view.place, heap)?;
            let found = query::containers(heap, &structures, &catalogue, &self.of, most)?;
            Ok::<_, Failed>(found)
        });
        let Containers { rows, count } = found?;
        let rows = rows.into_iter().map(OfMember::from).collect();
        Ok(LargestContainers { rows, count, left_out: 0 })
    }
}

impl Merge for LargestContainers {
    type Order = ContainerSort;

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        for row in &mut self.rows {
            row.name_process(process);
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.rows.extend(other.rows);
    }

    fn finish(&mut self, selection: &Selection<ContainerSort>) {
        let rows = &mut self.rows;
        selection.search(rows, |OfMember { row, .. }| {
            [&row.r#type, &row.owner, &row.path].map(String::as_str).to_vec()
        });
        rows.sort_rows_by_key(|of| Reverse(of.row.retained + of.row.retained_external));
        match selection.order {
            ContainerSort::Retained => {}
            ContainerSort::Entries => rows.sort_rows_by_key(|of| Reverse(of.row.entries)),
            ContainerSort::Wasted => rows.sort_rows_by_key(|of| Reverse(of.row.waste.sum())),
            ContainerSort::External => {
                rows.sort_rows_by_key(|of| Reverse(of.row.retained_external));
            }
            ContainerSort::Name => rows.sort_rows_by(|a, b| a.row.r#type.cmp(&b.row.r#type)),
        }
        let found = if selection.find.is_some() { rows.len() as u64 } else { self.count };
        selection.cut(rows);
        self.left_out = found.saturating_sub(rows.len() as u64);
    }
}
