//! Chains of callers on a line each: as many as fit, the first and the last one rather than those
//! between.

use memtrail_profile::report::{CallerChain, Frame};

use super::canvas::{Canvas, FAINT, PLAIN, clean, columns, elide_middle};
use super::units::percent;

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
fn fit(chain: &CallerChain, room: usize) -> String {
    let mut frames: Vec<String> = chain.chain.iter().map(frame).collect();
    let arrow = columns(ARROW);
    let widths = |frames: &[String]| frames.iter().map(|f| arrow + columns(f)).sum::<usize>();
    let omitted = chain.omitted;
    if let Some(last) = &chain.outermost {
        frames.push(frame(last));
    }
    if omitted == 0 && widths(&frames) <= room {
        return frames.iter().map(|f| format!("{ARROW}{f}")).collect();
    }
    // As many from the inside as leave room for the outermost, or else for the number left out.
    let total = frames.len() + omitted;
    let known = chain.chain.len();
    let with_last = |kept: usize| {
        let left_out = total - kept - 1;
        let between =
            if left_out == 0 { String::new() } else { format!("{ARROW}… {left_out} more") };
        let last = &frames[frames.len() - 1];
        (frames[..kept].iter().map(|f| format!("{ARROW}{f}")).collect::<String>())
            + &between
            + &format!("{ARROW}{last}")
    };
    let without_last = |kept: usize| {
        let inner: String = frames[..kept].iter().map(|f| format!("{ARROW}{f}")).collect();
        format!("{inner}{ARROW}… {} more", total - kept)
    };
    let most = known.min(frames.len() - 1);
    let fits = |text: &String| columns(text) <= room;
    (2..=most)
        .rev()
        .map(with_last)
        .find(fits)
        .or_else(|| (1..=most).rev().map(without_last).find(fits))
        .unwrap_or_else(|| {
            let count =
                if total > 1 { format!("{ARROW}… {} more", total - 1) } else { String::new() };
            let name = room.saturating_sub(arrow + columns(&count));
            format!("{ARROW}{}{count}", elide_middle(&frames[0], name))
        })
}
