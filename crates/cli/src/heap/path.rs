//! `memtrail heap path`: the retaining paths of blocks.

use std::process::ExitCode;

use memtrail_engine::question::{
    BlocksOf, DisjointPathsQuestion, PathQuestion, PathShapes, PathShapesQuestion, RetainingPath,
};
use memtrail_heap::query::{DisjointPaths, FoldedContainer, Step};
use memtrail_text::rounded::{bytes, grouped};

use super::ask::find;
use super::input::SnapshotArgs;
use super::table::{Table, outside};
use super::title::{field_of, with_type};
use crate::answer::{Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::limit::Limit;

/// Show the retaining path of a block, or of a kind or type of blocks
///
/// Of a block: one path, over as few shared blocks as possible; with --all, disjoint paths, as many as
/// there are. The steps inside one container are one, unless --unfolded is given. Steps that are on every path have a star: cut one of these, and the block is freed. Of a
/// kind: the paths of blocks from all over the heap, grouped by shape; `…` marks several equal steps in
/// a row, `.(…)` elements of arrays.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["block", "kind", "type"]).required(true))]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// The block with this number, as `dominators` prints it
    #[arg(long, value_name = "N")]
    block: Option<u32>,
    /// Of a block: show disjoint paths, up to --limit. Each of them has to be cut to free the block
    #[arg(long, conflicts_with_all = ["kind", "type"])]
    all: bool,
    /// Blocks of this kind, as `histogram` prints it
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Blocks of this type, as `histogram` prints it without `~` and constructor
    #[arg(long = "type", value_name = "TYPE")]
    r#type: Option<String>,
    /// Of a block: show all steps inside hash tables, maps, sets, queues and lists, instead of one for each
    #[arg(long, conflicts_with_all = ["kind", "type"])]
    unfolded: bool,
    /// Look at so many blocks of the kind or type
    #[arg(long, value_name = "N", default_value = "500")]
    sample: usize,
    /// Maximum number of shapes, or paths; 0 for all
    #[arg(long, value_name = "N", default_value = "8")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    answer(args, Printer)
}

/// Gives the answer to a recipient.
pub(crate) fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let (unfolded, sample) = (args.unfolded, args.sample);
    let of = match (args.block, &args.kind, &args.r#type) {
        (Some(block), ..) if args.all => {
            let question = DisjointPathsQuestion { block, unfolded, limit };
            let found = find(&which.only()?, which, &question)?;
            return found.give(recipient, &which.form, |canvas, found, _| {
                draw_all(canvas, block, found);
            });
        }
        (Some(block), ..) => {
            let question = PathQuestion { block, unfolded };
            let found = find(&which.only()?, which, &question)?;
            return found.give(recipient, &which.form, |canvas, found, _| {
                draw_one(canvas, block, found);
            });
        }
        (None, _, Some(name)) => BlocksOf::Type(name.clone()),
        (None, kind, None) => BlocksOf::Kind(kind.clone().unwrap_or_default()),
    };
    let question = PathShapesQuestion { of, sample, limit };
    let found = find(&which.subject()?, which, &question)?;
    found.give(recipient, &which.form, |canvas, shapes, _| draw_shapes(canvas, shapes))
}

fn draw_shapes(canvas: &mut Canvas, shapes: &PathShapes) {
    let PathShapes { paths: merged, left_out, looked_at, blocks: there } = shapes;
    let text = if looked_at == there {
        format!("all {} blocks looked at", grouped(*there))
    } else {
        format!("{} of {} blocks looked at (--sample)", grouped(*looked_at), grouped(*there))
    };
    canvas.line(&[(PLAIN, &text)]);
    for path in merged {
        canvas.gap();
        let size = bytes(path.retained.0 as f64);
        let of = if looked_at == there { "" } else { " of those looked at" };
        let held = format!("{}{of} retained this way, {size}", grouped(path.blocks));
        let example = format!("  (one of them: --block {})", path.example.0);
        canvas.line(&[(STRONG, &held), (FAINT, &example)]);
        for (depth, step) in path.shape.iter().enumerate() {
            let indent = " ".repeat(2 + depth.min(canvas.width() / 4));
            canvas.line(&[(PLAIN, &indent), (PLAIN, step)]);
            if let Some(Some(by)) = path.allocated.get(depth) {
                canvas.line(&[(PLAIN, &indent), (FAINT, &format!("  {}", by.text()))]);
            }
        }
    }
    if *left_out > 0 {
        canvas.gap();
        canvas.line(&[(FAINT, &format!("… and {left_out} other shapes (--limit 0: all)"))]);
    }
}

fn draw_all(canvas: &mut Canvas, block: u32, found: &DisjointPaths) {
    for path in &found.paths {
        canvas.paragraph(STRONG, 2, &path.text);
        draw(canvas, &path.steps);
        canvas.gap();
    }
    let ways = match found.paths.len() {
        0 => nothing(block),
        1 if found.all => "one path: cut a step that has a star, and the block is freed".into(),
        ways if found.all => {
            format!("{ways} disjoint paths: each has to be cut to free the block")
        }
        ways => format!("{ways} disjoint paths, and more (--limit 0: all)"),
    };
    canvas.paragraph(PLAIN, 2, &ways);
}

fn draw_one(canvas: &mut Canvas, block: u32, RetainingPath { path }: &RetainingPath) {
    let Some(path) = path else {
        canvas.line(&[(PLAIN, &nothing(block))]);
        return;
    };
    canvas.paragraph(STRONG, 2, &path.text);
    canvas.gap();
    draw(canvas, &path.steps);
    let alone = |above: &[Step]| above.iter().any(|step| step.dominates);
    let text = if path.steps.split_last().is_some_and(|(_, above)| alone(above)) {
        "* on every path: cut there, and the block is freed"
    } else {
        "nothing above retains it alone: there are other paths (--all)"
    };
    canvas.paragraph(FAINT, 2, text);
}

fn nothing(block: u32) -> String {
    format!("nothing retains block {block}: it is not freed yet")
}

/// A retaining path, step by step.
fn draw(canvas: &mut Canvas, steps: &[Step]) {
    let mut table = Table::new(&["retained", "off-heap", "", "times"], "from the root down");
    for step in steps {
        let retained = step.retained.map_or_else(String::new, |size| bytes(size.0 as f64));
        let external = outside(step.retained_external);
        let times = if step.times > 1 { grouped(step.times) } else { String::new() };
        if step.dominates {
            table.strong(vec![retained, external, "*".into(), times], name(step));
        } else {
            table.row(vec![retained, external, String::new(), times], name(step));
        }
        if let Some(by) = &step.allocated {
            table.faint(Vec::new(), format!("  {}", by.text()));
        }
    }
    table.print(canvas);
}

/// What is in a container: `20,000 entries: keys 1.1 MiB, values 93 MiB`.
fn held(container: &FoldedContainer) -> String {
    let word = if container.entries == 1 { "entry" } else { "entries" };
    let values = format!("values {}", bytes(container.values.retained.0 as f64));
    let all = match container.keys {
        Some(keys) => format!("keys {}, {values}", bytes(keys.retained.0 as f64)),
        None => values,
    };
    format!("{} {word}: {all}", grouped(container.entries))
}

fn name(step: &Step) -> String {
    let field = field_of(step.field_name.as_deref(), step.field);
    let block = step.block.map_or_else(String::new, |block| format!("  (--block {})", block.0));
    if let Some(container) = &step.container {
        // The type is that of the variable, or of the field before; here the figures count.
        return format!("in {} of {}{block}", container.structure, held(container));
    }
    let name = with_type(&step.name, step.r#type.as_deref(), step.position.as_deref());
    format!("{name}{field}{block}")
}
