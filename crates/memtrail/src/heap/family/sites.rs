//! `memtrail heap sites` of a family: the allocation sites whose blocks are alive in any process.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_engine::heap::{SamplesResponse, SiteRow};
use memtrail_heap::Bytes;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes, grouped, percent};
use serde::Serialize;

use super::Read;
use super::by_site::{BySite, Row, Sum};
use super::draw_end;
use crate::canvas::{FAINT, PLAIN};
use crate::error::Failure;
use crate::heap::sites::{self, Args, Sort};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer.
#[derive(Serialize)]
struct Sites {
    /// How many blocks of snapshots were sampled and are in the traces.
    sampled: usize,
    /// Bytes of all blocks that are alive, an estimate.
    alive: Estimate,
    rows: Vec<Row<OfSite, InProcess>>,
    /// Rows that `--limit` left out.
    left_out: usize,
    /// Recordings of the processes.
    processes: Vec<String>,
    /// What must be known of any of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What is alive of a place in the program.
#[derive(Serialize)]
struct OfSite {
    alive: Estimate,
    alive_blocks: Estimate,
    share: f64,
    blocks: u64,
    bytes: Bytes,
    retained: Bytes,
}

impl Sum for OfSite {
    fn add(&mut self, more: Self) {
        self.alive += more.alive;
        self.alive_blocks += more.alive_blocks;
        self.blocks += more.blocks;
        self.bytes += more.bytes;
        self.retained += more.retained;
    }
}

#[derive(Serialize)]
struct InProcess {
    alive: Estimate,
}

impl Sum for InProcess {
    fn add(&mut self, more: Self) {
        self.alive += more.alive;
    }
}

/// Lists allocation sites.
pub(in crate::heap) fn sites(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let (mut sampled, mut alive) = (0, Estimate::default());
    let mut known = BySite::default();
    let (mut processes, mut mark) = (Vec::new(), "");
    let mut read = Read::each(members, |member, read| {
        let joined = args.which.open_of(&member.path)?;
        let found = sites::find(args, &joined, usize::MAX)?;
        read.damage.extend(joined.damage(&found));
        read.hear(&joined);
        if mark.is_empty() {
            mark = joined.caveats().mark();
        }
        let SamplesResponse { rows, sampled: more, alive: estimate, .. } = found.response;
        sampled += more;
        alive += estimate;
        let recording = member.path.display().to_string();
        for row in rows {
            let SiteRow { alive, alive_blocks, blocks, bytes, retained, .. } = row;
            let of = OfSite { alive, alive_blocks, share: 0.0, blocks, bytes, retained };
            known.add((row.name, row.file, row.line), &recording, of, InProcess { alive });
        }
        processes.push(recording);
        Ok(())
    })?;
    let mut rows = known.rows();
    let size = |row: &Row<OfSite, InProcess>| match args.sort {
        Sort::Alive => row.sums.alive.value,
        Sort::Retained => row.sums.retained.0 as f64,
    };
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    for row in &mut rows {
        let of = &mut row.sums;
        of.share = if alive.value > 0.0 { of.alive.value / alive.value } else { 0.0 };
        row.processes.sort_by_key(|part| Reverse(part.of.alive.value.round() as u64));
    }
    let Limit(limit) = args.limit;
    let left_out = rows.split_off(rows.len().min(limit)).len();
    let notes = read.take_notes();
    let answer = Sites { sampled, alive, rows, left_out, processes, notes };
    read.put(&args.form, &answer, |canvas| {
        if answer.rows.is_empty() {
            canvas.line(&[(PLAIN, "none of the blocks that are alive was sampled")]);
            return;
        }
        let headings = ["alive", "share", "sampled", "retained by these", "processes"];
        let mut table = Table::new(&headings, "allocated by");
        for row in &answer.rows {
            let of = &row.sums;
            let figures = vec![
                format!("{mark}{}", of.alive.size()),
                percent(of.share),
                format!("{mark}{}", grouped(of.blocks)),
                bytes(of.retained.0 as f64),
                grouped(row.processes.len() as u64),
            ];
            table.row(figures, row.place());
        }
        table.print(canvas);
        draw_end(canvas, answer.left_out, &answer.notes);
        let number = grouped(answer.processes.len() as u64);
        let text = format!(
            "sums over the last snapshots of {number} processes; one of them: --process PID"
        );
        canvas.paragraph(FAINT, 2, &text);
    })
}
