//! How many rows a command prints.

use std::str::FromStr;

/// Rows at most; typed as a number, of which 0 is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) usize);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rows = text.parse().map_err(|_| {
            format!("invalid number of rows {text:?}; expected for example 20, or 0 for all")
        })?;
        Ok(Self(if rows == 0 { usize::MAX } else { rows }))
    }
}
