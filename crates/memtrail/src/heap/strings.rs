//! `memtrail heap strings`: strings that are there several times.

use std::process::ExitCode;

use memtrail_heap::query::{self, StringSums, Strings};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::family;
use super::found::Found;
use super::input::{Input, Which};
use super::table::Table;
use crate::canvas::{Canvas, PLAIN};
use crate::error::{Failure, Kind};
use crate::limit::Limit;

/// Find duplicate strings
///
/// Needs a snapshot with contents: memtrail run --snapshot … --contents.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: Which,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    pub(super) limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.which.several()? {
        return family::strings(args, &members);
    }
    find(&args.which.open()?, args.limit)?.put(&args.which.form, draw)
}

/// The answer.
#[derive(Serialize)]
pub(super) struct Duplicates {
    #[serde(flatten)]
    pub(super) strings: Strings,
    /// Rows that `--limit` left out.
    pub(super) left_out: u64,
}

/// The strings of a snapshot.
pub(super) fn find(input: &Input, limit: Limit) -> Result<Found<Duplicates>, Failure> {
    let heap = input.heap()?;
    let strings = query::strings(&heap, limit.0)
        .map_err(|error| input.failure(&error))?
        .ok_or_else(|| {
            Failure::new(Kind::Input, "the snapshot has no contents of strings")
                .hint("take one with them: memtrail run --snapshot … --contents")
        })?;
    let left_out = strings.sums.repeated.saturating_sub(strings.duplicates.len() as u64);
    Ok(Found::new(input, &heap, Duplicates { strings, left_out }))
}

pub(super) fn draw(canvas: &mut Canvas, Duplicates { strings, .. }: &Duplicates) {
    draw_sums(canvas, strings.sums, None);
    if strings.duplicates.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["wasted", "times", "length"], "string");
    for duplicate in &strings.duplicates {
        let figures = vec![
            bytes(duplicate.wasted.0 as f64),
            grouped(duplicate.times),
            grouped(duplicate.length),
        ];
        table.row(figures, quoted(&duplicate.start, duplicate.cut));
    }
    table.print(canvas);
}

/// Draws sums of one process, or of several.
pub(super) fn draw_sums(canvas: &mut Canvas, sums: StringSums, processes: Option<usize>) {
    let (within, each) = match processes {
        Some(number) => (format!(" in {} processes", grouped(number as u64)), " in each"),
        None => (String::new(), ""),
    };
    let text = format!(
        "{} strings{within} take up {}; {} of that would be saved if each were there once{each}",
        grouped(sums.strings),
        bytes(sums.bytes.0 as f64),
        bytes(sums.wasted.0 as f64)
    );
    canvas.paragraph(PLAIN, 2, &text);
}

/// How a string starts, as OCaml writes it.
pub(super) fn quoted(start: &str, is_cut: bool) -> String {
    format!("\"{start}\"{}", if is_cut { " …" } else { "" })
}
