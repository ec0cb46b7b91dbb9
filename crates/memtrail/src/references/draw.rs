//! Prints what refers to blocks, and to which blocks nothing does.

use memtrail_engine::leaks::Place;
use memtrail_engine::references::{BlocksEstimate, ReferrersResponse, UnreachableResponse};
use memtrail_text::rounded::{bytes_with_error, count, grouped, seconds};

use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean};

/// Prints which blocks are unreachable.
pub(crate) fn unreachable(canvas: &mut Canvas, found: &UnreachableResponse) {
    let at = seconds(found.at);
    if found.unreachable.sampled == 0 {
        let text = format!("no unreachable block (conservative scan at {at})");
        canvas.line(&[(STRONG, &text)]);
    }
    for site in &found.sites {
        let text = format!(
            "{}: nothing refers to them (conservative scan at {at})",
            estimate(&site.unreachable)
        );
        canvas.item(STRONG, " - ", 3, &text);
        canvas.item(PLAIN, "   ", 5, &allocated(&site.allocated));
        if site.direct.sampled < site.unreachable.sampled {
            let text = if site.direct.sampled == 0 {
                "all of them are referred to by other blocks that are unreachable".to_owned()
            } else {
                format!(
                    "{} of them; other blocks that are unreachable refer to the rest",
                    estimate(&site.direct)
                )
            };
            canvas.item(FAINT, "   ", 5, &text);
        }
    }
    let left = found.count.saturating_sub(found.sites.len());
    if left > 0 {
        let text = format!("… and {} more call sites (--limit 0: all)", grouped(left as u64));
        canvas.line(&[(FAINT, &text)]);
    }
    let text = format!(
        "of all blocks, {} are reachable; {} are referred to from memory of unknown use alone",
        estimate(&found.reachable),
        estimate(&found.elsewhere),
    );
    canvas.paragraph(PLAIN, 2, &text);
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
    if left > 0 {
        let text = format!("… and {} more paths (--limit 0: all)", grouped(left as u64));
        canvas.line(&[(FAINT, &text)]);
    }
    if found.unreachable.sampled > 0 {
        canvas.item(STRONG, " - ", 3, &estimate(&found.unreachable));
        canvas.item(PLAIN, "   ", 5, "nothing refers to them: they are leaked");
    }
}

fn estimate(blocks: &BlocksEstimate) -> String {
    format!(
        "{} in {} blocks ({} sampled)",
        bytes_with_error(blocks.bytes.value, blocks.bytes.stderr),
        count(blocks.blocks.value),
        grouped(blocks.sampled),
    )
}

fn allocated(path: &[Place]) -> String {
    let calls: Vec<String> = path.iter().map(Place::to_string).collect();
    match calls.as_slice() {
        [] => "allocated by an unknown callstack".to_owned(),
        _ => format!("allocated in {}", clean(&calls.join(", called by "))),
    }
}
