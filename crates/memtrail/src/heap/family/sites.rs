//! `memtrail heap sites` of a family: the allocation sites whose blocks are alive in any process.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::process::ExitCode;

use memtrail_engine::heap::{SamplesResponse, SiteRow};
use memtrail_heap::Bytes;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes, bytes_with_error, grouped, percent};
use serde::Serialize;

use super::Read;
use crate::canvas::{FAINT, PLAIN, WARNING};
use crate::error::Failure;
use crate::heap::sites::{self, Args, Sort, place};
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
    rows: Vec<Row>,
    /// Rows that `--limit` left out.
    left_out: usize,
    /// Recordings of the processes.
    processes: Vec<String>,
    /// What must be known of any of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A place in the program, with sums over all processes.
#[derive(Serialize)]
struct Row {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    alive: Estimate,
    alive_blocks: Estimate,
    share: f64,
    blocks: u64,
    bytes: Bytes,
    retained: Bytes,
    /// The processes that have blocks of it.
    processes: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    recording: String,
    alive: Estimate,
}

/// Estimates of two processes, which were sampled independently of each other.
fn sum(a: Estimate, b: Estimate) -> Estimate {
    Estimate { value: a.value + b.value, stderr: a.stderr.hypot(b.stderr) }
}

/// Lists allocation sites.
pub(in crate::heap) fn sites(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let (mut sampled, mut alive) = (0, Estimate::default());
    let mut known: HashMap<(String, Option<String>, Option<u32>), Row> = HashMap::new();
    let (mut processes, mut notes, mut mark) = (Vec::new(), Vec::new(), "");
    let read = Read::each(members, |member, read| {
        let joined = args.which.open_of(&member.path)?;
        let found = sites::find(args, &joined, usize::MAX)?;
        read.damage.extend(joined.damage(&found));
        if let Err(failure) = joined.verdict() {
            read.code = Some(failure.report());
        }
        let caveats = joined.caveats();
        if mark.is_empty() {
            mark = caveats.mark();
        }
        for note in caveats.notes() {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let SamplesResponse { rows, sampled: more, alive: estimate, .. } = found.response;
        sampled += more;
        alive = sum(alive, estimate);
        let recording = member.path.display().to_string();
        for row in rows {
            add(&mut known, &recording, row);
        }
        processes.push(recording);
        Ok(())
    })?;
    let mut rows: Vec<Row> = known.into_values().collect();
    let size = |row: &Row| match args.sort {
        Sort::Alive => row.alive.value,
        Sort::Retained => row.retained.0 as f64,
    };
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    for row in &mut rows {
        row.share = if alive.value > 0.0 { row.alive.value / alive.value } else { 0.0 };
        row.processes.sort_by_key(|part| Reverse(part.alive.value.round() as u64));
    }
    let Limit(limit) = args.limit;
    let left_out = rows.split_off(rows.len().min(limit)).len();
    let answer = Sites { sampled, alive, rows, left_out, processes, notes };
    read.put(&args.form, &answer, |canvas| {
        if answer.rows.is_empty() {
            canvas.line(&[(PLAIN, "none of the blocks that are alive was sampled")]);
            return;
        }
        let headings = ["alive", "share", "sampled", "retained by these", "processes"];
        let mut table = Table::new(&headings, "allocated by");
        for row in &answer.rows {
            let figures = vec![
                format!("{mark}{}", bytes_with_error(row.alive.value, row.alive.stderr)),
                percent(row.share),
                format!("{mark}{}", grouped(row.blocks)),
                bytes(row.retained.0 as f64),
                grouped(row.processes.len() as u64),
            ];
            table.row(figures, place(&row.name, row.file.as_deref(), row.line));
        }
        table.print(canvas);
        if answer.left_out > 0 {
            let text = format!("… and {} more (--limit 0: all)", grouped(answer.left_out as u64));
            canvas.line(&[(FAINT, &text)]);
        }
        for note in &answer.notes {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
        let number = grouped(answer.processes.len() as u64);
        let text = format!(
            "sums over the last snapshots of {number} processes; one of them: --process PID"
        );
        canvas.paragraph(FAINT, 2, &text);
    })
}

fn add(
    known: &mut HashMap<(String, Option<String>, Option<u32>), Row>,
    recording: &str,
    row: SiteRow,
) {
    let SiteRow { name, file, line, alive, alive_blocks, blocks, bytes, retained, .. } = row;
    let part = Part { recording: recording.to_owned(), alive };
    match known.get_mut(&(name.clone(), file.clone(), line)) {
        None => {
            let row = Row {
                name: name.clone(),
                file: file.clone(),
                line,
                alive,
                alive_blocks,
                share: 0.0,
                blocks,
                bytes,
                retained,
                processes: vec![part],
            };
            known.insert((name, file, line), row);
        }
        Some(row) => {
            row.alive = sum(row.alive, alive);
            row.alive_blocks = sum(row.alive_blocks, alive_blocks);
            row.blocks += blocks;
            row.bytes += bytes;
            row.retained += retained;
            // Two sites of one line are one row.
            match row.processes.last_mut().filter(|last| last.recording == part.recording) {
                Some(last) => last.alive = sum(last.alive, alive),
                None => row.processes.push(part),
            }
        }
    }
}
