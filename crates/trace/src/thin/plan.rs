//! Decides up to which age history stays whole.

use super::history::History;
use super::survey::{PARTS, Survey};
use crate::rates::MAX_HALVINGS;
use crate::units::Bytes;

/// Shortest age in microseconds that is tried.
const SHORTEST: f64 = 1e3;
/// The header of a packet, which a gap in the ids costs.
const GAP: f64 = 68.0;

/// Why a trace cannot be thinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unthinned {
    /// It is no trace, or it is damaged.
    #[error("the trace is damaged")]
    Damaged,
    /// The blocks that are alive, and all that is newer than the last restart, need more.
    #[error("blocks that are alive need {0} bytes")]
    NoRoom(u64),
}

/// The age from which a history is thinned.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) survey: Survey,
    /// History of this age in microseconds, and younger, is left as it is.
    whole: f64,
    /// Bytes that a block takes with all that is said of it, on average.
    block: f64,
    /// Blocks that are not thinned.
    others: f64,
    /// Bytes that stay in any case.
    fixed: f64,
    /// Bytes that the trace may have.
    bytes: f64,
}

impl Plan {
    pub(super) fn new(
        history: &History<'_>,
        survey: Survey,
        bytes: Bytes,
    ) -> Result<Self, Unthinned> {
        let events = history.bytes as f64 - GAP * history.len() as f64;
        let block = events / survey.blocks.max(1) as f64;
        let others = survey.others() as f64;
        let fixed = history.recent_bytes() as f64 + others * block;
        let oldest = history.age(history.info.start) as f64;
        let mut plan = Self { survey, whole: oldest, block, others, fixed, bytes: bytes.0 as f64 };
        while plan.expected() > plan.bytes {
            plan.shorten()?;
        }
        Ok(plan)
    }

    /// Gives a plan that thins further, after the trace that was written had so many bytes.
    ///
    /// # Errors
    /// It cannot be smaller.
    pub fn stricter(mut self, written: u64) -> Result<Self, Unthinned> {
        let excess = written as f64 / self.bytes;
        let expected = self.expected() / excess.max(1.01);
        while self.expected() > expected {
            self.shorten()?;
        }
        Ok(self)
    }

    fn shorten(&mut self) -> Result<(), Unthinned> {
        self.whole /= f64::from(PARTS).recip().exp2();
        if self.whole < SHORTEST { Err(Unthinned::NoRoom(self.fixed as u64)) } else { Ok(()) }
    }

    /// Age in seconds up to which history is left as it is.
    pub fn whole_seconds(&self) -> f64 {
        self.whole / 1e6
    }

    /// Number of times that the rate is halved in all for a block of this age that died. `before` counts the halvings so
    /// far.
    pub(super) fn halvings(&self, age: u64, before: u8) -> u8 {
        let octaves = (age as f64 / self.whole).log2().ceil().max(0.0);
        before.max(octaves.min(f64::from(MAX_HALVINGS)) as u8)
    }

    /// Bytes that the trace is expected to have.
    fn expected(&self) -> f64 {
        let mut blocks = 0.0;
        for (class, rates) in self.survey.dead.iter().enumerate() {
            let age = ((class as f64 + 0.5) / f64::from(PARTS)).exp2() as u64;
            for (before, class) in (0..).zip(rates).filter(|(_, class)| class.blocks > 0) {
                let more = self.halvings(age, before) - before;
                let taken = class.taken as f64 / (1_u64 << more) as f64;
                blocks += taken.min(class.blocks as f64);
            }
        }
        // Around a block that is not thinned, the rate changes.
        self.fixed + blocks * self.block + self.others.min(blocks) * GAP
    }
}
