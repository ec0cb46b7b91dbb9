//! What a command finds in a snapshot: printed of one process, or of each process of a family.

use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::query::Heap;
use serde::Serialize;

use super::family;
use super::input::{Input, Which};
use crate::answer::{Form, put};
use crate::canvas::Canvas;
use crate::error::Failure;

/// An answer, and how far it is one.
pub(super) struct Found<T> {
    pub(super) answer: T,
    /// What is wrong with the snapshot, if the answer is about a part of it.
    pub(super) damage: Option<String>,
    /// What was reported of files beside it.
    pub(super) code: Option<ExitCode>,
}

impl<T> Found<T> {
    /// An answer about this snapshot.
    pub(super) fn new(input: &Input, heap: &Heap<'_>, answer: T) -> Self {
        Self { answer, damage: input.damage(heap), code: input.reported() }
    }

    /// Prints it.
    pub(super) fn put(
        self,
        form: &Form,
        draw: impl FnOnce(&mut Canvas, &T),
    ) -> Result<ExitCode, Failure>
    where
        T: Serialize,
    {
        let Self { answer, damage, code } = self;
        let printed = put(form, damage, &answer, |canvas| draw(canvas, &answer))?;
        Ok(code.unwrap_or(printed))
    }
}

/// Answers a question about a snapshot; of a family about that of each process, those with the largest answers first. An
/// answer of size 0 is one that there is nothing.
pub(super) fn of_each<T: Serialize>(
    which: &Which,
    find: impl Fn(&Input) -> Result<Found<T>, Failure>,
    size: impl Fn(&T) -> Bytes,
    draw: impl Fn(&mut Canvas, &T),
) -> Result<ExitCode, Failure> {
    match which.several()? {
        Some(members) => family::each(which, &members, find, size, draw),
        None => find(&which.open()?)?.put(&which.form, draw),
    }
}
