//! Damage and failures that do not keep a command from answering.

use std::process::ExitCode;

use crate::error::Failure;

/// Damage and failures of the files that an answer is about.
#[derive(Default)]
pub(crate) struct Problems {
    /// Printed already.
    told: Vec<Failure>,
    /// To be printed after the answer.
    untold: Vec<Failure>,
}

impl Problems {
    /// Prints a failure, and remembers it.
    pub(crate) fn tell(&mut self, failure: Failure) {
        failure.report();
        self.told.push(failure);
    }

    /// Remembers a failure that was printed.
    pub(crate) fn add_told(&mut self, failure: Option<Failure>) {
        self.told.extend(failure);
    }

    /// Remembers a failure, which is printed after the answer.
    pub(crate) fn add(&mut self, verdict: Result<ExitCode, Failure>) {
        self.untold.extend(verdict.err());
    }

    /// Adds those of another part of the answer.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.told.append(&mut other.told);
        self.untold.append(&mut other.untold);
    }

    /// Prints what is not printed yet; returns the exit code if there are any.
    pub(crate) fn finish(self) -> Option<ExitCode> {
        let code = self.told.last().map(Failure::exit_code);
        self.untold.iter().fold(code, |_, failure| Some(failure.report()))
    }

    /// All of them, for answers that have them inside.
    pub(crate) fn into_failures(self) -> Vec<Failure> {
        let Self { mut told, untold } = self;
        told.extend(untold);
        told
    }
}
