//! Collects damage, notes and failures of the processes that a question is about.

use std::process::ExitCode;

use super::joined::Joined;
use crate::error::Failure;
use crate::problems::Problems;
use crate::recording_source::FamilyMember;

/// Damage, notes and failures of the processes that a question is about.
#[derive(Default)]
pub(super) struct Read {
    damage: Vec<String>,
    notes: Vec<String>,
    problems: Problems,
}

impl Read {
    /// Looks at each process, one after another: the memory of one analysis is freed before the next. Processes that cannot
    /// be read are reported, and the others are used; if there are none, the first failure is that of all.
    pub(super) fn each(
        &mut self,
        members: &[FamilyMember],
        mut look: impl FnMut(&FamilyMember, &mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut failures = Vec::new();
        for member in members {
            failures.extend(look(member, self).err());
        }
        if !failures.is_empty() && failures.len() == members.len() {
            return Err(failures.swap_remove(0));
        }
        for failure in failures {
            self.problems.tell(failure);
        }
        Ok(())
    }

    /// Remembers the damage of a snapshot of which a part was read.
    pub(super) fn damaged(&mut self, damage: Option<String>) {
        self.damage.extend(damage);
    }

    /// Remembers a failure that was reported.
    pub(super) fn reported(&mut self, failure: Option<Failure>) {
        self.problems.add_told(failure);
    }

    /// Remembers notes on a recording's figures, and the damage of its trace.
    pub(super) fn trace(&mut self, joined: &Joined) {
        self.judge(joined.verdict());
        self.note(joined.caveats().notes());
    }

    /// Remembers the damage of a trace. Its figures are good all the same.
    pub(super) fn judge(&mut self, verdict: Result<ExitCode, Failure>) {
        self.problems.add(verdict);
    }

    /// Remembers notes, each once.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The damage of all snapshots.
    pub(super) fn damage(&self) -> Option<String> {
        (!self.damage.is_empty()).then(|| self.damage.join("; "))
    }

    /// Damaged traces, and processes that were not read.
    pub(super) fn into_problems(self) -> Problems {
        self.problems
    }

    /// Reports damaged traces after the answer was printed; returns the exit code if anything was reported.
    pub(super) fn finish(self) -> Option<ExitCode> {
        self.problems.finish()
    }
}
