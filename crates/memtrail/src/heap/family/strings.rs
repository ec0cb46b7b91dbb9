//! `memtrail heap strings` of a family: strings that are there several times in a process.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::query::StringSums;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::draw_end;
use super::parts::{Parts, Summed};
use crate::canvas::Canvas;
use crate::error::Failure;
use crate::heap::strings::{self, Args, Duplicates as OfProcess};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// Sums over all processes.
#[derive(Serialize)]
struct Strings {
    #[serde(flatten)]
    sums: StringSums,
    /// Strings that are there several times in a process, the most wasteful first.
    duplicates: Vec<Duplicate>,
    /// Rows that `--limit` left out.
    left_out: usize,
}

/// A string that is there several times in some processes; those that have it once are not counted, as nothing can be
/// saved there.
#[derive(Serialize)]
struct Duplicate {
    start: String,
    cut: bool,
    length: u64,
    times: u64,
    wasted: Bytes,
    processes: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    recording: String,
    times: u64,
    wasted: Bytes,
}

/// Strings that are there several times.
pub(in crate::heap) fn strings(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let size = |of: &OfProcess| of.strings.sums.wasted;
    let (mut parts, read) = Parts::find(members, size, |member, read| {
        Ok(read.take(strings::find(&args.which.open_of(&member.path)?, Limit(usize::MAX))?))
    })?;
    let Limit(limit) = args.limit;
    let sum = sum(&parts, limit);
    for part in &mut parts.all {
        let strings = &mut part.answer.strings;
        strings.duplicates.truncate(limit);
        part.answer.left_out =
            strings.sums.repeated.saturating_sub(strings.duplicates.len() as u64);
    }
    let answer = Summed { sum, parts };
    read.put(&args.which.form, &answer, |canvas| {
        draw(canvas, &answer.sum, answer.parts.all.len());
        canvas.gap();
        answer.parts.draw(canvas, strings::draw);
    })
}

fn sum(parts: &Parts<OfProcess>, limit: usize) -> Strings {
    let mut sums = StringSums::default();
    let mut known: HashMap<u128, Duplicate> = HashMap::new();
    for part in &parts.all {
        let of = part.answer.strings.sums;
        sums.strings += of.strings;
        sums.bytes += of.bytes;
        sums.contents += of.contents;
        sums.wasted += of.wasted;
        for one in &part.answer.strings.duplicates {
            let sum = known.entry(one.hash).or_insert_with(|| Duplicate {
                start: one.start.clone(),
                cut: one.cut,
                length: one.length,
                times: 0,
                wasted: Bytes(0),
                processes: Vec::new(),
            });
            sum.times += one.times;
            sum.wasted += one.wasted;
            let recording = part.process.recording.clone();
            sum.processes.push(Part { recording, times: one.times, wasted: one.wasted });
        }
    }
    sums.repeated = known.len() as u64;
    let mut duplicates: Vec<Duplicate> = known.into_values().collect();
    duplicates.sort_by(|a, b| {
        (Reverse(a.wasted), &a.start, a.length).cmp(&(Reverse(b.wasted), &b.start, b.length))
    });
    let left_out = duplicates.split_off(duplicates.len().min(limit)).len();
    for duplicate in &mut duplicates {
        duplicate.processes.sort_by_key(|part| Reverse(part.wasted));
    }
    Strings { sums, duplicates, left_out }
}

fn draw(canvas: &mut Canvas, all: &Strings, processes: usize) {
    strings::draw_sums(canvas, all.sums, Some(processes));
    if all.duplicates.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["wasted", "times", "length", "processes"], "string");
    for one in &all.duplicates {
        let figures = vec![
            bytes(one.wasted.0 as f64),
            grouped(one.times),
            grouped(one.length),
            grouped(one.processes.len() as u64),
        ];
        table.row(figures, strings::quoted(&one.start, one.cut));
    }
    table.print(canvas);
    draw_end(canvas, all.left_out, &[]);
}
