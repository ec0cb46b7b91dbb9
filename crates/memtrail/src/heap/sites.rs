//! `memtrail heap sites`: whose blocks retain most.

use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_text::rounded::{bytes, grouped};
use serde_json::{Value, json};

use super::input::{Form, put};
use super::joined::WhichRecording;
use super::table::Table;
use crate::canvas::{FAINT, PLAIN, WARNING};
use crate::error::Failure;
use crate::limit::Limit;

/// List the allocation sites whose live blocks retain most memory
///
/// Here both halves of a recording meet: which calls allocated a block is in the trace, what it
/// retains is in the snapshot. Blocks are those that were sampled and are alive. What each retains
/// is exact; how many there are beside the sampled ones, `memtrail report` estimates.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichRecording,
    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    #[command(flatten)]
    form: Form,
}

/// What rows stand for.
#[derive(Clone, Copy, ValueEnum)]
enum By {
    Site,
    Function,
    Module,
    File,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let joined = args.which.open()?;
    let by = args.by.to_possible_value().map(|value| value.get_name().to_owned());
    let Limit(limit) = args.limit;
    let mut answer = joined.rows(json!({ "ask": "heapsamples", "by": by }), limit)?;
    let caveats = joined.caveats();
    let mark = caveats.mark();
    if !caveats.is_empty() {
        answer.insert("caveats".to_owned(), json!(caveats));
    }
    put(&args.form, joined.damage(&answer), &answer, |canvas| {
        let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
        if rows.is_empty() {
            canvas.line(&[(PLAIN, "none of the blocks that are alive was sampled")]);
            canvas.line(&[(FAINT, "a higher --rate of memtrail run samples more")]);
            return;
        }
        let headings = ["retained", "own size", "sampled", "block"];
        let mut table = Table::new(&headings, "allocated by");
        for row in rows {
            let size = |field: &str| bytes(row[field].as_f64().unwrap_or_default());
            let figures = vec![
                format!("{mark}{}", size("retained")),
                format!("{mark}{}", size("bytes")),
                format!("{mark}{}", grouped(row["blocks"].as_u64().unwrap_or_default())),
                row["example"].as_u64().map_or_else(String::new, |block| block.to_string()),
            ];
            table.row(figures, place(row));
        }
        table.print(canvas);
        let count = answer["count"].as_u64().unwrap_or_default();
        let left_out = count.saturating_sub(rows.len() as u64);
        if left_out > 0 {
            canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out)))]);
        }
        for sentence in caveats.sentences() {
            canvas.paragraph(WARNING, 2, &format!("note: {sentence}"));
        }
        canvas.line(&[(FAINT, "how one of them is held: memtrail heap block REC N")]);
    })?;
    joined.verdict()
}

/// `Leaks.Outbox.compose  leaks.ml:54`
pub(super) fn place(row: &Value) -> String {
    let name = row["name"].as_str().unwrap_or("(unknown)");
    match (row["file"].as_str(), row["line"].as_u64()) {
        (Some(file), Some(line)) if !file.is_empty() => format!("{name}  {file}:{line}"),
        _ => name.to_owned(),
    }
}
