//! `memtrail who` of a family: which calls allocated what roots of a name own, or the blocks of a type, in all
//! processes.

use std::process::ExitCode;

use memtrail_engine::heap::{OfSnapshot, WhoResponse};
use memtrail_heap::Bytes;
use memtrail_text::rounded::{grouped, percent};
use serde::Serialize;

use super::NOTE;
use super::by_site::{BySite, Row, Sum};
use super::draw_end;
use super::estimates::Alive;
use super::parts::{Parts, Summed};
use crate::answer::Limited;
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::heap::table::Table;
use crate::heap::who::{self, Args};
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// Sums over all processes.
#[derive(Default, Serialize)]
struct Who {
    of: &'static str,
    names: Vec<String>,
    size: Bytes,
    external: Bytes,
    alive: Alive,
    rows: Vec<Row<Allocated, InProcess>>,
    /// Rows that `--limit` left out.
    left_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What a place in the program allocated.
#[derive(Serialize)]
struct Allocated {
    alive: Alive,
    share: f64,
    /// Of a block of the process with most of it.
    callers: Vec<String>,
}

impl Sum for Allocated {
    fn add(&mut self, more: Self) {
        self.alive.add(more.alive);
    }
}

#[derive(Serialize)]
struct InProcess {
    alive: Alive,
}

impl Sum for InProcess {
    fn add(&mut self, more: Self) {
        self.alive.add(more.alive);
    }
}

/// Which calls allocated it.
pub(in crate::heap) fn who(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let size = |of: &OfSnapshot<WhoResponse>| of.response.size + of.response.external;
    let (mut parts, mut read) = Parts::find(members, size, |member, read| {
        let joined = args.which.open_of(&member.path)?;
        let found = who::find(args, &joined, usize::MAX)?;
        read.damage.extend(joined.damage(&found));
        read.hear(&joined);
        Ok(found)
    })?;
    // A root of this name, then a type, then a kind.
    parts.keep_lowest(|of| match of.response.of {
        "owner" => 0,
        "type" => 1,
        _ => 2,
    });
    let Limit(limit) = args.limit;
    let sum = sum(&parts, limit, read.take_notes());
    let parts = parts.map(|OfSnapshot { mut response, .. }| {
        response.rows.truncate(limit);
        let (rows, count) = (response.rows.len(), response.count);
        Limited::new(response, rows, count)
    });
    let answer = Summed { sum, parts };
    read.put(&args.form, &answer, |canvas| {
        draw(canvas, &answer.sum, answer.parts.has_forks());
        canvas.gap();
        answer.parts.draw(canvas, |canvas, of| who::draw(canvas, &of.answer));
    })
}

fn sum(parts: &Parts<OfSnapshot<WhoResponse>>, limit: usize, notes: Vec<String>) -> Who {
    let mut sum = Who { notes, ..Who::default() };
    let mut sites = BySite::default();
    for part in &parts.all {
        let of = &part.answer.response;
        sum.of = of.of;
        for name in &of.names {
            if !sum.names.contains(name) {
                sum.names.push(name.clone());
            }
        }
        sum.size += of.size;
        sum.external += of.external;
        sum.alive.add((&of.alive).into());
        for row in &of.rows {
            let alive = Alive::from(&row.alive);
            let allocated = Allocated { alive, share: 0.0, callers: row.callers.clone() };
            let site = (row.name.clone(), row.file.clone(), row.line);
            sites.add(site, &part.process.recording, allocated, InProcess { alive });
        }
    }
    sum.rows = sites.rows();
    let all = sum.alive;
    sum.rows.sort_by_cached_key(|row| (row.sums.alive.descending(), row.name.clone(), row.line));
    sum.left_out = sum.rows.split_off(sum.rows.len().min(limit)).len();
    for row in &mut sum.rows {
        row.sums.share = row.sums.alive.share_of(all);
        row.processes.sort_by_key(|part| part.of.alive.descending());
    }
    sum
}

fn draw(canvas: &mut Canvas, who: &Who, has_forks: bool) {
    let Alive { bytes, sampled, .. } = who.alive;
    who::draw_size(canvas, (who.of, &who.names), [who.size, who.external], (bytes, sampled));
    if has_forks {
        canvas.paragraph(FAINT, 2, NOTE);
    }
    if !who.rows.is_empty() {
        canvas.gap();
        let mut table = Table::new(&["alive", "", "sampled", "processes"], "allocated by");
        for row in &who.rows {
            let figures = vec![
                row.sums.alive.text(),
                percent(row.sums.share),
                grouped(row.sums.alive.sampled),
                grouped(row.processes.len() as u64),
            ];
            table.row(figures, row.place());
            if !row.sums.callers.is_empty() {
                table.faint(Vec::new(), format!("  called by {}", row.sums.callers.join(" ← ")));
            }
        }
        table.print(canvas);
    }
    draw_end(canvas, who.left_out, &who.notes);
}
