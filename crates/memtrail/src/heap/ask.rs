//! Asks a question about one snapshot, or about those of all processes of a family, and prints the answer.

use std::process::ExitCode;

use memtrail_engine::question::{Member, Outcome, Question, Reduction, Unanswered, View};
use memtrail_heap::query::Heap;
use serde::Serialize;

use super::family::{self, Read};
use super::found::Found;
use super::input::{Input, Which};
use crate::canvas::Canvas;
use crate::error::{Failure, Kind};
use crate::recording_source::Fitting;

/// Asks a question; `draw` makes text of the answer, below which the processes of a family are listed.
pub(super) fn ask<Q>(
    which: &Which,
    question: &Q,
    draw: impl FnOnce(&mut Canvas, &Outcome<Q::Response>),
) -> Result<ExitCode, Failure>
where
    Q: Question,
    Outcome<Q::Response>: Serialize,
{
    if let Some(members) = which.several()? {
        return of_family(which, question, &members, draw);
    }
    let input = which.open()?;
    let found = asked(&input, question.needs_types(), |view| Reduction::one(question, view))?;
    found.put(&which.form, draw)
}

fn of_family<Q>(
    which: &Which,
    question: &Q,
    members: &[Fitting],
    draw: impl FnOnce(&mut Canvas, &Outcome<Q::Response>),
) -> Result<ExitCode, Failure>
where
    Q: Question,
    Outcome<Q::Response>: Serialize,
{
    let all: Vec<Member> = members.iter().map(Fitting::member).collect();
    let mut reduction = Reduction::of(&all);
    // One process after another: the memory of one analysis is freed before the next.
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let member = member.member();
        let found =
            asked(&input, question.needs_types(), |view| reduction.add(question, &member, view))?;
        read.take(found);
        Ok(())
    })?;
    let none = || Failure::new(Kind::Input, "no process was read");
    let outcome = reduction.finish(question.limit()).ok_or_else(none)?;
    read.put(&which.form, &outcome, |canvas| {
        draw(canvas, &outcome);
        if let Some(sums) = &outcome.family {
            canvas.gap();
            family::draw_sums(canvas, sums);
        }
    })
}

/// Asks about an opened snapshot: `ask` gets what a question looks at.
pub(super) fn asked<T>(
    input: &Input,
    needs_types: bool,
    ask: impl FnOnce(&View<'_>) -> Result<T, Unanswered>,
) -> Result<Found<T>, Failure> {
    let heap = input.analysed(needs_types)?;
    let room = input.room()?;
    let answer = ask(&View { heap: &heap, place: &room.place, host: input });
    let answer = answer.map_err(|unanswered| asked_in_vain(input, &heap, unanswered))?;
    Ok(Found::new(input, &heap, answer))
}

/// The error about a question that is not answered.
pub(super) fn asked_in_vain(input: &Input, heap: &Heap<'_>, unanswered: Unanswered) -> Failure {
    match unanswered {
        Unanswered::Snapshot(failed) => input.failed(&failed, heap.snapshot.blocks()),
        Unanswered::Refused(error) => error.into(),
    }
}
