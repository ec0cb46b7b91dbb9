//! Heap commands of a family: the last snapshots of all its processes together, and each process's part.
//!
//! One process is looked at after another: the memory of one analysis is freed before the next.

mod blocks;
mod containers;
mod growth;
mod histogram;
mod info;
mod owners;
mod sites;
mod sums;
mod types;

use std::process::ExitCode;

use serde::Serialize;

use super::input::{Form, put};
use crate::canvas::Canvas;
use crate::error::Failure;
use crate::recording_source::Fitting;

pub(super) use blocks::blocks;
pub(super) use containers::containers;
pub(super) use growth::growth;
pub(super) use histogram::histogram;
pub(super) use info::info;
pub(super) use owners::{blocks_by_owner, roots};
pub(super) use sites::sites;
pub(super) use types::types;

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
struct Read {
    /// What is wrong with snapshots of which a part was read.
    damage: Vec<String>,
    /// What was reported of processes that could not be read.
    code: Option<ExitCode>,
}

impl Read {
    /// Looks at each process. What cannot be read is reported, and the others are used; if there are none, the first
    /// failure is that of all.
    fn each(
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

    /// Prints the answer.
    fn put<T: Serialize>(
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
