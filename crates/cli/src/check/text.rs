//! What a check found, for terminals and logs.

use memtrail_engine::gate::Verdict;

use super::answer::{Checked, words};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING};
use crate::shell_quote;

/// Columns of the verdicts.
const INDENT: usize = 12;

pub(super) fn draw(canvas: &mut Canvas, checked: &Checked) {
    let heading = format!("memtrail check: {}: {}", checked.program, checked.words());
    canvas.paragraph(STRONG, 2, &heading);
    if let Some(reason) = &checked.reason {
        canvas.item(WARNING, "  ", 2, reason);
    }
    for judged in checked.named() {
        let gate = &judged.result;
        let style = match gate.verdict {
            Verdict::Passed => PLAIN,
            Verdict::Failed => STRONG,
            Verdict::Undecided | Verdict::Unknown => WARNING,
        };
        let verdict = format!("  {:<10}", words(gate.verdict));
        canvas.item(style, &verdict, INDENT, &format!("{}: {}", judged.name(), gate.reason));
        if gate.verdict != Verdict::Passed {
            for detail in &gate.details {
                canvas.item(PLAIN, &" ".repeat(INDENT), INDENT + 2, detail);
            }
        }
    }
    if let Some((gate, reason)) = checked.counted() {
        let verdict = format!("  {:<10}", words(Verdict::Passed));
        canvas.item(PLAIN, &verdict, INDENT, &format!("{gate}: {reason}"));
    }
    if let Some(recording) = &checked.recording {
        let recording = shell_quote::path(recording);
        canvas.paragraph(
            FAINT,
            2,
            &format!("recording: {recording}; next: memtrail view {recording}"),
        );
    }
    if let Some(page) = &checked.page {
        canvas.paragraph(FAINT, 2, &format!("page: {}", shell_quote::path(page)));
    }
}
