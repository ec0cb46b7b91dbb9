//! Nothing may be a leak suspect, and of native programs no block unreachable.

use memtrail_profile::estimate::Estimate;

use super::evidence::Evidence;
use super::limit::Gate;
use super::response::{GateResult, Measure, Verdict};
use crate::leaks::{Conclusion, KnownLeaks, LeakVerdict, LeaksResponse};

/// Call sites of unreachable blocks that are named.
const MAX_SITES: usize = 20;
/// Suspects that are described.
const MAX_SUSPECTS: usize = 10;

/// What was found, and how sure that is.
struct Found {
    verdict: Verdict,
    confidence: Option<f64>,
    reason: String,
}

/// Judges what is suspected, and what is unreachable.
pub(super) fn judge(gate: &Gate, known: &KnownLeaks, evidence: &Evidence<'_>) -> GateResult {
    let mut leaks = match &evidence.leaks {
        Some(Ok(leaks)) => leaks.clone(),
        Some(Err(error)) => {
            return GateResult::unknown(gate, Measure::Leaks, error.message.clone());
        }
        None => {
            let reason = "the recording has no heap snapshot: by itself a program takes some from 16 MiB of heap or 2 s of CPU \
                          time on, and none if it is killed; --snapshot exit takes one at the end";
            return GateResult::unknown(gate, Measure::Leaks, reason);
        }
    };
    known.suppress(&mut leaks);
    let leaks = &leaks;
    let Conclusion { verdict, description } = Conclusion::of(leaks);
    let unreachable = leaks.unreachable.as_ref().is_some_and(|found| found.unreachable.sampled > 0);
    let found = Found {
        verdict: match verdict {
            LeakVerdict::Leaks => Verdict::Failed,
            LeakVerdict::Undecided => Verdict::Undecided,
            LeakVerdict::NoLeak => Verdict::Passed,
        },
        confidence: unreachable.then_some(1.0),
        reason: description,
    };
    let details = if leaks.suspects.is_empty() && found.verdict != Verdict::Failed {
        leaks.summary.clone()
    } else {
        details(leaks)
    };
    let sites = leaks.unreachable.as_ref().map_or(0, |unreachable| unreachable.count);
    GateResult {
        gate: gate.text.clone(),
        verdict: found.verdict,
        confidence: found.confidence,
        measured: Some(Estimate {
            value: (leaks.suspects.len() + leaks.left_out + sites) as f64,
            stderr: 0.0,
        }),
        limit: Some(0.0),
        measure: Measure::Leaks,
        reason: found.reason,
        details,
    }
}

/// What to look at.
fn details(leaks: &LeaksResponse) -> Vec<String> {
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}")).collect();
    let mut details = Vec::new();
    if let Some(unreachable) = &leaks.unreachable {
        for site in unreachable.sites.iter().take(MAX_SITES) {
            let lines: Vec<String> = indented(&site.descriptions);
            details.push(site.heading.clone());
            details.extend(lines);
        }
        let left = unreachable.count.saturating_sub(MAX_SITES);
        if left > 0 {
            details.push(format!("… and {left} more call sites"));
        }
    }
    for suspect in leaks.suspects.iter().take(MAX_SUSPECTS) {
        let lines: Vec<String> = indented(&suspect.descriptions);
        details.push(suspect.heading.clone());
        details.extend(lines);
    }
    let left = (leaks.suspects.len() + leaks.left_out).saturating_sub(MAX_SUSPECTS);
    if left > 0 {
        details.push(format!("… and {left} more suspects"));
    }
    details.extend(leaks.reservations());
    details
}
