//! Draws an answer, and below it the processes of a family: how much each has, or what is answered of it alone.

use memtrail_engine::question::{Family, FamilySums, OfProcess, Outcome, Sizes, Twice};
use memtrail_heap::Bytes;
use memtrail_text::rounded::{bytes, count, grouped};

use super::table::{Table, outside};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING};

/// Processes in the table of sizes, at most.
const MAX_ROWS: usize = 20;
/// Processes whose answers are printed, at most.
const MAX_PRINTED: usize = 8;
/// Note on exact sums over processes of which some are forks.
pub(super) const NOTE: &str =
    "a process that was forked still has what its parent had then: that is counted in both";

/// Draws an answer.
pub(super) fn draw<A>(
    canvas: &mut Canvas,
    outcome: &Outcome<A>,
    absent_because: Option<&str>,
    draw: impl Fn(&mut Canvas, &A, Option<&Family<A>>),
) {
    let family = outcome.family.as_ref();
    if let Some(answer) = &outcome.answer {
        draw(canvas, answer, family);
    }
    for note in &outcome.notes {
        canvas.paragraph(WARNING, 2, &format!("note: {note}"));
    }
    let Some(family) = family else { return };
    if outcome.answer.is_some() {
        canvas.gap();
    }
    if family.sums.all.is_some() {
        draw_sums(canvas, family);
        draw_absent(canvas, family.absent.len(), absent_because);
    } else if family.processes.iter().any(|one| one.answer.is_some()) {
        draw_each(canvas, family, absent_because, draw);
    } else {
        draw_absent(canvas, family.absent.len(), absent_because);
        canvas.line(&[(FAINT, within(family.processes.len()).trim_start())]);
    }
    canvas.line(&[(FAINT, "one of them: --process PID")]);
}

fn figures(sizes: Sizes) -> Vec<String> {
    let Sizes { blocks, owned, owned_external } = sizes;
    vec![count(blocks as f64), bytes(owned.0 as f64), outside(owned_external)]
}

/// Draws the sizes of processes, and sums by generation.
fn draw_sums<A>(canvas: &mut Canvas, family: &Family<A>) {
    let FamilySums { all, generations, twice, counted_once, .. } = &family.sums;
    let number = family.processes.len();
    let mut table = Table::new(&["blocks", "size", "off-heap"], "process");
    let name = format!("{} processes with snapshots", grouped(number as u64));
    table.strong(figures(all.unwrap_or_default()), name);
    for OfProcess { process, sizes, .. } in family.processes.iter().take(MAX_ROWS) {
        let name = format!("{}{}", process.name, process.note());
        table.row(figures(sizes.unwrap_or_default()), name);
    }
    if generations.len() > 1 {
        for generation in generations {
            let number = generation.number;
            let name = format!("generation {number}: {}", processes(generation.processes));
            table.faint(figures(generation.sizes), name);
        }
    }
    table.print(canvas);
    let left_out = number.saturating_sub(MAX_ROWS);
    if left_out > 0 {
        let text =
            format!("{} more processes that have less (--json: all)", grouped(left_out as u64));
        canvas.line(&[(FAINT, &text)]);
    }
    if let Some((Twice { bytes: size, .. }, once)) = twice.zip(*counted_once) {
        let text = format!(
            "{NOTE}. {} of forks are at the same addresses as in the parent's snapshot; all that is reachable is {} without these",
            bytes(size.0 as f64),
            bytes(once.0 as f64),
        );
        canvas.paragraph(FAINT, 2, &text);
    }
}

/// Draws the answers of processes, each below the name of its process.
fn draw_each<A>(
    canvas: &mut Canvas,
    family: &Family<A>,
    absent_because: Option<&str>,
    draw: impl Fn(&mut Canvas, &A, Option<&Family<A>>),
) {
    let (some, none): (Vec<&OfProcess<A>>, Vec<&OfProcess<A>>) =
        family.processes.iter().partition(|one| one.size > Bytes(0));
    for (place, one) in some.iter().take(MAX_PRINTED).enumerate() {
        if place > 0 {
            canvas.gap();
        }
        canvas.line(&[(STRONG, &one.process.name), (FAINT, one.process.note())]);
        if let Some(answer) = &one.answer {
            draw(canvas, answer, None);
        }
    }
    let nowhere = none.first().filter(|_| some.is_empty()).and_then(|one| one.answer.as_ref());
    if let Some(answer) = nowhere {
        draw(canvas, answer, None);
    }
    canvas.gap();
    let left_out = some.len().saturating_sub(MAX_PRINTED);
    if left_out > 0 {
        let text = format!("less of it is in {} more (--json: all)", processes(left_out));
        canvas.line(&[(FAINT, &text)]);
    }
    let nothing = none.len() + family.absent.len();
    match absent_because {
        Some(why) => draw_absent(canvas, family.absent.len(), Some(why)),
        None if !some.is_empty() => draw_absent(canvas, nothing, None),
        None => {}
    }
    if some.is_empty() {
        canvas.line(&[(PLAIN, &format!("… in each of {}", processes(none.len())))]);
    }
}

/// Draws the number of processes in which what was asked for does not occur.
fn draw_absent(canvas: &mut Canvas, number: usize, because: Option<&str>) {
    if number == 0 {
        return;
    }
    let text = match because {
        Some(why) => format!("{} more {why}", processes(number)),
        None => format!("there is nothing of it in {} more", processes(number)),
    };
    canvas.line(&[(FAINT, &text)]);
}

/// ` in 3 processes`.
pub(super) fn within(number: usize) -> String {
    format!(" in {}", processes(number))
}

fn processes(number: usize) -> String {
    match number {
        1 => "1 process".to_owned(),
        number => format!("{} processes", grouped(number as u64)),
    }
}
