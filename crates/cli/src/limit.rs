//! How many rows a command prints.

use std::str::FromStr;

use memtrail_text::rounded::grouped;

use crate::canvas::{Canvas, FAINT};

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

/// Draws the number of rows that the limit left out; `rows` names them: `suspects`, or nothing.
pub(crate) fn draw_left_out(canvas: &mut Canvas, number: usize, rows: &str) {
    if number > 0 {
        let space = if rows.is_empty() { "" } else { " " };
        let text = format!("… and {} more{space}{rows} (--limit 0: all)", grouped(number as u64));
        canvas.line(&[(FAINT, &text)]);
    }
}
