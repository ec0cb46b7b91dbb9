//! `memtrail heap block`: all that is known of one block.

use std::process::ExitCode;

use memtrail_engine::heap::{BlockResponse, ChildRow};
use memtrail_engine::query::{HeapBlock, HeapChildren};
use memtrail_heap::Bytes;
use memtrail_text::rounded::{bytes, grouped};

use super::joined::RecordingArgs;
use super::sites::place;
use super::table::Table;
use super::title::{field_of, with_type};
use crate::answer::{OutputArgs, put};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};

/// Show one block: its allocation site, its references in both directions, what it retains
///
/// The calls are known of blocks that were sampled; `memtrail heap sites` lists such blocks. The
/// retaining path has a star at steps that are on every path: cut there, the block is freed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: RecordingArgs,
    /// The block's number, as other heap commands print it for the same snapshot
    #[arg(value_name = "N")]
    block: u32,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "12")]
    limit: Limit,
    #[command(flatten)]
    form: OutputArgs,
}

/// Kinds of memory outside the heap begin so.
const OFF_HEAP: &str = "off-heap ";

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let joined = args.which.open()?;
    let Limit(limit) = args.limit;
    let (rec, snapshot) = joined.ids();
    let mut answer = joined
        .query(|engine| engine.heap_block(&HeapBlock { rec, snapshot, block: args.block }))?;
    let below = &mut answer.response.dominates;
    if below.rows.len() < limit && (below.rows.len() as u64) < below.count {
        // The answer about a block has the first of them only.
        let node = &answer.response.node;
        let all = joined.rows(
            limit,
            |engine, offset, limit| {
                let (node, children) = (node.clone(), HeapChildren::default());
                engine.heap_children(&HeapChildren {
                    rec,
                    snapshot,
                    node,
                    offset,
                    limit,
                    ..children
                })
            },
            |children| (&mut children.rows, children.count),
        )?;
        answer.response.dominates.rows = all.response.rows;
    }
    put(&args.form, joined.damage(&answer), &answer.response, |canvas| {
        draw(canvas, &answer.response, limit);
    })?;
    joined.verdict()
}

fn size(size: Bytes) -> String {
    bytes(size.0 as f64)
}

fn draw(canvas: &mut Canvas, block: &BlockResponse, limit: usize) {
    canvas.line(&[
        (PLAIN, "block "),
        (PLAIN, &block.block.0.to_string()),
        (STRONG, "  "),
        (STRONG, &block.kind),
    ]);
    let outside = match block.external {
        Some(Bytes(0)) => String::new(),
        Some(external) => format!(", {} off-heap", size(external)),
        None => ", an unknown size off-heap".to_owned(),
    };
    let about = format!("{} itself{outside}, retains {}", size(block.size), size(block.retained));
    canvas.line(&[(PLAIN, &about)]);
    if let Some(text) = &block.text {
        canvas.line(&[(FAINT, &format!("{text:?}"))]);
    }
    allocated(canvas, block, limit);
    held(canvas, block);
    let below = &block.dominates;
    if !below.rows.is_empty() {
        canvas.gap();
        canvas.line(&[(STRONG, "retains")]);
        let mut table = Table::new(&["retained", "blocks"], "");
        for ChildRow { child, .. } in below.rows.iter().take(limit) {
            let figures = vec![size(child.retained), grouped(child.blocks)];
            table.row(figures, child.name.as_str());
        }
        table.print(canvas);
        draw_left_out(canvas, below.count.saturating_sub(limit as u64) as usize, "");
    }
    canvas.gap();
    if block.kind.starts_with(OFF_HEAP) {
        let views = grouped(block.referenced_by.count);
        canvas.line(&[(FAINT, &format!("freed with the last of {views} blocks that share it"))]);
        return;
    }
    let pointers = format!(
        "points to {} blocks, {} point to it",
        grouped(block.references.count),
        grouped(block.referenced_by.count)
    );
    canvas.line(&[(FAINT, &pointers)]);
}

/// Which calls allocated it, innermost first.
fn allocated(canvas: &mut Canvas, block: &BlockResponse, limit: usize) {
    canvas.gap();
    let Some(sample) = block.sample.as_ref().filter(|sample| !sample.frames.is_empty()) else {
        canvas.line(&[(FAINT, "which calls allocated it is not known: it was not sampled")]);
        if let Some(by) = &block.allocated {
            canvas.line(&[(PLAIN, &format!("blocks like it: {}", by.text()))]);
        }
        return;
    };
    let (time, frames) = (sample.time, &sample.frames);
    canvas.line(&[(STRONG, "allocated"), (PLAIN, &format!(" {time:.3} s after the start by"))]);
    for frame in frames.iter().take(limit) {
        let name = frame.name.as_deref().unwrap_or("(unknown)");
        let place = place(name, Some(&frame.file), Some(frame.line));
        canvas.line(&[(PLAIN, "  "), (PLAIN, &place)]);
    }
    if frames.len() > limit {
        let more = format!(
            "  … called from {} more (--limit 0: all)",
            grouped((frames.len() - limit) as u64)
        );
        canvas.line(&[(FAINT, &more)]);
    }
}

/// The retaining path, from a root down to it.
fn held(canvas: &mut Canvas, block: &BlockResponse) {
    canvas.gap();
    if !block.reachable {
        canvas.line(&[(PLAIN, "nothing retains it: it is not freed yet")]);
        return;
    }
    canvas.line(&[(STRONG, "retained by")]);
    let mut table = Table::new(&["retained", "", "times"], "");
    for step in &block.path {
        let times = if step.times > 1 { grouped(step.times) } else { String::new() };
        let field = field_of(step.field_name.as_deref(), step.field);
        let star = if step.dominates { "*" } else { "" };
        let figures = vec![step.retained.map_or_else(String::new, size), star.into(), times];
        let name = with_type(&step.name, step.r#type.as_deref(), step.position.as_deref());
        table.row(figures, format!("{name}{field}"));
    }
    table.print(canvas);
}
