//! Nothing may be a leak suspect.

use memtrail_profile::estimate::Estimate;

use super::limit::Gate;
use super::response::{GateResult, Measure, Verdict, sure};
use super::test::{Test, deviations};
use crate::api_error::ApiError;
use crate::leaks::{LeaksResponse, Suspect};

/// Why what grew before a long wait does not fail.
const GREW_BEFORE_A_WAIT: &str =
    "what looks like a leak grew until the program began to wait: it may have been filled";

/// Judges what is suspected: each suspect is one of as many tests as there are owners.
pub(super) fn judge(
    gate: &Gate,
    leaks: Option<&Result<LeaksResponse, ApiError>>,
    tests: usize,
) -> GateResult {
    let leaks = match leaks {
        Some(Ok(leaks)) => leaks,
        Some(Err(error)) => {
            return GateResult::unknown(gate, Measure::Leaks, error.message.clone());
        }
        None => {
            let reason = "the recording has no heap snapshot: a program that is killed takes none";
            return GateResult::unknown(gate, Measure::Leaks, reason);
        }
    };
    let judged = |suspect: &Suspect| {
        let rate = suspect.growth.rate;
        let above = deviations(rate.value, rate.stderr, 0.0);
        let test = Test { above, below: 0.0, renewals: 0.0, tests: tests * leaks.owners.max(1) };
        // What was filled before a long wait looks the same.
        if suspect.growth.until.is_some() { (Verdict::Undecided, None) } else { test.verdict() }
    };
    let verdicts: Vec<(Verdict, Option<f64>)> = leaks.suspects.iter().map(judged).collect();
    let surest = verdicts.iter().filter_map(|(_, confidence)| *confidence).max_by(f64::total_cmp);
    let failed = verdicts.iter().filter(|(verdict, _)| *verdict == Verdict::Failed).count();
    let (verdict, reason) = if failed > 0 {
        let count =
            if failed == 1 { "1 leak suspect".into() } else { format!("{failed} leak suspects") };
        (Verdict::Failed, format!("{count} (growth with {})", sure(surest)))
    } else if verdicts.is_empty() {
        (Verdict::Passed, "no leak suspect".to_owned())
    } else if leaks.suspects.iter().any(|suspect| suspect.growth.until.is_some()) {
        (Verdict::Undecided, GREW_BEFORE_A_WAIT.to_owned())
    } else {
        let reason = "what looks like a leak grows no more than chance explains";
        (Verdict::Undecided, reason.to_owned())
    };
    let details = leaks.suspects.iter().flat_map(|suspect| {
        let heading = std::iter::once(suspect.heading.clone());
        heading.chain(suspect.descriptions.iter().map(|line| format!("  {line}")))
    });
    let details =
        if verdict == Verdict::Passed { leaks.summary.clone() } else { details.collect() };
    GateResult {
        gate: gate.text.clone(),
        verdict,
        confidence: surest,
        measured: Some(Estimate { value: leaks.suspects.len() as f64, stderr: 0.0 }),
        limit: Some(0.0),
        measure: Measure::Leaks,
        reason,
        details,
    }
}
