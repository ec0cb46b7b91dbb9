//! Prints what refers to blocks, and to which blocks nothing does.

use memtrail_engine::leaks::{BlocksEstimate, UnreachableResponse};
use memtrail_engine::references::ReferrersResponse;
use memtrail_text::rounded::{count, grouped, seconds};

use crate::canvas::{Canvas, PLAIN, STRONG, clean};
use crate::limit::draw_left_out;

/// Prints which blocks are unreachable.
pub(crate) fn unreachable(canvas: &mut Canvas, found: &UnreachableResponse) {
    for site in &found.sites {
        canvas.item(STRONG, " - ", 3, &site.heading);
        for description in &site.descriptions {
            canvas.item(PLAIN, "   ", 5, &clean(description));
        }
    }
    let left = found.count.saturating_sub(found.sites.len());
    draw_left_out(canvas, left, "call sites");
    canvas.paragraph(PLAIN, 2, &found.summary);
}

/// Prints what refers to what a function allocated.
pub(crate) fn referrers(canvas: &mut Canvas, found: &ReferrersResponse) {
    let what = if found.are_callers { "called by " } else { "allocated by " };
    canvas.line(&[(PLAIN, what), (STRONG, &clean(&found.names.join(", ")))]);
    let text = format!(
        "{} alive at {}; what refers to them, by a conservative scan:",
        estimate(&found.alive),
        seconds(found.at)
    );
    canvas.paragraph(PLAIN, 0, &text);
    canvas.gap();
    for path in &found.paths {
        canvas.item(STRONG, " - ", 3, &estimate(&path.blocks));
        let steps: Vec<String> = path.steps.iter().map(|step| clean(step).into_owned()).collect();
        canvas.item(PLAIN, "   ", 5, &format!("through {}", steps.join(" → ")));
    }
    let left = found.count.saturating_sub(found.paths.len());
    draw_left_out(canvas, left, "paths");
    if found.unreachable.sampled > 0 {
        canvas.item(STRONG, " - ", 3, &estimate(&found.unreachable));
        canvas.item(PLAIN, "   ", 5, "nothing refers to them: they are leaked");
    }
}

fn estimate(blocks: &BlocksEstimate) -> String {
    format!(
        "{} in {} {} ({} sampled)",
        blocks.bytes.size(),
        count(blocks.blocks.value),
        if count(blocks.blocks.value) == "1" { "block" } else { "blocks" },
        grouped(blocks.sampled),
    )
}
