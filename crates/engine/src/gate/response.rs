//! The response: figures, and sentences made of them.

use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use super::limit::Gate;

/// What became of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The limit is kept, with confidence.
    Passed,
    /// The figure is so near to the limit that samples do not tell.
    Undecided,
    /// The limit is exceeded, with confidence.
    Failed,
    /// There is nothing to judge by.
    Unknown,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Leak suspects.
    Leaks,
}

/// How a recording did by a gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateResult {
    /// The gate, as it was written.
    pub gate: String,
    /// What became of it.
    pub verdict: Verdict,
    /// How sure that is, from 0 to 1; none unless it passed or failed.
    pub confidence: Option<f64>,
    /// What was measured.
    pub measured: Option<Estimate>,
    /// What would have been the most.
    pub limit: Option<f64>,
    /// What both count.
    pub measure: Measure,
    /// Why, in a sentence.
    pub reason: String,
    /// What it is made of, or what to look at.
    pub details: Vec<String>,
}

/// How a recording did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateResponse {
    /// The worst of the verdicts of gates.
    pub verdict: Verdict,
    /// Each gate; a comparison has two.
    pub gates: Vec<GateResult>,
}

impl GateResponse {
    /// The worst of these.
    pub fn new(gates: Vec<GateResult>) -> Self {
        let any = |verdict| gates.iter().any(|result| result.verdict == verdict);
        let order = [Verdict::Failed, Verdict::Unknown, Verdict::Undecided];
        let worst = order.into_iter().find(|verdict| any(*verdict));
        Self { verdict: worst.unwrap_or(Verdict::Passed), gates }
    }
}

impl GateResult {
    /// A gate of which nothing can be told.
    pub(super) fn unknown(gate: &Gate, measure: Measure, reason: impl Into<String>) -> Self {
        Self {
            gate: gate.text.clone(),
            verdict: Verdict::Unknown,
            confidence: None,
            measured: None,
            limit: None,
            measure,
            reason: reason.into(),
            details: Vec::new(),
        }
    }

    /// What is measured is too low: only a failure can be told.
    pub(super) fn is_at_least(&mut self, why: &str) {
        if self.measure != Measure::Leaks && self.verdict != Verdict::Failed {
            self.verdict = Verdict::Unknown;
            self.confidence = None;
            self.reason = format!("{}; {why}", self.reason);
        }
    }
}

/// What confidence is about.
const OF_SAMPLING: &str = ", as far as sampling goes";

/// `more than 99.99 % confidence, as far as sampling goes`: it covers chance, and nothing else.
pub(super) fn sure(confidence: Option<f64>) -> String {
    match confidence {
        None => "too near to the limit to tell".to_owned(),
        Some(confidence) if confidence >= 0.9999 => {
            format!("more than 99.99 % confidence{OF_SAMPLING}")
        }
        Some(confidence) => {
            format!("{:.2} % confidence{OF_SAMPLING}", (confidence * 1e4).floor() / 1e2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_never_rounded_up() {
        let of_sampling = |text: &str| format!("{text} confidence, as far as sampling goes");
        assert_eq!(sure(Some(0.999_97)), of_sampling("more than 99.99 %"));
        assert_eq!(sure(Some(0.999_19)), of_sampling("99.91 %"));
        assert_eq!(sure(None), "too near to the limit to tell");
    }
}
