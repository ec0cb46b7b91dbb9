//! `memtrail heap survivors` of a family: what was alive in one snapshot of a process and still is in a later one, over
//! all processes.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_engine::heap::{AliveEstimate, OfSnapshot, SurvivorsResponse};
use memtrail_heap::Bytes;
use memtrail_text::rounded::{grouped, percent};
use serde::Serialize;

use super::by_site::{BySite, Part, Row, Sum};
use super::draw_end;
use super::estimates::Alive;
use super::parts::{Parts, Summed};
use crate::answer::Limited;
use crate::canvas::{Canvas, PLAIN};
use crate::error::{Failure, Kind};
use crate::heap::survivors::{self, Args, Sort};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;
use crate::snapshot_file;

/// Sums over all processes.
#[derive(Default, Serialize)]
struct Survivors {
    #[serde(flatten)]
    blocks: Blocks,
    rows: Vec<Row<OfSite, Blocks>>,
    /// Rows that `--limit` left out.
    left_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What became of the blocks of a place in the program.
#[derive(Serialize)]
struct OfSite {
    #[serde(flatten)]
    blocks: Blocks,
    /// What part of the bytes that were alive before survived; none if there were none.
    survival: Option<f64>,
    /// When half of what survived had been allocated, in the process in which that was first.
    #[serde(skip)]
    oldest: f64,
}

impl Sum for OfSite {
    fn add(&mut self, more: Self) {
        self.blocks.add(more.blocks);
        self.oldest = self.oldest.min(more.oldest);
    }
}

#[derive(Clone, Copy, Default, Serialize)]
struct Blocks {
    survived: Alive,
    freed: Alive,
    added: Alive,
}

impl Sum for Blocks {
    fn add(&mut self, more: Self) {
        self.survived.add(more.survived);
        self.freed.add(more.freed);
        self.added.add(more.added);
    }
}

/// What survived in each process that has two snapshots.
pub(in crate::heap) fn survivors(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let size = |of: &OfSnapshot<SurvivorsResponse>| {
        let SurvivorsResponse { survived, freed, added, .. } = &of.response;
        let sizes = [survived, freed, added].map(|of| of.bytes.value);
        Bytes(sizes.iter().sum::<f64>().round() as u64)
    };
    let mut mark = "";
    let (mut parts, mut read) = Parts::find(members, size, |member, read| {
        if snapshot_file::of_recording(&member.path).len() < 2 {
            let message = "survivors need two snapshots, and no process has two";
            return Err(Failure::new(Kind::Usage, message)
                .hint("take more: memtrail run --snapshot every-major -- PROGRAM")
                .absent());
        }
        let (joined, found) = survivors::find(args, &member.path, usize::MAX)?;
        read.damage.extend(survivors::damaged(&found));
        read.hear(&joined);
        if mark.is_empty() {
            mark = joined.caveats().mark();
        }
        Ok(found)
    })?;
    parts.absent_because = Some("with one snapshot only");
    let Limit(limit) = args.limit;
    let sum = sum(&parts, args.sort, limit, read.take_notes());
    let parts = parts.map(|OfSnapshot { mut response, .. }| {
        response.rows.truncate(limit);
        let (rows, count) = (response.rows.len(), response.count);
        Limited::new(response, rows, count)
    });
    let answer = Summed { sum, parts };
    read.put(&args.form, &answer, |canvas| {
        draw(canvas, &answer.sum, answer.parts.all.len(), mark);
        canvas.gap();
        answer.parts.draw(canvas, |canvas, of| survivors::draw(canvas, &of.answer, mark));
    })
}

fn sum(
    parts: &Parts<OfSnapshot<SurvivorsResponse>>,
    sort: Sort,
    limit: usize,
    notes: Vec<String>,
) -> Survivors {
    let mut sum = Survivors { notes, ..Survivors::default() };
    let mut sites = BySite::default();
    let blocks = |[survived, freed, added]: [&AliveEstimate; 3]| Blocks {
        survived: survived.into(),
        freed: freed.into(),
        added: added.into(),
    };
    for part in &parts.all {
        let of = &part.answer.response;
        sum.blocks.add(blocks([&of.survived, &of.freed, &of.added]));
        for row in &of.rows {
            let blocks = blocks([&row.survived, &row.freed, &row.added]);
            let oldest = row.survived.allocated.map_or(f64::INFINITY, |[_, half, _]| half);
            let site = (row.name.clone(), row.file.clone(), row.line);
            sites.add(
                site,
                &part.process.recording,
                OfSite { blocks, survival: None, oldest },
                blocks,
            );
        }
    }
    sum.rows = sites.rows();
    match sort {
        Sort::Survived => sum.rows.sort_by_key(|row| row.sums.blocks.survived.descending()),
        Sort::Added => sum.rows.sort_by_key(|row| row.sums.blocks.added.descending()),
        Sort::Oldest => sum.rows.sort_by(|a, b| a.sums.oldest.total_cmp(&b.sums.oldest)),
    }
    sum.left_out = sum.rows.split_off(sum.rows.len().min(limit)).len();
    for row in &mut sum.rows {
        let Blocks { survived, freed, .. } = row.sums.blocks;
        let before = survived.bytes.value + freed.bytes.value;
        row.sums.survival = (before > 0.0).then(|| survived.bytes.value / before);
        let size = |part: &Part<Blocks>| part.of.survived.bytes.value + part.of.added.bytes.value;
        row.processes.sort_by_key(|part| Reverse(size(part).round() as u64));
    }
    sum
}

fn draw(canvas: &mut Canvas, of: &Survivors, processes: usize, mark: &str) {
    let size = |of: &Alive| match of.text() {
        none if none.is_empty() => none,
        some => format!("{mark}{some}"),
    };
    let or_nothing = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
    let text = format!(
        "in {} processes, each from its first snapshot to its last or those that are named: {} survived, {} freed, {} added",
        grouped(processes as u64),
        or_nothing(size(&of.blocks.survived)),
        or_nothing(size(&of.blocks.freed)),
        or_nothing(size(&of.blocks.added)),
    );
    canvas.paragraph(PLAIN, 2, &text);
    if !of.rows.is_empty() {
        canvas.gap();
        let headings = ["survived", "of before", "freed", "added", "processes"];
        let mut table = Table::new(&headings, "allocated by");
        for row in &of.rows {
            let figures = vec![
                size(&row.sums.blocks.survived),
                row.sums.survival.map_or_else(String::new, percent),
                size(&row.sums.blocks.freed),
                size(&row.sums.blocks.added),
                grouped(row.processes.len() as u64),
            ];
            table.row(figures, row.place());
        }
        table.print(canvas);
    }
    draw_end(canvas, of.left_out, &of.notes);
}
