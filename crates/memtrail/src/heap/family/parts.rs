//! Answers of processes of a family, one after another.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_engine::question::Member;
use memtrail_heap::Bytes;
use memtrail_text::rounded::grouped;
use serde::Serialize;

use super::Read;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::heap::found::Found;
use crate::heap::input::{Input, Which};
use crate::recording_source::Fitting;

/// Processes whose answers are printed, at most.
const MAX_PRINTED: usize = 8;

/// The answer of one process.
#[derive(Serialize)]
pub(super) struct Part<T> {
    #[serde(flatten)]
    pub(super) process: Member,
    /// What the command answers of this process alone.
    pub(super) answer: T,
    #[serde(skip)]
    size: Bytes,
}

/// The answers of all processes.
#[derive(Serialize)]
pub(super) struct Parts<T> {
    /// Those with the largest first.
    #[serde(rename = "processes")]
    pub(super) all: Vec<Part<T>>,
    /// Recordings of processes in which what was asked for does not occur.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<String>,
    /// What is said of these, if it is not that they have nothing of what was asked for.
    #[serde(skip)]
    pub(super) absent_because: Option<&'static str>,
}

/// Sums over all processes, and the answers that they are of.
#[derive(Serialize)]
pub(super) struct Summed<S, T> {
    #[serde(flatten)]
    pub(super) sum: S,
    #[serde(flatten)]
    pub(super) parts: Parts<T>,
}

impl<T> Parts<T> {
    /// Looks at each process. If what was asked for occurs in none, the first failure says so.
    pub(super) fn find(
        members: &[Fitting],
        size: impl Fn(&T) -> Bytes,
        mut look: impl FnMut(&Fitting, &mut Read) -> Result<T, Failure>,
    ) -> Result<(Self, Read), Failure> {
        let mut parts = Self { all: Vec::new(), absent: Vec::new(), absent_because: None };
        let mut nowhere = None;
        let read = Read::each(members, |member, read| {
            let answer = match look(member, read) {
                Ok(answer) => answer,
                Err(failure) if failure.is_absent() => {
                    parts.absent.push(member.path.display().to_string());
                    nowhere.get_or_insert(failure);
                    return Ok(());
                }
                Err(failure) => return Err(failure),
            };
            let size = size(&answer);
            parts.all.push(Part { process: member.member(), answer, size });
            Ok(())
        })?;
        match nowhere {
            Some(failure) if parts.all.is_empty() => return Err(failure),
            _ => {}
        }
        parts.all.sort_by_key(|part| Reverse(part.size));
        Ok((parts, read))
    }

    /// Makes other answers of these.
    pub(super) fn map<U>(self, make: impl Fn(T) -> U) -> Parts<U> {
        let Self { all, absent, absent_because } = self;
        let part = |Part { process, answer, size }| Part { process, answer: make(answer), size };
        Parts { all: all.into_iter().map(part).collect(), absent, absent_because }
    }

    /// Whether any process is a copy of its parent.
    pub(super) fn has_forks(&self) -> bool {
        self.all.iter().any(|part| part.process.is_fork)
    }

    /// Leaves only answers that mean the same, by the lowest rank of any: a name may be that of a function in one process
    /// and a part of other names elsewhere.
    pub(super) fn keep_lowest<R: Ord>(&mut self, rank: impl Fn(&T) -> R) {
        let Some(lowest) = self.all.iter().map(|part| rank(&part.answer)).min() else { return };
        let (kept, others) = std::mem::take(&mut self.all)
            .into_iter()
            .partition(|part: &Part<T>| rank(&part.answer) == lowest);
        self.all = kept;
        self.absent.extend(others.into_iter().map(|part: Part<T>| part.process.recording));
    }

    /// Draws the answers, each below the name of its process.
    pub(super) fn draw(&self, canvas: &mut Canvas, draw: impl Fn(&mut Canvas, &T)) {
        let (some, none): (Vec<&Part<T>>, Vec<&Part<T>>) =
            self.all.iter().partition(|part| part.size > Bytes(0));
        for (place, part) in some.iter().take(MAX_PRINTED).enumerate() {
            if place > 0 {
                canvas.gap();
            }
            canvas.line(&[(STRONG, &part.process.name), (FAINT, part.process.note())]);
            draw(canvas, &part.answer);
        }
        if some.is_empty()
            && let Some(part) = none.first()
        {
            draw(canvas, &part.answer);
        }
        canvas.gap();
        let processes = |number: usize| match number {
            1 => "1 process".to_owned(),
            number => format!("{} processes", grouped(number as u64)),
        };
        let left_out = some.len().saturating_sub(MAX_PRINTED);
        if left_out > 0 {
            let text = format!("less of it is in {} more (--json: all)", processes(left_out));
            canvas.line(&[(FAINT, &text)]);
        }
        let mut nothing = none.len();
        match self.absent_because {
            Some(why) if !self.absent.is_empty() => {
                let text = format!("{} more {why}", processes(self.absent.len()));
                canvas.line(&[(FAINT, &text)]);
            }
            _ => nothing += self.absent.len(),
        }
        if some.is_empty() {
            canvas.line(&[(PLAIN, &format!("… in each of {}", processes(none.len())))]);
        } else if nothing > 0 {
            let text = format!("there is nothing of it in {} more", processes(nothing));
            canvas.line(&[(FAINT, &text)]);
        }
        canvas.line(&[(FAINT, "one of them: --process PID")]);
    }
}

/// Answers a question about the snapshot of each process.
pub(in crate::heap) fn each<T: Serialize>(
    which: &Which,
    members: &[Fitting],
    find: impl Fn(&Input) -> Result<Found<T>, Failure>,
    size: impl Fn(&T) -> Bytes,
    draw: impl Fn(&mut Canvas, &T),
) -> Result<ExitCode, Failure> {
    let (parts, read) = Parts::find(members, size, |member, read| {
        Ok(read.take(find(&which.open_of(&member.path)?)?))
    })?;
    read.put(&which.form, &parts, |canvas| parts.draw(canvas, draw))
}
