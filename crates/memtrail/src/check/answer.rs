//! What a check found: what all its results are made of.

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_engine::gate::{self, GateResponse, GateResult};
use serde::Serialize;

use crate::error::{GATE_FAILED, PROGRAM_FAILED, UNJUDGED};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// All limits are kept, with confidence.
    Passed,
    /// Some figures are too near to their limits to tell; all others keep theirs.
    Undecided,
    /// A limit is exceeded, with confidence.
    Failed,
    /// The program failed, and was not judged.
    ProgramFailed,
    /// There is nothing to judge by.
    Unknown,
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Checked {
    /// The executable's name.
    pub(super) program: String,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// Why the program was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What became of each gate.
    pub(super) gates: Vec<GateResult>,
    /// The recording, if it was kept.
    pub(super) recording: Option<PathBuf>,
    /// The page, if one was written.
    pub(super) page: Option<PathBuf>,
}

impl Checked {
    pub(super) fn new(program: String) -> Self {
        Self {
            program,
            verdict: Verdict::Unknown,
            reason: None,
            gates: Vec::new(),
            recording: None,
            page: None,
        }
    }

    pub(super) fn judged(&mut self, answer: GateResponse) {
        self.verdict = match answer.verdict {
            gate::Verdict::Passed => Verdict::Passed,
            gate::Verdict::Undecided => Verdict::Undecided,
            gate::Verdict::Failed => Verdict::Failed,
            gate::Verdict::Unknown => Verdict::Unknown,
        };
        self.gates = answer.gates;
    }

    pub(super) fn could_not_judge(&mut self, why: &str) {
        self.verdict = Verdict::Unknown;
        self.reason = Some(why.to_owned());
    }

    pub(super) fn program_failed(&mut self, how: &str) {
        self.verdict = Verdict::ProgramFailed;
        self.reason = Some(format!("{} failed: {how}", self.program));
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        match self.verdict {
            Verdict::Passed | Verdict::Undecided => ExitCode::SUCCESS,
            Verdict::Failed => ExitCode::from(GATE_FAILED),
            Verdict::ProgramFailed => ExitCode::from(PROGRAM_FAILED),
            Verdict::Unknown => ExitCode::from(UNJUDGED),
        }
    }

    /// How it ended, in words.
    pub(super) fn words(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => "passed",
            Verdict::Undecided => "passed, with figures near to their limits",
            Verdict::Failed => "failed",
            Verdict::ProgramFailed => "the program failed",
            Verdict::Unknown => "could not be judged",
        }
    }
}

/// What became of a gate, in words.
pub(super) const fn words(verdict: gate::Verdict) -> &'static str {
    match verdict {
        gate::Verdict::Passed => "passed",
        gate::Verdict::Undecided => "undecided",
        gate::Verdict::Failed => "failed",
        gate::Verdict::Unknown => "unknown",
    }
}
