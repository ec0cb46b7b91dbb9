//! Draws leak suspects.

use memtrail_engine::leaks::{LeaksResponse, Suspect};
use memtrail_text::rounded::{bytes, percent};

use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::limit::draw_left_out;
use crate::shell_quote;

/// Prints suspects; `recording` is what commands are to be called with.
pub(crate) fn draw(canvas: &mut Canvas, leaks: &LeaksResponse, recording: &str) {
    let recording = &judged(recording, leaks);
    if leaks.suspects.is_empty() {
        canvas.paragraph(STRONG, 2, &leaks.conclusion.description);
    }
    for (number, suspect) in (1..).zip(&leaks.suspects) {
        draw_suspect(canvas, number, suspect, recording);
        canvas.gap();
    }
    draw_more_suspects(canvas, leaks.left_out);
    for description in &leaks.summary {
        canvas.paragraph(PLAIN, 2, description);
    }
    if !leaks.cleared.is_empty() {
        canvas.gap();
        canvas.line(&[(PLAIN, "not suspected, by size:")]);
    }
    for owner in &leaks.cleared {
        let size = bytes(owner.bytes.0 as f64);
        let text = format!("  {}, {size}, {}: {}", owner.owner, percent(owner.share), owner.reason);
        canvas.item(FAINT, "  ", 4, &text);
    }
}

/// The arguments that name a recording, and the snapshot by which it was judged if that is not its last one. The end of a
/// program leaves nothing of its suspects.
pub(super) fn judged(recording: &str, leaks: &LeaksResponse) -> String {
    match leaks.teardown.and_then(|teardown| teardown.snapshot) {
        Some(snapshot) => format!("{recording} --snapshot {snapshot}"),
        None => recording.to_owned(),
    }
}

pub(super) fn draw_more_suspects(canvas: &mut Canvas, left_out: usize) {
    draw_left_out(canvas, left_out, if left_out == 1 { "suspect" } else { "suspects" });
}

/// The command that leads further from a suspect, with the arguments that it needs.
pub(super) fn next_line(suspect: &Suspect, recording: &str) -> Option<String> {
    let has_samples = suspect.alive + suspect.freed > 0 || !suspect.allocated.is_empty();
    let next = next_command(suspect.next.as_deref(), suspect.kind, &suspect.owner, has_samples);
    let (command, name) = next?;
    Some(format!("memtrail {command} {recording} {}", shell_quote::shell_quote(name)))
}

pub(super) fn draw_suspect(canvas: &mut Canvas, number: usize, suspect: &Suspect, recording: &str) {
    canvas.item(STRONG, &format!("{number:2} "), 3, &suspect.heading);
    for description in &suspect.descriptions {
        canvas.item(PLAIN, "   ", 5, description);
    }
    canvas.item(FAINT, "   ", 5, &format!("{}: {}", suspect.rule, suspect.evidence));
    if let Some(command) = next_line(suspect, recording) {
        // Whole, to be copied, on however many lines.
        canvas.item(PLAIN, "   ", 5, &format!("next: {command}"));
    }
}

/// The next question: what retains what the program's own function allocated; or, of what a library allocated from its
/// event loop, which calls allocated what the variable owns. Without samples it is what else leads to the variable's memory.
pub(crate) fn next_command<'a>(
    function: Option<&'a str>,
    kind: &str,
    owner: &'a str,
    has_samples: bool,
) -> Option<(&'static str, &'a str)> {
    let is_variable = ["global", "static"].contains(&kind);
    let of_variable = if has_samples { "who" } else { "heap roots" };
    function.map(|function| ("why", function)).or(is_variable.then_some((of_variable, owner)))
}

#[cfg(test)]
mod tests {
    use memtrail_engine::leaks::Teardown;
    use memtrail_heap::Bytes;

    use super::*;

    /// Neither suspect of the page that leaks its visitors said what to do next.
    #[test]
    fn of_what_a_library_allocated_its_variable_is_asked_for() {
        let table = "Eliom_comet / field 63";
        assert_eq!(next_command(None, "global", table, true), Some(("who", table)));
        assert_eq!(
            next_command(Some("Feed.page"), "global", table, true),
            Some(("why", "Feed.page"))
        );
        assert_eq!(next_command(None, "global", table, false), Some(("heap roots", table)));
        assert_eq!(next_command(None, "stack", "Server.main", true), None);
        assert_eq!(next_command(None, "site", "read_body", true), None);
    }

    /// `why` showed 24 bytes of what had been 5 MiB in the snapshot that was judged.
    #[test]
    fn the_next_question_is_about_the_snapshot_that_was_judged() {
        let teardown =
            Teardown { judged_at: 2.0, alive: Bytes(9), freed: Bytes(8), snapshot: Some(1) };
        let mut leaks = LeaksResponse::default();
        assert_eq!(judged("REC", &leaks), "REC");
        leaks.teardown = Some(teardown);
        assert_eq!(judged("REC", &leaks), "REC --snapshot 1");
    }
}
