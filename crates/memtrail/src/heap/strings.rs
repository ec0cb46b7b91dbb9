//! `memtrail heap strings`: strings that are there several times.

use std::process::ExitCode;

use memtrail_heap::query;
use memtrail_text::rounded::{bytes, grouped};

use super::input::Which;
use super::table::Table;
use crate::canvas::PLAIN;
use crate::error::{Failure, Kind};
use crate::limit::Limit;

/// Find duplicate strings
///
/// Needs a snapshot with contents: memtrail run --snapshot … --contents.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let strings = query::strings(&heap, args.limit.0)
        .map_err(|error| input.failure(&error))?
        .ok_or_else(|| {
            Failure::new(Kind::Input, "the snapshot has no contents of strings")
                .hint("take one with them: memtrail run --snapshot … --contents")
        })?;
    input.answer(&heap, &args.which.form, &strings, |canvas| {
        let sums = format!(
            "{} strings take up {}; {} of that would be saved if each were there once",
            grouped(strings.sums.strings),
            bytes(strings.sums.bytes.0 as f64),
            bytes(strings.sums.wasted.0 as f64)
        );
        canvas.paragraph(PLAIN, 2, &sums);
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
            let more = if duplicate.cut { " …" } else { "" };
            table.row(figures, format!("\"{}\"{more}", duplicate.start));
        }
        table.print(canvas);
    })
}
