//! `memtrail heap block`: all that is known of one block.

use std::process::ExitCode;

use memtrail_text::rounded::{bytes, grouped};
use serde_json::{Map, Value, json};

use super::input::{Form, put};
use super::joined::WhichRecording;
use super::sites::place;
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::limit::Limit;

/// Show one block: its allocation site, its references in both directions, what it retains
///
/// The calls are known of blocks that were sampled; `memtrail heap sites` lists such blocks. The
/// way from a root has a star at steps that all ways lead through: cut there, it is freed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichRecording,
    /// The block's number, as other heap commands print it for the same snapshot
    #[arg(value_name = "N")]
    block: u32,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "12")]
    limit: Limit,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let joined = args.which.open()?;
    let Limit(limit) = args.limit;
    let mut answer = joined.ask(json!({ "ask": "heapblock", "block": args.block }))?;
    let below = &answer["dominates"];
    let (told, count) = (rows(&below["rows"]).len(), below["count"].as_u64().unwrap_or_default());
    if told < limit && (told as u64) < count {
        // The answer about a block has the first of them only.
        let ask = json!({ "ask": "heapchildren", "node": answer["node"] });
        let mut all = joined.rows(ask, limit)?;
        answer["dominates"]["rows"] = all["rows"].take();
    }
    put(&args.form, joined.damage(&answer), &answer, |canvas| draw(canvas, &answer, limit))?;
    joined.verdict()
}

fn size(row: &Value) -> String {
    row.as_f64().map_or_else(String::new, bytes)
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn draw(canvas: &mut Canvas, block: &Map<String, Value>, limit: usize) {
    let kind = block["kind"].as_str().unwrap_or_default();
    canvas.line(&[
        (PLAIN, "block "),
        (PLAIN, &block["block"].to_string()),
        (STRONG, "  "),
        (STRONG, kind),
    ]);
    let outside = match block["external"].as_f64() {
        Some(0.0) => String::new(),
        Some(external) => format!(", {} off-heap", bytes(external)),
        None => ", an unknown size off-heap".to_owned(),
    };
    let about =
        format!("{} itself{outside}, retains {}", size(&block["size"]), size(&block["retained"]));
    canvas.line(&[(PLAIN, &about)]);
    if let Some(text) = block["text"].as_str() {
        canvas.line(&[(FAINT, &format!("{text:?}"))]);
    }
    allocated(canvas, &block["sample"], limit);
    held(canvas, block);
    let below = &block["dominates"];
    if !rows(&below["rows"]).is_empty() {
        canvas.gap();
        canvas.line(&[(STRONG, "keeps alive")]);
        let mut table = Table::new(&["retained", "blocks"], "");
        for row in rows(&below["rows"]).iter().take(limit) {
            let figures =
                vec![size(&row["retained"]), grouped(row["blocks"].as_u64().unwrap_or(1))];
            table.row(figures, row["name"].as_str().unwrap_or_default());
        }
        table.print(canvas);
        let count = below["count"].as_u64().unwrap_or_default();
        let left_out = count.saturating_sub(limit as u64);
        if left_out > 0 {
            canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out)))]);
        }
    }
    let number = |field: &str| grouped(block[field]["count"].as_u64().unwrap_or_default());
    canvas.gap();
    let pointers = format!(
        "points to {} blocks, {} point to it",
        number("references"),
        number("referenced_by")
    );
    canvas.line(&[(FAINT, &pointers)]);
}

/// Which calls allocated it, innermost first.
fn allocated(canvas: &mut Canvas, sample: &Value, limit: usize) {
    let frames = rows(&sample["frames"]);
    canvas.gap();
    if frames.is_empty() {
        canvas.line(&[(FAINT, "which calls allocated it is not known: it was not sampled")]);
        return;
    }
    let time = sample["time"].as_f64().unwrap_or_default();
    canvas.line(&[(STRONG, "allocated"), (PLAIN, &format!(" {time:.3} s after the start by"))]);
    for frame in frames.iter().take(limit) {
        canvas.line(&[(PLAIN, "  "), (PLAIN, &place(frame))]);
    }
    if frames.len() > limit {
        let more = format!(
            "  … called from {} more (--limit 0: all)",
            grouped((frames.len() - limit) as u64)
        );
        canvas.line(&[(FAINT, &more)]);
    }
}

/// The way from a root down to it.
fn held(canvas: &mut Canvas, block: &Map<String, Value>) {
    canvas.gap();
    if block["reachable"] == Value::Bool(false) {
        canvas.line(&[(PLAIN, "nothing keeps it alive: it is not freed yet")]);
        return;
    }
    canvas.line(&[(STRONG, "held by")]);
    let mut table = Table::new(&["retained", "", "times"], "");
    for step in rows(&block["path"]) {
        let times = step["times"].as_u64().filter(|times| *times > 1);
        let field = step["field"].as_u64().map_or_else(String::new, |field| format!(" .{field}"));
        let star = if step["dominates"] == Value::Bool(true) { "*" } else { "" };
        let figures =
            vec![size(&step["retained"]), star.into(), times.map_or_else(String::new, grouped)];
        table.row(figures, format!("{}{field}", step["name"].as_str().unwrap_or_default()));
    }
    table.print(canvas);
}
