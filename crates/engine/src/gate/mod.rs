//! Gates: limits that a recording has to keep, judged so that chance decides nothing.
//!
//! | gate | module | judged by |
//! |---|---|---|
//! | most that was alive | [`live`] | samples; snapshots, exactly |
//! | growth of what was alive | [`growth`] | samples between collections; the last snapshot |
//! | all that was allocated | [`total`] | samples |
//! | most of what a site allocated that was alive | [`live`] | samples |
//! | no leak suspect, no unreachable block | [`leak`] | snapshots, samples and references |
//! | no more than another recording | [`baseline`] | samples of both |
//!
//! An estimate fails a gate only if it is beyond the limit by more than chance explains, and passes it with confidence
//! only if it is below by more than that. In between nothing can be told, which is no failure. A recording whose true
//! figures keep all limits fails once in a thousand times at most ([`chance`]), however many gates there are.

mod baseline;
mod chance;
mod evidence;
mod growth;
mod leak;
mod limit;
mod live;
mod response;
mod test;
mod total;

pub(crate) use evidence::Evidence;
pub use limit::{Gate, GrowthLimit, Limit};
pub use response::{GateResponse, GateResult, Measure, Verdict};

use crate::api_error::ApiError;
use crate::recording::Recording;

/// Judges a recording by each gate. The results are in the order of gates; a comparison has two.
pub(crate) fn judge(
    recording: &Recording,
    gates: &[Gate],
    evidence: &Evidence<'_>,
) -> Result<Vec<GateResult>, ApiError> {
    let tests = gates.iter().map(|gate| match gate.limit {
        Limit::Baseline { .. } => baseline::TESTS,
        _ => 1,
    });
    let tests = tests.sum::<usize>() + evidence.beside;
    let mut results = Vec::new();
    for (place, gate) in gates.iter().enumerate() {
        let baseline = evidence.baselines.get(place).copied().flatten();
        if lacks_samples(&gate.limit, recording, baseline) {
            results.push(without_samples(recording, gate, evidence, tests)?);
            continue;
        }
        match &gate.limit {
            Limit::MaxLive(most) => {
                results.push(live::judge(recording, gate, &[], *most, Some(evidence), tests)?);
            }
            Limit::Site { filter, most } => {
                results.push(live::judge(recording, gate, filter, *most, None, tests)?);
            }
            Limit::MaxTotal(most) => results.push(total::judge(recording, gate, *most, tests)?),
            Limit::MaxGrowth(most) => {
                // What one process has left tells nothing of all.
                let last = evidence.snapshots.last().copied().filter(|_| !evidence.of_several);
                results.push(growth::judge(recording, gate, *most, last, tests));
            }
            Limit::NoLeak(known) => results.push(leak::judge(gate, known, evidence)),
            Limit::Baseline { tolerance, .. } => {
                let other = baseline.ok_or_else(|| ApiError::bad("there is no such baseline"))?;
                results.extend(baseline::judge(other, recording, gate, *tolerance, tests)?);
            }
        }
    }
    if let Some(why) = recording.caveats().estimates {
        for result in &mut results {
            result.is_at_least(&why);
        }
    }
    Ok(results)
}

/// True if a gate needs samples, and none could be taken.
fn lacks_samples(limit: &Limit, recording: &Recording, baseline: Option<&Recording>) -> bool {
    let lacks = |recording: &Recording| recording.description.impossible;
    !matches!(limit, Limit::NoLeak(_)) && (lacks(recording) || baseline.is_some_and(lacks))
}

/// Snapshots show that a limit is exceeded, but not that it is kept: between them more may have been alive.
fn without_samples(
    recording: &Recording,
    gate: &Gate,
    evidence: &Evidence<'_>,
    tests: usize,
) -> Result<GateResult, ApiError> {
    if let Limit::MaxLive(most) = gate.limit {
        let judged = live::judge(recording, gate, &[], most, Some(evidence), tests)?;
        if judged.verdict == Verdict::Failed {
            return Ok(judged);
        }
    }
    Ok(GateResult::unknown(gate, Measure::Bytes, "a recording has no samples of allocations"))
}
