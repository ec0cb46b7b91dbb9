//! Rows that a command leaves out.

use memtrail_text::rounded::grouped;

use crate::canvas::{Canvas, FAINT};

/// Draws the number of rows that are left out.
pub(super) fn left_out(canvas: &mut Canvas, number: usize) {
    if number > 0 {
        let text = format!("… and {} more (--limit 0: all)", grouped(number as u64));
        canvas.line(&[(FAINT, &text)]);
    }
}
