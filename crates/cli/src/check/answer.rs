//! What a check found: what all its results are made of.

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_engine::gate::{self, GateResponse, GateResult, Measure};
use memtrail_text::rounded::grouped;
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

/// What became of a gate.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Judged {
    #[serde(flatten)]
    pub(super) result: GateResult,
    /// The process that it is about, if that is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<String>,
}

impl Judged {
    /// The answer about a program, or about all processes together.
    pub(super) fn of_all(answer: GateResponse) -> Vec<Self> {
        answer.gates.into_iter().map(|result| Self { result, process: None }).collect()
    }

    /// The answer about one of several.
    pub(super) fn of_process(answer: GateResponse, name: &str) -> impl Iterator<Item = Self> {
        let process = Some(name.to_owned());
        answer.gates.into_iter().map(move |result| Self { result, process: process.clone() })
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match &self.process {
            Some(process) => format!("{} of {process}", self.result.gate),
            None => self.result.gate.clone(),
        }
    }

    /// Whether it is one of several processes that passed, which are counted and not named.
    pub(super) fn is_counted(&self) -> bool {
        self.process.is_some() && self.result.verdict == gate::Verdict::Passed
    }
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
    pub(super) gates: Vec<Judged>,
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

    /// Notes what became of each gate. Too little evidence of leaks could not be judged, unless that is allowed.
    pub(super) fn judged(&mut self, mut gates: Vec<Judged>, allows_undecided: bool) {
        if !allows_undecided {
            for Judged { result, .. } in &mut gates {
                if result.measure == Measure::Leaks && result.verdict == gate::Verdict::Undecided {
                    result.verdict = gate::Verdict::Unknown;
                }
            }
        }
        let results = gates.iter().map(|judged| judged.result.clone()).collect();
        self.verdict = match GateResponse::new(results).verdict {
            gate::Verdict::Passed => Verdict::Passed,
            gate::Verdict::Undecided => Verdict::Undecided,
            gate::Verdict::Failed => Verdict::Failed,
            gate::Verdict::Unknown => Verdict::Unknown,
        };
        self.gates = gates;
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

    /// The gates that are named one by one.
    pub(super) fn named(&self) -> impl Iterator<Item = &Judged> {
        self.gates.iter().filter(|judged| !judged.is_counted())
    }

    /// A gate that processes passed, and how many.
    pub(super) fn counted(&self) -> Option<(&str, String)> {
        let counted = || self.gates.iter().filter(|judged| judged.is_counted());
        let gate = counted().next()?.result.gate.as_str();
        let count = counted().count();
        let plural = if count == 1 { "process" } else { "processes" };
        Some((gate, format!("no leak found in {} {plural}", grouped(count as u64))))
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
