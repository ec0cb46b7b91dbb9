//! What readers of a recording's figures must know: each a sentence, to stand beside the figures that
//! it is about. Recorders report what is wrong with estimates; what off-heap bytes are, the trace says.

use memtrail_trace::Source;
use serde::{Deserialize, Serialize};

use crate::Profile;

/// Stands before a size or count that is estimated too low.
pub const AT_LEAST: &str = "≥";

const EXTERNAL: &str = "external is off-heap memory, such as the data of bigarrays: it counts as live while the \
     block that allocated it is, not while only a view of that (`sub`, `slice`) is, which a heap \
     snapshot shows";

/// Sentences, or fragments of that length; absent where there is nothing to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Caveats {
    /// Why all estimates are too low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimates: Option<String>,
    /// Why what was promoted depends on the sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted: Option<String>,
    /// What external bytes are. A recorder's own words are those of a trace that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
}

impl Caveats {
    /// Whether there is nothing to know.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What stands before each estimate: nothing, or [`AT_LEAST`].
    pub fn mark(&self) -> &'static str {
        if self.estimates.is_some() { AT_LEAST } else { "" }
    }

    /// What of it is about allocation alone, whatever became of the blocks.
    #[must_use]
    pub fn of_allocation(self) -> Self {
        Self { estimates: self.estimates, ..Self::default() }
    }

    /// All, the gravest first; what is about estimates begins with its mark.
    pub fn notes(&self) -> Vec<String> {
        let estimates = self.estimates.as_ref().map(|why| format!("{AT_LEAST} {why}"));
        estimates.into_iter().chain(self.promoted.clone()).chain(self.external.clone()).collect()
    }
}

impl Profile {
    /// What the recorder reports, and what follows from the trace itself.
    pub fn caveats(&self, reported: &Caveats) -> Caveats {
        let mut rows = self.blocks.rows();
        let external = rows.any(|row| self.blocks.source(row) == Source::External);
        Caveats::with_external(reported, external)
    }
}

impl Caveats {
    /// The same for a trace of which it is known whether it has external samples.
    pub fn with_external(reported: &Self, external: bool) -> Self {
        let text = || reported.external.clone().unwrap_or_else(|| EXTERNAL.to_owned());
        Self { external: external.then(text), ..reported.clone() }
    }
}
