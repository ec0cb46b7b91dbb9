//! Rows that are summed over the processes of a family, each with its part in every process.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use std::mem::take;
use std::ops::{AddAssign, Deref, DerefMut};

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::Member;
use crate::heap::Part;

/// A row of an answer that can be summed.
pub trait SumRow {
    /// The name of the row: rows with the same key are one.
    type Key: Hash + Eq;
    /// Figures of the row in one process.
    type Figures: AddAssign;

    /// The name of the row.
    fn key(&self) -> Self::Key;

    /// Its figures.
    fn figures(&self) -> Self::Figures;

    /// The size by which parts are put in order.
    fn size(figures: &Self::Figures) -> u64;

    /// Adds the figures of a row with the same key.
    fn add(&mut self, other: Self);

    /// Its parts in the processes of a family.
    fn parts(&mut self) -> &mut Vec<Part<Self::Figures>>;
}

/// A row with its parts, if it is of a family. Numbers of blocks and roots in it are those of the process of the first part.
#[derive(Clone, Debug, Serialize)]
pub struct Summed<R, F> {
    /// The row.
    #[serde(flatten)]
    pub row: R,
    /// The processes of a family that have some of it, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Part<F>>,
}

impl<R, F> From<R> for Summed<R, F> {
    fn from(row: R) -> Self {
        Self { row, processes: Vec::new() }
    }
}

impl<R, F> Deref for Summed<R, F> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.row
    }
}

impl<R, F> DerefMut for Summed<R, F> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.row
    }
}

/// Names the process in each row; rows of the same name become one.
pub(super) fn name_rows<R: SumRow>(rows: &mut Vec<R>, process: &Member) {
    for row in &mut *rows {
        let figures = row.figures();
        *row.parts() = vec![Part { recording: process.recording.clone(), figures }];
    }
    let all = take(rows);
    merge_rows(rows, all);
}

/// Adds the rows of another process.
pub(super) fn merge_rows<R: SumRow>(rows: &mut Vec<R>, more: Vec<R>) {
    let mut places: HashMap<R::Key, usize> =
        rows.iter().enumerate().map(|(place, row)| (row.key(), place)).collect();
    for row in more {
        let place = *places.entry(row.key()).or_insert(rows.len());
        match rows.get_mut(place) {
            Some(known) => merge(known, row),
            None => rows.push(row),
        }
    }
}

fn merge<R: SumRow>(known: &mut R, mut more: R) {
    let (mut parts, new) = (take(known.parts()), take(more.parts()));
    let largest =
        |parts: &[Part<R::Figures>]| parts.iter().map(|part| R::size(&part.figures)).max();
    // Its numbers are those of the process with most.
    if largest(&new) > largest(&parts) {
        std::mem::swap(known, &mut more);
    }
    known.add(more);
    for part in new {
        // Several rows of a process may have the same name.
        match parts.last_mut().filter(|last| last.recording == part.recording) {
            Some(last) => last.figures += part.figures,
            None => parts.push(part),
        }
    }
    *known.parts() = parts;
}

/// Puts the parts of each row in order.
pub(super) fn order_parts<R: SumRow>(rows: &mut [R]) {
    for row in rows {
        row.parts().sort_rows_by_key(|part| Reverse(R::size(&part.figures)));
    }
}

/// True for rows of a family. Those of one process are in order.
pub(super) fn are_of_family<R: SumRow>(rows: &mut [R]) -> bool {
    rows.iter_mut().any(|row| !row.parts().is_empty())
}

/// A row that is of one process alone.
#[derive(Clone, Debug, Serialize)]
pub struct OfMember<R> {
    /// In a family, the recording of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// The name of the process.
    #[serde(skip)]
    pub process: Option<String>,
    /// The row.
    #[serde(flatten)]
    pub row: R,
}

impl<R> From<R> for OfMember<R> {
    fn from(row: R) -> Self {
        Self { recording: None, process: None, row }
    }
}

impl<R> OfMember<R> {
    /// Names the process.
    pub fn name_process(&mut self, process: &Member) {
        self.recording = Some(process.recording.clone());
        self.process = Some(process.name.clone());
    }
}
