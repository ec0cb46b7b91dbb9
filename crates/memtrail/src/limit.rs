//! How many rows a command prints.

use std::str::FromStr;

/// Rows at most; typed as a number, of which 0 is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) usize);

impl FromStr for Limit {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(|rows| Self(if rows == 0 { usize::MAX } else { rows }))
    }
}
