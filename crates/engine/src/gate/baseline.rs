//! No more than another recording has: at the peak, and in all.

use memtrail_profile::calls::Status;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes, bytes_with_error, percent};

use super::limit::Gate;
use super::live::{Peak, at_peak, peak};
use super::response::{GateResult, Measure, Verdict, sure};
use super::test::{Test, deviations};
use crate::api_error::ApiError;
use crate::compare::Side;
use crate::difference::difference;
use crate::query::{Compare, Normalise};
use crate::recording::Recording;

/// How many figures are compared.
pub(super) const TESTS: usize = 2;

/// The rows that results name, at most.
const ROWS: usize = 5;

/// Compares a recording with an earlier one: it may have more by a part of what that has.
pub(super) fn judge(
    before: &Recording,
    after: &Recording,
    gate: &Gate,
    tolerance: f64,
    tests: usize,
) -> Result<[GateResult; TESTS], ApiError> {
    let (first, second) = (peak(before, &[])?, peak(after, &[])?);
    let renewals = Peak::renewals_of_both(&first, &second);
    let of_peak = Figures {
        name: "alive at the peak",
        filter: at_peak(&[]),
        before: first.size,
        after: second.size,
        renewals,
    };
    let of_total = Figures {
        name: "allocated",
        filter: Vec::new(),
        before: before.whole()?.sums.allocated,
        after: after.whole()?.sums.allocated,
        renewals: 0.0,
    };
    let judge = |figures: &Figures| figures.judge(before, after, gate, tolerance, tests);
    Ok([judge(&of_peak)?, judge(&of_total)?])
}

/// A figure of both recordings.
struct Figures {
    name: &'static str,
    /// The conditions that keep its blocks.
    filter: Vec<String>,
    before: Estimate,
    after: Estimate,
    renewals: f64,
}

impl Figures {
    fn judge(
        &self,
        first: &Recording,
        second: &Recording,
        gate: &Gate,
        tolerance: f64,
        tests: usize,
    ) -> Result<GateResult, ApiError> {
        let Self { name, before, after, renewals, .. } = *self;
        let limit = before.value * (1.0 + tolerance);
        let stderr = after.stderr.hypot(before.stderr * (1.0 + tolerance));
        let above = deviations(after.value - limit, stderr, 0.0);
        let below = deviations(limit - after.value, stderr, f64::INFINITY);
        let (verdict, confidence) = Test { above, below, renewals, tests }.verdict();
        let change = if before.value > 0.0 { after.value / before.value - 1.0 } else { 0.0 };
        let sign = if change < 0.0 { "less" } else { "more" };
        let reason = format!(
            "{} {name}, {} {sign} than {} before; the limit is {} ({})",
            after.size(),
            percent(change.abs()),
            before.size(),
            bytes(limit),
            sure(confidence)
        );
        let details =
            if verdict == Verdict::Failed { self.grown(first, second)? } else { Vec::new() };
        Ok(GateResult {
            gate: format!("{}: {name}", gate.text),
            verdict,
            confidence,
            measured: Some(after),
            limit: Some(limit),
            measure: Measure::Bytes,
            reason,
            details,
        })
    }

    /// Which functions have more than before, beyond chance.
    fn grown(&self, first: &Recording, second: &Recording) -> Result<Vec<String>, ApiError> {
        let side = |recording| Side::new(recording, &self.filter, Normalise::None);
        let (a, b) = (side(first)?, side(second)?);
        let rows =
            difference(&a, &b, &Compare { limit: ROWS, ..Compare::default() }).rows.into_iter();
        let rows = rows.filter(|row| matches!(row.status, Status::New | Status::Grown));
        let line = |row: crate::difference::DifferenceRow| {
            let change = row.after.value - row.before.value;
            let stderr = row.after.stderr.hypot(row.before.stderr);
            format!("+{} {}", bytes_with_error(change, stderr), row.name)
        };
        Ok(rows.map(line).collect())
    }
}
