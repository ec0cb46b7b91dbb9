//! `memtrail heap roots` and `info` of a family: sums over the last snapshots of all its processes, and each process's
//! part.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::query;
use memtrail_recording::Recording;
use memtrail_text::rounded::{bytes, count, grouped, percent};
use serde::Serialize;

use super::input::{Which, put, with_spinner};
use super::owners::Wanted;
use super::table::{Table, outside};
use super::title::Title;
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::loading;

/// What is said below all sums.
const NOTE: &str =
    "a process that was forked still has what its parent had then: that is counted in both";

/// The last snapshot of a process.
#[derive(Serialize)]
pub(super) struct OfProcess {
    /// The folder of the process's recording.
    recording: String,
    pid: Option<u32>,
    program: Option<String>,
    /// Blocks that are reachable.
    blocks: u64,
    /// Their size.
    owned: Bytes,
    /// Bytes outside the heap that go with that.
    owned_external: Bytes,
}

impl OfProcess {
    fn name(&self) -> String {
        loading::name(Path::new(&self.recording)).trim_end_matches(".memtrail").to_owned()
    }
}

/// What `heap info` answers.
#[derive(Serialize)]
struct Info {
    blocks: u64,
    owned: Bytes,
    owned_external: Bytes,
    /// That of most first.
    processes: Vec<OfProcess>,
}

/// What `heap roots` answers.
#[derive(Serialize)]
struct Roots {
    owned: Bytes,
    owned_external: Bytes,
    rows: Vec<Owner>,
    /// Rows that `--limit` left out.
    left_out: usize,
    /// That of most first.
    processes: Vec<OfProcess>,
}

/// Roots of the same kind, name and type in all processes.
#[derive(Serialize)]
struct Owner {
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    owned: Bytes,
    owned_external: Bytes,
    share: f64,
    /// The processes in which it owns something, that of most first.
    processes: Vec<Part>,
}

/// What an owner has in a process.
#[derive(Serialize)]
struct Part {
    recording: String,
    owned: Bytes,
    owned_external: Bytes,
}

/// One process after another: the memory of one analysis is freed before the next.
fn each(
    which: &Which,
    recordings: &[PathBuf],
    mut look: impl FnMut(&str, query::Owners),
) -> Result<(Vec<OfProcess>, Vec<String>), Failure> {
    let (mut processes, mut damage) = (Vec::new(), Vec::new());
    for path in recordings {
        let input = which.open_of(path)?;
        let heap = input.heap()?;
        damage.extend(input.damage(&heap));
        let owners =
            with_spinner("adding up what each root owns".into(), || query::owners(&heap, &[]));
        let info = query::info(&heap).map_err(|error| input.failure(&error))?;
        let description = Recording::open(path).ok().and_then(|recording| recording.description);
        let recording = path.display().to_string();
        processes.push(OfProcess {
            pid: description.as_ref().map(|description| description.pid),
            program: description.map(|description| description.program),
            blocks: info.reachable_blocks,
            owned: owners.owned,
            owned_external: owners.owned_external,
            recording: recording.clone(),
        });
        look(&recording, owners);
    }
    processes.sort_by_key(|process| Reverse((process.owned, process.owned_external)));
    Ok((processes, damage))
}

fn joined(damage: &[String]) -> Option<String> {
    (!damage.is_empty()).then(|| damage.join("; "))
}

/// What the snapshots are of, and how much is in them.
pub(super) fn info(which: &Which, recordings: &[PathBuf]) -> Result<ExitCode, Failure> {
    let (processes, damage) = each(which, recordings, |_, _| ())?;
    let answer = Info {
        blocks: processes.iter().map(|process| process.blocks).sum(),
        owned: processes.iter().map(|process| process.owned).sum(),
        owned_external: processes.iter().map(|process| process.owned_external).sum(),
        processes,
    };
    put(&which.form, joined(&damage), &answer, |canvas| {
        list(canvas, answer.blocks, [answer.owned, answer.owned_external], &answer.processes);
    })
}

/// What roots of all processes own.
pub(super) fn roots(
    which: &Which,
    recordings: &[PathBuf],
    wanted: &Wanted<'_>,
) -> Result<ExitCode, Failure> {
    let mut numbers: HashMap<(&'static str, String, Option<String>), usize> = HashMap::new();
    let mut rows: Vec<Owner> = Vec::new();
    let (processes, damage) = each(which, recordings, |recording, owners| {
        for row in owners.rows {
            let name = row.name();
            let is_wanted = wanted.name.is_none_or(|text| name.contains(text))
                && wanted.kind.is_none_or(|kind| kind.name() == row.kind);
            if !is_wanted {
                continue;
            }
            let key = (row.kind, name.clone(), row.r#type.clone());
            let number = *numbers.entry(key).or_insert_with(|| {
                rows.push(Owner {
                    kind: row.kind,
                    name,
                    r#type: row.r#type,
                    position: row.position,
                    owned: Bytes(0),
                    owned_external: Bytes(0),
                    share: 0.0,
                    processes: Vec::new(),
                });
                rows.len() - 1
            });
            let owner = &mut rows[number];
            owner.owned += row.owned;
            owner.owned_external += row.owned_external;
            let (owned, owned_external) = (row.owned, row.owned_external);
            match owner.processes.last_mut().filter(|part| part.recording == recording) {
                Some(part) => {
                    part.owned += owned;
                    part.owned_external += owned_external;
                }
                None => owner.processes.push(Part {
                    recording: recording.to_owned(),
                    owned,
                    owned_external,
                }),
            }
        }
    })?;
    let owned: Bytes = processes.iter().map(|process| process.owned).sum();
    rows.retain(|row| row.owned + row.owned_external >= wanted.min);
    rows.sort_by_key(|row| Reverse((row.owned, row.owned_external)));
    let left_out = rows.split_off(rows.len().min(wanted.limit)).len();
    for row in &mut rows {
        row.share = row.owned.share_of(owned);
        row.processes.sort_by_key(|part| Reverse((part.owned, part.owned_external)));
    }
    let owned_external = processes.iter().map(|process| process.owned_external).sum();
    let answer = Roots { owned, owned_external, rows, left_out, processes };
    put(&which.form, joined(&damage), &answer, |canvas| {
        owners(canvas, &answer);
        canvas.gap();
        let blocks = answer.processes.iter().map(|process| process.blocks).sum();
        list(canvas, blocks, [answer.owned, answer.owned_external], &answer.processes);
    })
}

fn owners(canvas: &mut Canvas, answer: &Roots) {
    let mut table = Table::new(&["owned", "", "off-heap", "processes"], "root");
    let all = vec![
        bytes(answer.owned.0 as f64),
        percent(1.0),
        outside(answer.owned_external),
        grouped(answer.processes.len() as u64),
    ];
    table.strong(all, "all that is reachable");
    for row in &answer.rows {
        let figures = vec![
            bytes(row.owned.0 as f64),
            percent(row.share),
            outside(row.owned_external),
            grouped(row.processes.len() as u64),
        ];
        let name = match row.kind {
            "global" | "static" => row.name.clone(),
            kind => format!("{kind}: {}", row.name),
        };
        table.row(figures, Title { name, ty: row.r#type.clone(), position: row.position.clone() });
    }
    table.print(canvas);
    if answer.left_out > 0 {
        let text = format!("… and {} more (--limit 0: all)", grouped(answer.left_out as u64));
        canvas.line(&[(FAINT, &text)]);
    }
}

/// The processes, and their sum.
fn list(canvas: &mut Canvas, blocks: u64, all: [Bytes; 2], processes: &[OfProcess]) {
    let figures = |blocks: u64, [owned, external]: [Bytes; 2]| {
        vec![count(blocks as f64), bytes(owned.0 as f64), outside(external)]
    };
    let mut table = Table::new(&["blocks", "size", "off-heap"], "process");
    let name = format!("{} processes with snapshots", grouped(processes.len() as u64));
    table.strong(figures(blocks, all), name);
    for process in processes {
        table.row(figures(process.blocks, [process.owned, process.owned_external]), process.name());
    }
    table.print(canvas);
    canvas.paragraph(FAINT, 2, NOTE);
    canvas.line(&[(FAINT, "one of them: --process PID")]);
}
