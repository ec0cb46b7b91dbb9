//! The most that may be alive at a time: of everything, or of what some site allocated.

use memtrail_profile::calls::{Column, sort, table};
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_profile::sites::By;
use memtrail_text::Size;
use memtrail_text::exact::size_in_words;
use memtrail_text::rounded::{bytes, percent, ratio, seconds};

use super::evidence::Evidence;
use super::limit::Gate;
use super::response::{GateResult, Measure, Verdict, sure};
use super::test::{Test, deviations};
use crate::api_error::ApiError;
use crate::names::row;
use crate::recording::Recording;

/// The sites that results name, at most.
const ROWS: usize = 5;

/// What was most alive, with what it takes to judge it.
pub(super) struct Peak {
    pub(super) size: Estimate,
    pub(super) seconds: f64,
    /// How often what was alive was replaced, about.
    pub(super) renewals: f64,
}

impl Peak {
    /// How often either was replaced: chance has as many more occasions.
    pub(super) fn renewals_of_both(a: &Self, b: &Self) -> f64 {
        a.renewals + b.renewals
    }
}

/// The most that was alive of what conditions keep.
pub(super) fn peak(recording: &Recording, filter: &[String]) -> Result<Peak, ApiError> {
    let profile = recording.profile();
    let selection = recording.choose(filter)?;
    let peak = selection.peak(profile);
    let mut alive = Sum::default();
    for kept in selection.filter.rows(profile) {
        if kept.born <= peak.time && kept.died.is_none_or(|died| died > peak.time) {
            profile.estimator.add_row(&mut alive, &profile.blocks, kept.row);
        }
    }
    let size = profile.estimator.bytes(&alive);
    Ok(Peak {
        size,
        seconds: peak.time.seconds(),
        renewals: selection.selected.sum.samples as f64 / peak.samples.max(1) as f64,
    })
}

/// What conditions keep, at the peak of everything.
pub(super) fn at_peak(filter: &[String]) -> Vec<String> {
    filter.iter().cloned().chain(["live:peak".to_owned()]).collect()
}

/// The error of an estimate that is as large as a limit, where `size` was estimated.
pub(super) fn error_at(recording: &Recording, size: Estimate, limit: f64) -> f64 {
    let estimator = &recording.profile().estimator;
    let average = estimator.bytes_per_sample() * estimator.variance_per_sample().max(0.0);
    // Where the rate was lower than on average, the error is larger.
    let own = if size.value > 0.0 { size.stderr.powi(2) / size.value } else { 0.0 };
    (limit * average.max(own)).sqrt()
}

/// Judges the most that was alive; snapshots have exact sizes of a part of it.
pub(super) fn judge(
    recording: &Recording,
    gate: &Gate,
    filter: &[String],
    most: Size,
    evidence: Option<&Evidence<'_>>,
    tests: usize,
) -> Result<GateResult, ApiError> {
    let limit = most.0 as f64;
    let snapshots = evidence.into_iter().flat_map(|evidence| &evidence.snapshots);
    let largest = snapshots.copied().max_by_key(|(_, size)| *size);
    if let Some((at, size)) = largest.filter(|(_, size)| *size > most.0) {
        // By samples, it may be garbage as well.
        let then = filter.iter().cloned().chain([format!("live:{at}")]).collect::<Vec<_>>();
        let (size, at) = (size as f64, seconds(at));
        let of_several = evidence.is_some_and(|evidence| evidence.of_several);
        let place = if of_several { "one process, in its snapshot" } else { "the snapshot" };
        return Ok(GateResult {
            gate: gate.text.clone(),
            verdict: Verdict::Failed,
            confidence: Some(1.0),
            measured: Some(Estimate::exact(size)),
            limit: Some(limit),
            measure: Measure::Bytes,
            reason: format!(
                "{} were reachable in {place} at {at}, exactly; the limit is {}",
                bytes(size),
                size_in_words(most)
            ),
            details: rows(recording, &then)?,
        });
    }
    let Peak { size, seconds: at, renewals } = peak(recording, filter)?;
    if !filter.is_empty() && size.value == 0.0 {
        return Ok(GateResult {
            gate: gate.text.clone(),
            verdict: Verdict::Undecided,
            confidence: None,
            measured: Some(size),
            limit: Some(limit),
            measure: Measure::Bytes,
            reason: "no sampled block was allocated there: either hardly anything was, or nothing has this name"
                .to_owned(),
            details: Vec::new(),
        });
    }
    let test = Test {
        above: deviations(size.value - limit, size.stderr, 0.0),
        below: deviations(limit - size.value, error_at(recording, size, limit), f64::INFINITY),
        renewals,
        tests,
    };
    let (verdict, confidence) = test.verdict();
    let reason = format!(
        "{} were alive at {}; the limit is {} ({})",
        size.size(),
        seconds(at),
        size_in_words(most),
        sure(confidence)
    );
    let details = match verdict {
        Verdict::Passed => Vec::new(),
        _ => rows(recording, &at_peak(filter))?,
    };
    Ok(GateResult {
        gate: gate.text.clone(),
        verdict,
        confidence,
        measured: Some(size),
        limit: Some(limit),
        measure: Measure::Bytes,
        reason,
        details,
    })
}

/// Which sites allocated most of what conditions keep.
pub(super) fn rows(recording: &Recording, filter: &[String]) -> Result<Vec<String>, ApiError> {
    let profile = recording.profile();
    let selection = recording.choose(filter)?;
    let all = selection.selected.sum.samples as f64;
    let mut lines = table(selection.view(&recording.entities), By::Site);
    sort(&mut lines, &recording.entities, Column::Own, true);
    lines.truncate(ROWS);
    let line = |line: &memtrail_profile::calls::Line| {
        let name = row(&recording.entities, line.label);
        let size = profile.estimator.bytes_of_cell(&line.own).size();
        let share = percent(ratio(line.own.samples as f64, all));
        let place = match (&name.file, name.line) {
            (Some(file), Some(line)) if !name.label.contains(file.as_str()) => {
                format!(" ({file}:{line})")
            }
            _ => String::new(),
        };
        format!("{share} {}{place}: {size}", name.label)
    };
    Ok(lines.iter().filter(|line| line.own.samples > 0).map(line).collect())
}
