//! Hash tables, maps, arrays and the like, with what is wasted in them.

use std::cmp::Reverse;

use memtrail_heap::contents::{Structure, Structures};
use memtrail_heap::graph::Failed;
use memtrail_heap::query::{self, Catalogue, Container, Containers};
use serde::Serialize;

use super::family::Member;
use super::merge::{Merge, Question};
use super::unanswered::Unanswered;
use super::view::View;

/// Which containers retain most?
#[derive(Clone, Debug)]
pub struct ContainersQuestion {
    /// Sorts of containers.
    pub of: Vec<Structure>,
    /// Maximum number of containers.
    pub limit: usize,
}

/// Containers, the largest retained size first.
#[derive(Debug, Serialize)]
pub struct LargestContainers {
    /// The containers.
    pub rows: Vec<ContainerOf>,
    /// The number of all containers.
    pub count: u64,
    /// Containers that the limit left out.
    pub left_out: u64,
}

/// A container of a process.
#[derive(Debug, Serialize)]
pub struct ContainerOf {
    /// In a family, the recording of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// The name of the process.
    #[serde(skip)]
    pub process: Option<String>,
    /// The container.
    #[serde(flatten)]
    pub row: Container,
}

impl Question for ContainersQuestion {
    type Response = LargestContainers;

    fn needs_types(&self) -> bool {
        true
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn answer(&self, view: &View<'_>) -> Result<LargestContainers, Unanswered> {
        let heap = view.heap;
        let found = view.work("measuring containers", || {
            let mut structures = Structures::new_in(view.place, &heap.snapshot, heap.threads)?;
            structures.add_first_cells(&heap.types);
            let catalogue = Catalogue::new_in(view.place, heap)?;
            // The largest of all processes are among the largest of each.
            let found = query::containers(heap, &structures, &catalogue, &self.of, self.limit)?;
            Ok::<_, Failed>(found)
        });
        let Containers { rows, count } = found?;
        let row = |row| ContainerOf { recording: None, process: None, row };
        Ok(LargestContainers { rows: rows.into_iter().map(row).collect(), count, left_out: 0 })
    }
}

impl Merge for LargestContainers {
    fn name_process(&mut self, process: &Member) {
        for row in &mut self.rows {
            row.recording = Some(process.recording.clone());
            row.process = Some(process.name.clone());
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.rows.extend(other.rows);
    }

    fn finish(&mut self, limit: usize) {
        self.rows.sort_by_key(|of| Reverse(of.row.retained + of.row.retained_external));
        self.rows.truncate(limit);
        self.left_out = self.count.saturating_sub(self.rows.len() as u64);
    }
}
