//! `rates`: at which rate the blocks of a trace were sampled, when that changed on the way.
//!
//! A trace has one rate, the *base*. An adaptive recording halves it while the program allocates
//! much; a block that was sampled at base/2^k then counts 2^k times as many samples in the trace, so
//! that sums are right for every reader. What the file adds is k, without which a standard error
//! cannot be computed. It is made when the rate changes for the first time; where there is no file, all
//! blocks were sampled at the base rate.
//!
//! Text, a line each: the heading, then `r DOMAIN BLOCK K`: from this block of the domain on, the base
//! rate is halved K times. The first blocks of a domain are of the base rate. A growing file may end
//! within a line.

use crate::Stretches;
use crate::lines::{self, LineError};

/// Name of the file in the recording's folder.
pub const RATES_FILE: &str = "rates";
/// Its first line.
pub const HEADING: &str = "memtrail rates 1";
/// The most that a rate is halved: as in thinned traces.
pub const MAX_HALVINGS: u8 = 24;

/// For each domain: from which block on the base rate is halved how often; ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The changes of each domain.
    pub changes: Stretches<u8>,
}

impl Rates {
    /// Reads what is there. Everything before a line that makes no sense is given with the error.
    pub fn parse(bytes: &[u8]) -> (Self, Option<LineError>) {
        let mut found = Self::default();
        let error = lines::read(bytes, HEADING, |line| found.line(line)).err();
        (found, error)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.strip_prefix("r ")?.split(' ');
        let domain = words.next()?.parse().ok()?;
        let block: u64 = words.next()?.parse().ok()?;
        let halvings: u8 = words.next()?.parse().ok()?;
        if words.next().is_some() || halvings > MAX_HALVINGS {
            return None;
        }
        self.changes.push(domain, block, halvings)
    }

    /// How often the base rate was halved for a block.
    pub fn of(&self, domain: u16, block: u64) -> u8 {
        self.changes.of(domain, block).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "memtrail rates 1\nr 0 120 3\nr 1 10000 2\nr 0 400 0\n";

    #[test]
    fn each_block_has_the_rate_of_its_stretch() {
        let (rates, error) = Rates::parse(WHOLE.as_bytes());
        assert_eq!(error, None);
        let of = |domain, block| rates.of(domain, block);
        assert_eq!((of(0, 0), of(0, 119), of(0, 120), of(0, 399), of(0, 400)), (0, 0, 3, 3, 0));
        assert_eq!((of(1, 9_999), of(1, 10_000), of(2, 0)), (0, 2, 0));
    }

    #[test]
    fn a_file_may_end_anywhere() {
        for end in 0..=WHOLE.len() {
            let (rates, error) = Rates::parse(&WHOLE.as_bytes()[..end]);
            assert_eq!(error, None, "cut at {end}");
            let lines = rates.changes.len();
            let whole = WHOLE[..end].matches('\n').count().saturating_sub(1);
            assert_eq!(lines, whole, "cut at {end}");
        }
    }

    #[test]
    fn what_makes_no_sense_ends_the_reading() {
        let bad = |text: &str| Rates::parse(text.as_bytes()).1;
        assert_eq!(bad("something else\n"), Some(LineError::Heading { heading: HEADING }));
        for line in ["r 0 x 1", "r 0 5 99", "r 0 5 1 1", "x 0 5 1", "r 0 5"] {
            let text = format!("{HEADING}\nr 0 9 1\n{line}\n");
            assert_eq!(bad(&text), Some(LineError::Line { line: 3 }), "{line}");
        }
        assert_eq!(
            bad(&format!("{HEADING}\nr 0 9 1\nr 0 8 2\n")),
            Some(LineError::Line { line: 3 })
        );
    }
}
