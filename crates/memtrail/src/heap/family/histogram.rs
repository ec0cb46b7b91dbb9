//! `memtrail heap histogram` of a family: how much there is of each type or kind of block in all processes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::query::{AllocatedBy, AllocatedPart, KindRow};
use serde::Serialize;

use super::Read;
use super::sums::{Sizes, Sums};
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::heap::histogram::{self, Args, By, MORE_RETAINED};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer.
#[derive(Serialize)]
struct Histogram {
    #[serde(flatten)]
    sums: Sums,
    /// Blocks that are unreachable and not freed yet; unknown if that is so of any process.
    unreachable_blocks: Option<u64>,
    /// Their size.
    unreachable_bytes: Option<Bytes>,
    rows: Vec<Row>,
}

/// Blocks of one type or kind.
#[derive(Serialize)]
struct Row {
    /// Sums over all processes. What blocks retain is at least that.
    #[serde(flatten)]
    sum: KindRow,
    /// The processes that have some, that of most first.
    processes: Vec<Part>,
}

/// What a process has.
#[derive(Serialize)]
struct Part {
    recording: String,
    blocks: u64,
    bytes: Bytes,
}

/// Counts blocks by type or kind.
pub(in crate::heap) fn histogram(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut answer = Histogram {
        sums: Sums::of(members),
        unreachable_blocks: Some(0),
        unreachable_bytes: Some(Bytes(0)),
        rows: Vec::new(),
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    let read = Read::each(members, |member, read| {
        let input = args.which.open_of(&member.path)?;
        let heap = if args.by == By::Kind { input.heap()? } else { input.typed_heap()? };
        let found = histogram::count(args, &input, &heap)?;
        read.damage.extend(input.damage(&heap));
        let owned_external = found.external();
        let sizes = Sizes { blocks: found.blocks, owned: found.bytes, owned_external };
        answer.sums.add(member, &input, &heap, sizes)?;
        let blocks = answer.unreachable_blocks.zip(found.unreachable_blocks);
        answer.unreachable_blocks = blocks.map(|(a, b)| a + b);
        let size = answer.unreachable_bytes.zip(found.unreachable_bytes);
        answer.unreachable_bytes = size.map(|(a, b)| a + b);
        let recording = member.path.display().to_string();
        for row in found.rows {
            let part = Part { recording: recording.clone(), blocks: row.blocks, bytes: row.bytes };
            if let Some(place) = places.get(&row.kind) {
                answer.rows[*place].add(row, part);
            } else {
                places.insert(row.kind.clone(), answer.rows.len());
                answer.rows.push(Row { sum: row, processes: vec![part] });
            }
        }
        Ok(())
    })?;
    answer.rows.sort_by(|a, b| a.sum.largest_first(&b.sum));
    for row in &mut answer.rows {
        row.processes.sort_by_key(|part| Reverse(part.bytes));
        row.sum.allocated.sort_by_key(|part| Reverse(part.bytes));
    }
    read.put(&args.which.form, &answer, |canvas| draw(canvas, args, &answer))
}

impl Row {
    fn add(&mut self, row: KindRow, part: Part) {
        let sum = &mut self.sum;
        // Blocks of which it was not computed retain themselves at least.
        sum.retained = match (sum.retained, row.retained) {
            (None, None) => None,
            (before, more) => Some(before.unwrap_or(sum.bytes) + more.unwrap_or(row.bytes)),
        };
        sum.blocks += row.blocks;
        sum.bytes += row.bytes;
        sum.external += row.external;
        sum.shared_by = sum.shared_by.map(|known| known + row.shared_by.unwrap_or(0));
        for part in row.allocated {
            add_allocated(&mut sum.allocated, part);
        }
        self.processes.push(part);
    }
}

/// Adds what allocated blocks in one more process.
fn add_allocated(parts: &mut Vec<AllocatedPart>, more: AllocatedPart) {
    let key = |by: &AllocatedBy| (by.precision, by.name.clone(), by.file.clone(), by.line);
    match parts.iter_mut().find(|part| key(&part.by) == key(&more.by)) {
        None => parts.push(more),
        Some(part) => {
            part.blocks += more.blocks;
            part.bytes += more.bytes;
            part.by.samples += more.by.samples;
            part.by.of += more.by.of;
        }
    }
}

fn draw(canvas: &mut Canvas, args: &Args, answer: &Histogram) {
    let Limit(limit) = args.limit;
    let headings = [&histogram::COLUMNS[..], &["processes"]].concat();
    let mut table =
        Table::new(&headings, if args.by == By::Type { "type or kind" } else { "kind" });
    for row in answer.rows.iter().take(limit) {
        histogram::add(&mut table, &row.sum, Some(row.processes.len()));
    }
    let all = answer.sums.all;
    let dead = answer.unreachable_blocks.zip(answer.unreachable_bytes);
    histogram::add_totals(&mut table, args, (all.blocks, all.owned), dead);
    table.print(canvas);
    canvas.paragraph(FAINT, 2, MORE_RETAINED);
    histogram::more(canvas, answer.rows.len(), limit);
    canvas.gap();
    answer.sums.draw(canvas);
}
