//! Makes one answer of those of all processes.

use std::cmp::Reverse;

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::{Family, FamilySums, Member, OfProcess};
use super::merge::{Merge, Question};
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// An answer about one process, or about all of a family.
#[derive(Debug, Serialize)]
pub struct Outcome<A> {
    /// The answer, or sums over the processes of a family; none of a family if answers do not add up.
    #[serde(flatten)]
    pub answer: Option<A>,
    /// The processes of a family.
    #[serde(flatten)]
    pub family: Option<Family<A>>,
    /// Notes on the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The answers so far.
#[derive(Debug)]
pub struct Reduction<A: Merge> {
    selection: Selection<A::Order>,
    /// The answer about one process, or the sum so far.
    answer: Option<A>,
    /// Sums over the processes of a family.
    sums: Option<FamilySums>,
    processes: Vec<OfProcess<A>>,
    absent: Vec<String>,
}

impl<A: Merge> Reduction<A> {
    /// No answer yet: of one process, or of these processes of a family.
    pub fn new(family: Option<&[Member]>, selection: Selection<A::Order>) -> Self {
        let sums = family.map(FamilySums::of);
        Self { selection, answer: None, sums, processes: Vec::new(), absent: Vec::new() }
    }

    /// Asks about the snapshot of a process.
    ///
    /// # Errors
    /// If its snapshot is damaged, or the question makes no sense for it.
    pub fn query<Q>(
        &mut self,
        question: &Q,
        member: &Member,
        view: &View<'_>,
    ) -> Result<(), Unanswered>
    where
        Q: Question<Response = A>,
    {
        let answer = question.answer(view)?;
        self.add_with_sizes(member, answer, view)
    }

    /// Adds the answer of a process, and the sizes in its snapshot.
    ///
    /// # Errors
    /// If its snapshot is damaged.
    pub fn add_with_sizes(
        &mut self,
        member: &Member,
        answer: A,
        view: &View<'_>,
    ) -> Result<(), Unanswered> {
        let (mut sizes, mut twice) = (None, None);
        if let Some(sums) = &mut self.sums {
            sizes = answer.sizes(view)?;
            if let Some(sizes) = sizes {
                twice = sums.add(member, view.heap, sizes)?;
            }
        }
        self.add(member, answer);
        if let Some(last) = self.processes.last_mut() {
            (last.sizes, last.twice) = (sizes, twice);
        }
        Ok(())
    }

    /// Adds the answer of a process.
    pub fn add(&mut self, member: &Member, mut answer: A) {
        if self.sums.is_none() {
            self.answer = Some(answer);
            return;
        }
        let mut process = OfProcess {
            process: member.clone(),
            sizes: None,
            twice: None,
            size: answer.size(),
            answer: None,
        };
        if A::OF_FAMILY.has_each() {
            if !A::OF_FAMILY.has_sum() {
                answer.finish(&self.selection);
            }
            process.answer = Some(answer);
        } else {
            self.merge(member, answer);
        }
        self.processes.push(process);
    }

    /// Adds that what was asked for does not occur in a process.
    pub fn add_absent(&mut self, member: &Member) {
        self.absent.push(member.recording.clone());
    }

    /// True if there is no answer yet.
    pub fn is_empty(&self) -> bool {
        self.answer.is_none() && self.processes.is_empty()
    }

    fn merge(&mut self, member: &Member, mut answer: A) {
        answer.name_process(member);
        match &mut self.answer {
            Some(sum) => sum.merge(answer),
            none => *none = Some(answer),
        }
    }

    /// Makes sums of the answers of processes, which stay.
    fn merge_each(&mut self) {
        let rank = |process: &OfProcess<A>| process.answer.as_ref().map(A::rank);
        let lowest = self.processes.iter().filter_map(rank).min();
        let (kept, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.processes).into_iter().partition(|one| rank(one) == lowest);
        self.absent.extend(others.into_iter().map(|one| one.process.recording));
        for mut process in kept {
            if let Some(answer) = &mut process.answer {
                self.merge(&process.process, answer.clone());
                answer.finish(&self.selection);
            }
            self.processes.push(process);
        }
    }

    /// The answer about all of them, if there are any.
    pub fn finish(mut self) -> Option<Outcome<A>> {
        if A::OF_FAMILY.has_sum() && A::OF_FAMILY.has_each() {
            self.merge_each();
        }
        let Self { selection, mut answer, sums, mut processes, absent } = self;
        if let Some(answer) = &mut answer {
            answer.finish(&selection);
        }
        let family = sums.map(|sums| {
            let sizes = |one: &OfProcess<A>| one.sizes.unwrap_or_default();
            let size = |one: &OfProcess<A>| {
                let sizes = sizes(one);
                Reverse((sizes.owned, sizes.owned_external, one.size))
            };
            processes.sort_rows_by_key(size);
            Family { processes, sums, absent }
        });
        let has_some =
            answer.is_some() || family.as_ref().is_some_and(|family| !family.processes.is_empty());
        has_some.then_some(Outcome { answer, family, notes: Vec::new() })
    }
}
