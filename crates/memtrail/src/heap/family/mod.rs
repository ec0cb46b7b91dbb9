//! Heap commands of a family: the last snapshots of all its processes together, and each process's part.
//!
//! One process is looked at after another: the memory of one analysis is freed before the next.

mod blocks;
mod by_site;
mod coverage;
mod diff;
mod estimates;
mod growth;
mod info;
mod owners;
mod parts;
mod retained;
mod sites;
mod strings;
mod sums;
mod survivors;
mod who;
mod why;

use std::process::ExitCode;

use memtrail_text::rounded::grouped;
use serde::Serialize;

use super::found::Found;
use super::joined::Joined;
use crate::answer::{Form, put};
use crate::canvas::{Canvas, FAINT, WARNING};
use crate::error::Failure;
use crate::recording_source::Fitting;

pub(crate) use diff::compare;

pub(super) use blocks::blocks;
pub(super) use coverage::coverage;
pub(super) use diff::{Compared, diff};
pub(super) use growth::growth;
pub(super) use info::info;
pub(super) use owners::{blocks_by_owner, roots};
pub(super) use parts::each;
pub(super) use retained::retained;
pub(super) use sites::sites;
pub(super) use strings::strings;
pub(super) use sums::draw_sums;
pub(super) use survivors::survivors;
pub(super) use who::who;
pub(super) use why::why;

/// What is said below exact sums over processes of which some are forks.
const NOTE: &str =
    "a process that was forked still has what its parent had then: that is counted in both";

/// Something of one process.
#[derive(Serialize)]
struct Of<T> {
    /// The folder of the process's recording.
    recording: String,
    #[serde(flatten)]
    row: T,
}

/// How the processes of a family could be read.
#[derive(Default)]
pub(super) struct Read {
    /// What is wrong with snapshots of which a part was read.
    damage: Vec<String>,
    /// What was reported of processes that could not be read.
    code: Option<ExitCode>,
    /// What must be known of the figures.
    notes: Vec<String>,
}

impl Read {
    /// Looks at each process. What cannot be read is reported, and the others are used; if there are none, the first
    /// failure is that of all.
    pub(super) fn each(
        members: &[Fitting],
        mut look: impl FnMut(&Fitting, &mut Self) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let mut read = Self::default();
        let mut failures = Vec::new();
        for member in members {
            if let Err(failure) = look(member, &mut read) {
                failures.push(failure);
            }
        }
        if failures.len() == members.len() {
            failures.truncate(1);
            return failures.pop().map_or_else(|| Ok(read), Err);
        }
        for failure in failures {
            read.code = Some(failure.report());
        }
        Ok(read)
    }

    /// Remembers what must be known of a recording's figures, and reports how its trace is damaged.
    fn hear(&mut self, joined: &Joined) {
        self.judge(joined.verdict());
        self.note(joined.caveats().notes());
    }

    /// Reports how a trace is damaged. Figures of it are good all the same.
    fn judge(&mut self, verdict: Result<ExitCode, Failure>) {
        if let Err(failure) = verdict {
            self.code = Some(failure.report());
        }
    }

    fn note(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// What must be known of the figures, each once.
    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// An answer, of which it is remembered what is wrong with it.
    pub(super) fn take<T>(&mut self, found: Found<T>) -> T {
        let Found { answer, damage, code } = found;
        self.damage.extend(damage);
        self.code = code.or(self.code);
        answer
    }

    /// Prints the answer.
    pub(super) fn put<T: Serialize>(
        self,
        form: &Form,
        answer: &T,
        draw: impl FnOnce(&mut Canvas),
    ) -> Result<ExitCode, Failure> {
        let damage = (!self.damage.is_empty()).then(|| self.damage.join("; "));
        let code = put(form, damage, answer, draw)?;
        Ok(self.code.unwrap_or(code))
    }
}

/// Draws what is below a table of rows: how many were left out, and what must be known of the figures.
fn draw_end(canvas: &mut Canvas, left_out: usize, notes: &[String]) {
    if left_out > 0 {
        let text = format!("… and {} more (--limit 0: all)", grouped(left_out as u64));
        canvas.line(&[(FAINT, &text)]);
    }
    for note in notes {
        canvas.paragraph(WARNING, 2, &format!("note: {note}"));
    }
}
