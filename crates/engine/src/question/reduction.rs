//! Makes one answer of those of all processes.

use serde::Serialize;

use super::family::{FamilySums, Member};
use super::merge::{Merge, Question};
use super::unanswered::Unanswered;
use super::view::View;

/// An answer about one process, or about all of a family.
#[derive(Debug, Serialize)]
pub struct Outcome<A> {
    /// The answer.
    #[serde(flatten)]
    pub answer: A,
    /// The processes of a family.
    #[serde(flatten)]
    pub family: Option<FamilySums>,
}

/// The answers so far.
#[derive(Debug)]
pub struct Reduction<A> {
    answer: Option<A>,
    family: Option<FamilySums>,
}

impl<A: Merge> Reduction<A> {
    /// An answer about one snapshot, which is of no family.
    ///
    /// # Errors
    /// If the snapshot is damaged, or the question makes no sense for it.
    pub fn one<Q>(question: &Q, view: &View<'_>) -> Result<Outcome<A>, Unanswered>
    where
        Q: Question<Response = A>,
    {
        let mut answer = question.answer(view)?;
        answer.finish(question.limit());
        Ok(Outcome { answer, family: None })
    }

    /// No answer yet, of processes of a family.
    pub fn of(members: &[Member]) -> Self {
        Self { answer: None, family: Some(FamilySums::of(members)) }
    }

    /// Adds the answer of a process.
    ///
    /// # Errors
    /// If its snapshot is damaged, or the question makes no sense for it.
    pub fn add<Q>(
        &mut self,
        question: &Q,
        member: &Member,
        view: &View<'_>,
    ) -> Result<(), Unanswered>
    where
        Q: Question<Response = A>,
    {
        let mut answer = question.answer(view)?;
        if let (Some(sizes), Some(family)) = (answer.sizes(), &mut self.family) {
            family.add(member, view.heap, sizes)?;
        }
        answer.name_process(member);
        match &mut self.answer {
            Some(sum) => sum.merge(answer),
            none => *none = Some(answer),
        }
        Ok(())
    }

    /// The answer about all of them, if there are any, with so many rows.
    pub fn finish(self, limit: usize) -> Option<Outcome<A>> {
        let mut answer = self.answer?;
        answer.finish(limit);
        // Without sizes there is nothing to tell of each.
        let family = self.family.filter(|family| family.count() > 0);
        Some(Outcome { answer, family })
    }
}
