//! What roots of the same kind, name and type own in all processes: `memtrail heap roots` and
//! `heap histogram --by owner` of a family.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::process::ExitCode;

use memtrail_engine::question::{FamilySums, Sizes};
use memtrail_heap::Bytes;
use memtrail_heap::query::{self, OwnedBlocks};
use memtrail_text::rounded::{bytes, grouped, percent};
use serde::Serialize;

use super::info::{all_of, sizes};
use super::sums::draw_sums;
use super::{Read, draw_end};
use crate::canvas::Canvas;
use crate::error::Failure;
use crate::heap::input::Which;
use crate::heap::owners::Wanted;
use crate::heap::table::{Table, outside};
use crate::heap::title::Title;
use crate::recording_source::Fitting;
use crate::spinner::with_spinner;

/// The answer.
#[derive(Serialize)]
struct Owners {
    #[serde(flatten)]
    all: Sizes,
    #[serde(flatten)]
    sums: FamilySums,
    rows: Vec<Owner>,
    /// Rows that `--limit` left out.
    left_out: usize,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
    owned: Bytes,
    owned_external: Bytes,
    share: f64,
    /// What would be freed in all processes without it.
    retained: Bytes,
    /// The processes in which it owns something, that of most first.
    processes: Vec<Part>,
}

/// What an owner has in a process.
#[derive(Serialize)]
struct Part {
    recording: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
    owned: Bytes,
    owned_external: Bytes,
}

/// What roots of all processes own.
pub(in crate::heap) fn roots(
    which: &Which,
    members: &[Fitting],
    wanted: &Wanted<'_>,
) -> Result<ExitCode, Failure> {
    owners(which, members, wanted, false)
}

/// The same, with the numbers of blocks.
pub(in crate::heap) fn blocks_by_owner(
    which: &Which,
    members: &[Fitting],
    wanted: &Wanted<'_>,
) -> Result<ExitCode, Failure> {
    owners(which, members, wanted, true)
}

fn owners(
    which: &Which,
    members: &[Fitting],
    wanted: &Wanted<'_>,
    count_blocks: bool,
) -> Result<ExitCode, Failure> {
    let mut sums = FamilySums::of(&all_of(members));
    let mut by_name = ByName::default();
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let heap = input.heap()?;
        let rows = with_spinner("adding up what each root owns".into(), || {
            if count_blocks {
                query::owned_blocks(&heap)
            } else {
                let rows = query::owners(&heap, &[]).rows.into_iter();
                Ok(rows.map(|owner| OwnedBlocks { blocks: 0, owner }).collect())
            }
        });
        let rows = rows.map_err(|error| input.failure(&error))?;
        let sizes = sizes(&input, &heap)?;
        let added = sums.add(&member.member(), &heap, sizes);
        added.map_err(|error| input.failure(&error))?;
        read.damage.extend(input.damage(&heap));
        let recording = member.path.display().to_string();
        for row in rows {
            let name = row.owner.name();
            let is_wanted = wanted.name.is_none_or(|text| name.contains(text))
                && wanted.kind.is_none_or(|kind| kind.name() == row.owner.kind);
            if is_wanted {
                by_name.add(&recording, name, row, count_blocks);
            }
        }
        Ok(())
    })?;
    let mut rows = by_name.rows;
    rows.retain(|row| row.owned + row.owned_external >= wanted.min);
    rows.sort_by_key(|row| Reverse((row.owned + row.owned_external, row.owned)));
    let left_out = rows.split_off(rows.len().min(wanted.limit)).len();
    for row in &mut rows {
        row.share = row.owned.share_of(sums.all.owned);
        row.processes.sort_by_key(|part| Reverse((part.owned + part.owned_external, part.owned)));
    }
    let answer = Owners { all: sums.all, sums, rows, left_out };
    read.put(&which.form, &answer, |canvas| {
        draw(canvas, &answer);
        canvas.gap();
        draw_sums(canvas, &answer.sums);
    })
}

/// Rows by kind, name and type.
#[derive(Default)]
struct ByName {
    places: HashMap<(&'static str, String, Option<String>), usize>,
    rows: Vec<Owner>,
}

impl ByName {
    fn add(&mut self, recording: &str, name: String, row: OwnedBlocks, count_blocks: bool) {
        let OwnedBlocks { blocks, owner } = row;
        let blocks = count_blocks.then_some(blocks);
        let key = (owner.kind, name.clone(), owner.r#type.clone());
        let rows = &mut self.rows;
        let place = *self.places.entry(key).or_insert_with(|| {
            rows.push(Owner {
                kind: owner.kind,
                name,
                r#type: owner.r#type,
                position: owner.position,
                blocks: None,
                owned: Bytes(0),
                owned_external: Bytes(0),
                share: 0.0,
                retained: Bytes(0),
                processes: Vec::new(),
            });
            rows.len() - 1
        });
        let row = &mut rows[place];
        let sum = |a: Option<u64>| blocks.map(|blocks| a.unwrap_or(0) + blocks);
        row.blocks = sum(row.blocks);
        row.owned += owner.owned;
        row.owned_external += owner.owned_external;
        row.retained += owner.retained;
        if row.processes.last().is_none_or(|part| part.recording != recording) {
            row.processes.push(Part {
                recording: recording.to_owned(),
                blocks: None,
                owned: Bytes(0),
                owned_external: Bytes(0),
            });
        }
        if let Some(part) = row.processes.last_mut() {
            part.blocks = sum(part.blocks);
            part.owned += owner.owned;
            part.owned_external += owner.owned_external;
        }
    }
}

fn draw(canvas: &mut Canvas, answer: &Owners) {
    let headings = ["blocks", "owned", "", "off-heap", "retained", "processes"];
    let mut table = Table::new(&headings, "root");
    let all = answer.sums.all;
    let figures = vec![
        String::new(),
        bytes(all.owned.0 as f64),
        percent(1.0),
        outside(all.owned_external),
        String::new(),
        grouped(answer.sums.count() as u64),
    ];
    table.strong(figures, "all that is reachable");
    for row in &answer.rows {
        let figures = vec![
            row.blocks.map_or_else(String::new, grouped),
            bytes(row.owned.0 as f64),
            percent(row.share),
            outside(row.owned_external),
            bytes(row.retained.0 as f64),
            grouped(row.processes.len() as u64),
        ];
        let name = match row.kind {
            "global" | "static" => row.name.clone(),
            kind => format!("{kind}: {}", row.name),
        };
        table.row(figures, Title { name, ty: row.r#type.clone(), position: row.position.clone() });
    }
    table.print(canvas);
    draw_end(canvas, answer.left_out, &[]);
}
