//! Asks a question about one snapshot, or about those of all processes of a family, and prints the answer.

use std::path::Path;
use std::process::ExitCode;

use memtrail_engine::question::{
    Family, Member, Merge, Outcome, Question, Reduction, Selection, Unanswered, View,
};
use memtrail_heap::query::Heap;
use memtrail_profile::caveats::AT_LEAST;
use serde::Serialize;

use super::input::{Input, SnapshotArgs};
use super::processes;
use super::read::Read;
use crate::answer::{Answer, OutputArgs, Printer, Recipient};
use crate::canvas::Canvas;
use crate::error::{Failure, Kind};
use crate::recording_source::{FamilyMember, Subject};

/// An answer that was found, and how far it is one.
pub(super) struct Gathered<A> {
    pub(super) outcome: Outcome<A>,
    read: Read,
    absent_because: Option<&'static str>,
}

/// Asks a question; `draw` makes text of the answer. It gets the family if the answer is one of sums over it.
pub(super) fn ask<Q>(
    which: &SnapshotArgs,
    question: &Q,
    draw: impl Fn(&mut Canvas, &Q::Response, Option<&Family<Q::Response>>),
) -> Result<ExitCode, Failure>
where
    Q: Question,
    Outcome<Q::Response>: Serialize,
{
    ask_about(&which.subject()?, which, question, draw)
}

/// Asks a question about some processes.
pub(super) fn ask_about<Q>(
    subject: &Subject,
    which: &SnapshotArgs,
    question: &Q,
    draw: impl Fn(&mut Canvas, &Q::Response, Option<&Family<Q::Response>>),
) -> Result<ExitCode, Failure>
where
    Q: Question,
    Outcome<Q::Response>: Serialize,
{
    find(subject, which, question)?.put(&which.form, draw)
}

/// Finds the answer to a question about some processes.
pub(super) fn find<Q: Question>(
    subject: &Subject,
    which: &SnapshotArgs,
    question: &Q,
) -> Result<Gathered<Q::Response>, Failure> {
    gather(subject, question.selection(), |path, member, reduction, read| {
        let types = question.needs_types();
        look(which, path, types, read, |_, view| Ok(reduction.query(question, member, view)?))
    })
}

/// Opens the snapshot of a process, of which `ask` asks something.
pub(super) fn look(
    which: &SnapshotArgs,
    path: &Path,
    types: bool,
    read: &mut Read,
    ask: impl FnOnce(&Input, &View<'_>) -> Result<(), Refused>,
) -> Result<(), Failure> {
    let input = which.open_of(path)?;
    let heap = input.analysed(types)?;
    let room = input.room()?;
    let asked = ask(&input, &View { heap: &heap, place: &room.place, host: &input });
    asked.map_err(|refused| match refused {
        Refused::Unanswered(unanswered) => asked_in_vain(&input, &heap, unanswered),
        Refused::Failed(failure) => failure,
    })?;
    read.damaged(input.damage(&heap));
    read.reported(input.reported());
    Ok(())
}

/// The reason that there is no answer.
pub(super) enum Refused {
    Unanswered(Unanswered),
    Failed(Failure),
}

impl From<Unanswered> for Refused {
    fn from(unanswered: Unanswered) -> Self {
        Self::Unanswered(unanswered)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The error about a question that is not answered.
fn asked_in_vain(input: &Input, heap: &Heap<'_>, unanswered: Unanswered) -> Failure {
    match unanswered {
        Unanswered::Snapshot(failed) => input.failed(&failed, heap.snapshot.blocks()),
        Unanswered::Refused(error) => error.into(),
        Unanswered::Missing(error) => Failure::from(error).of_kind(Kind::Input),
    }
}

/// Looks at each process, and makes one answer of theirs. If what was asked for occurs in none, the first failure says so.
pub(super) fn gather<A: Merge>(
    subject: &Subject,
    selection: Selection<A::Order>,
    mut look: impl FnMut(&Path, &Member, &mut Reduction<A>, &mut Read) -> Result<(), Failure>,
) -> Result<Gathered<A>, Failure> {
    let mut read = Read::default();
    let members = match subject {
        Subject::One(path) => {
            let mut reduction = Reduction::new(None, selection);
            look(path, &Member::default(), &mut reduction, &mut read)?;
            return Gathered::new(reduction, read);
        }
        Subject::Family(members) => members,
    };
    let all: Vec<Member> = members.iter().map(FamilyMember::member).collect();
    let mut reduction = Reduction::new(Some(&all), selection);
    let mut absent = None;
    read.each(members, |fitting, read| {
        let member = fitting.member();
        match look(&fitting.path, &member, &mut reduction, read) {
            Err(failure) if failure.is_absent() => {
                reduction.add_absent(&member);
                absent.get_or_insert(failure);
                Ok(())
            }
            looked => looked,
        }
    })?;
    match absent {
        Some(failure) if reduction.is_empty() => Err(failure),
        _ => Gathered::new(reduction, read),
    }
}

impl<A: Merge> Gathered<A> {
    fn new(reduction: Reduction<A>, mut read: Read) -> Result<Self, Failure> {
        let none = || Failure::new(Kind::Input, "no process was read");
        let mut outcome = reduction.finish().ok_or_else(none)?;
        outcome.notes = read.take_notes();
        Ok(Self { outcome, read, absent_because: None })
    }

    /// The answers of all processes that were asked, each with the name of its process in a family.
    pub(super) fn each(&self) -> Vec<(Option<&str>, &A)> {
        match &self.outcome.family {
            None => self.outcome.answer.iter().map(|answer| (None, answer)).collect(),
            Some(family) => family
                .processes
                .iter()
                .filter_map(|one| Some((Some(one.process.name.as_str()), one.answer.as_ref()?)))
                .collect(),
        }
    }

    /// Sets the reason why some processes have no answer, if it is not that there is nothing of what was asked for.
    pub(super) fn absent_because(self, why: &'static str) -> Self {
        Self { absent_because: Some(why), ..self }
    }

    /// The sign before estimates that are too low.
    pub(super) fn mark(&self) -> &'static str {
        let is_marked = self.outcome.notes.iter().any(|note| note.starts_with(AT_LEAST));
        if is_marked { AT_LEAST } else { "" }
    }

    /// The exit code, after the answer was printed.
    pub(super) fn finish(self) -> ExitCode {
        self.read.finish().unwrap_or(ExitCode::SUCCESS)
    }

    /// Prints it.
    pub(super) fn put(
        self,
        form: &OutputArgs,
        draw: impl Fn(&mut Canvas, &A, Option<&Family<A>>),
    ) -> Result<ExitCode, Failure>
    where
        Outcome<A>: Serialize,
    {
        self.give(Printer, form, draw)
    }

    /// Gives it to a recipient.
    pub(super) fn give<R: Recipient>(
        self,
        recipient: R,
        form: &OutputArgs,
        draw: impl Fn(&mut Canvas, &A, Option<&Family<A>>),
    ) -> Result<R::Received, Failure>
    where
        Outcome<A>: Serialize,
    {
        let Self { outcome, read, absent_because } = self;
        let damage = read.damage();
        let answer = Answer { value: &outcome, damage, problems: read.into_problems() };
        recipient.receive(form, answer, |canvas| {
            processes::draw(canvas, &outcome, absent_because, draw);
        })
    }
}
