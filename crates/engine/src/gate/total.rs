//! The most that may be allocated in all.

use memtrail_text::Size;
use memtrail_text::exact::size_in_words;

use super::limit::Gate;
use super::live::{error_at, rows};
use super::response::{GateResult, Measure, Verdict, sure};
use super::test::{Test, deviations};
use crate::api_error::ApiError;
use crate::recording::Recording;

/// Judges all that was allocated.
pub(super) fn judge(
    recording: &Recording,
    gate: &Gate,
    most: Size,
    tests: usize,
) -> Result<GateResult, ApiError> {
    let all = recording.whole()?.sums.allocated;
    let limit = most.0 as f64;
    let test = Test {
        above: deviations(all.value - limit, all.stderr, 0.0),
        below: deviations(limit - all.value, error_at(recording, all, limit), f64::INFINITY),
        renewals: 0.0,
        tests,
    };
    let (verdict, confidence) = test.verdict();
    let reason = format!(
        "{} were allocated; the limit is {} ({})",
        all.size(),
        size_in_words(most),
        sure(confidence)
    );
    let details = if verdict == Verdict::Passed { Vec::new() } else { rows(recording, &[])? };
    Ok(GateResult {
        gate: gate.text.clone(),
        verdict,
        confidence,
        measured: Some(all),
        limit: Some(limit),
        measure: Measure::Bytes,
        reason,
        details,
    })
}
