//! Chains of callers on a line each: as many as fit, the first and the last one rather than those
//! between.

use memtrail_profile::report::{CallerChain, Frame};
use memtrail_text::rounded::percent;

use crate::canvas::{Canvas, FAINT, PLAIN, clean, columns, elide_middle};

const ARROW: &str = " ← ";
/// Columns before the first share.
const INDENT: usize = 4;
/// Further columns of a branch.
const STEP: usize = 3;

/// Draws chains and their branches.
pub(super) fn draw(canvas: &mut Canvas, chains: &[CallerChain], depth: usize) {
    for chain in chains {
        let lead =
            format!("{:indent$}{:>5}", "", percent(chain.share), indent = INDENT + STEP * depth);
        let room = canvas.width().saturating_sub(columns(&lead));
        canvas.line(&[(FAINT, &lead), (PLAIN, &fit(chain, room))]);
        draw(canvas, &chain.branches, depth + 1);
    }
}

/// `Cache.page:20`, `:20+` if other lines count too, `↻` if it is recursive.
fn frame(frame: &Frame) -> String {
    let more = if frame.lines_differ { "+" } else { "" };
    let again = if frame.recursive { " ↻" } else { "" };
    match frame.line {
        0 => format!("{}{again}", clean(&frame.name)),
        line => format!("{}:{line}{more}{again}", clean(&frame.name)),
    }
}

/// The chain in `room` columns.
pub(super) fn fit(chain: &CallerChain, room: usize) -> String {
    let mut frames: Vec<String> = chain.chain.iter().map(frame).collect();
    // Frames that may be left out beyond those that are.
    let inner = frames.len();
    frames.extend(chain.outermost.as_ref().map(frame));
    let total = frames.len() + chain.omitted;
    let fits = |text: &String| columns(text) <= room;
    if total == frames.len() {
        let whole = arrows(&frames);
        if fits(&whole) {
            return whole;
        }
    }
    let Some(last) = frames.last() else { return String::new() };
    // As many from the inside as leave room for the outermost, or else for the number left out.
    let with_last = |kept: usize| match total - kept - 1 {
        0 => format!("{}{ARROW}{last}", arrows(&frames[..kept])),
        more => format!("{}{ARROW}… {more} more{ARROW}{last}", arrows(&frames[..kept])),
    };
    let without_last =
        |kept: usize| format!("{}{ARROW}… {} more", arrows(&frames[..kept]), total - kept);
    let most = inner.min(frames.len() - 1);
    let found = (2..=most).rev().map(with_last).find(fits);
    found.or_else(|| (1..=most).rev().map(without_last).find(fits)).unwrap_or_else(|| {
        let more = if total > 1 { format!("{ARROW}… {} more", total - 1) } else { String::new() };
        let name = room.saturating_sub(columns(ARROW) + columns(&more));
        format!("{ARROW}{}{more}", elide_middle(&frames[0], name))
    })
}

fn arrows(frames: &[String]) -> String {
    format!("{ARROW}{}", frames.join(ARROW))
}
