//! Nothing may be a leak suspect, and of native programs no block unreachable.

use memtrail_profile::estimate::Estimate;

use super::evidence::Evidence;
use super::limit::Gate;
use super::response::{GateResult, Measure, Verdict};
use crate::leaks::{Conclusion, KnownLeaks, LeakVerdict, LeaksResponse, UnreachableResponse};
use crate::references::estimate;

/// Call sites of unreachable blocks that are named.
const MAX_SITES: usize = 20;

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
            let reason = "the recording has no heap snapshot: a program that is killed takes none";
            return GateResult::unknown(gate, Measure::Leaks, reason);
        }
    };
    known.suppress(&mut leaks);
    let leaks = &leaks;
    let mut found = suspected(leaks);
    if let Some(unreachable) = &leaks.unreachable {
        add_unreachable(&mut found, unreachable);
    } else if let Some(reason) = &evidence.no_references
        && found.verdict != Verdict::Failed
    {
        let reason = format!("{}; {reason}", found.reason);
        found = Found { verdict: Verdict::Unknown, confidence: None, reason };
    }
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
        measured: Some(Estimate { value: (leaks.suspects.len() + sites) as f64, stderr: 0.0 }),
        limit: Some(0.0),
        measure: Measure::Leaks,
        reason: found.reason,
        details,
    }
}

/// The verdict of `memtrail leaks`: each suspect is a failure, and too little evidence is none.
fn suspected(leaks: &LeaksResponse) -> Found {
    let Conclusion { verdict, description } = Conclusion::of(leaks);
    let verdict = match verdict {
        LeakVerdict::Leaks => Verdict::Failed,
        LeakVerdict::Undecided => Verdict::Undecided,
        LeakVerdict::NoLeak => Verdict::Passed,
    };
    Found { verdict, confidence: None, reason: description }
}

/// A sampled block to which nothing refers is a leak: chance decides only which blocks are sampled.
fn add_unreachable(found: &mut Found, unreachable: &UnreachableResponse) {
    let all = unreachable.unreachable;
    if all.sampled == 0 {
        let reason = "no unreachable block was sampled (conservative scan)";
        found.reason = format!("{}; {reason}", found.reason);
        return;
    }
    let sites = if unreachable.count == 1 { "call site" } else { "call sites" };
    let reason = format!(
        "nothing refers to {}, from {} {sites} (conservative scan)",
        estimate(&all),
        unreachable.count
    );
    found.reason = match found.verdict {
        Verdict::Failed => format!("{reason}; {}", found.reason),
        _ => reason,
    };
    found.verdict = Verdict::Failed;
    found.confidence = Some(1.0);
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
    for suspect in &leaks.suspects {
        let lines: Vec<String> = indented(&suspect.descriptions);
        details.push(suspect.heading.clone());
        details.extend(lines);
    }
    details
}
