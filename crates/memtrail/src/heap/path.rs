//! `memtrail heap path`: the retaining paths of blocks.

use std::process::ExitCode;

use memtrail_engine::question::named;
use memtrail_heap::BlockIndex;
use memtrail_heap::Bytes;
use memtrail_heap::query::{self, FoldedContainer, Heap, MergedPath, Path, Step};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::allocated;
use super::found::{Found, of_each};
use super::input::{Input, Which};
use super::recognised::{Recognised, recognise};
use super::table::{Table, outside};
use super::title::{field_of, with_type};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::limit::Limit;
use crate::spinner::with_spinner;

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
    which: Which,
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
    let Limit(limit) = args.limit;
    let Some(block) = args.block else {
        return of_each(&args.which, |input| shapes(args, input), Shapes::size, draw_shapes);
    };
    let input = args.which.open()?;
    let heap = input.typed_heap()?;
    let block = input.block(&heap, block)?;
    if args.all { all(args, &input, &heap, block, limit) } else { one(args, &input, &heap, block) }
}

/// Paths of some blocks of a kind or type, by shape.
#[derive(Serialize)]
struct Shapes {
    paths: Vec<MergedPath>,
    /// Shapes that `--limit` left out.
    left_out: usize,
    /// Blocks whose paths were looked at.
    looked_at: u64,
    /// Blocks of the kind or type.
    blocks: u64,
    /// Size that all of these paths retain.
    #[serde(skip)]
    retained: Bytes,
}

/// The path of a block; nothing retains some.
#[derive(Serialize)]
struct OnePath {
    #[serde(flatten)]
    path: Option<Path>,
}

impl Shapes {
    fn size(&self) -> Bytes {
        self.retained
    }
}

fn shapes(args: &Args, input: &Input) -> Result<Found<Shapes>, Failure> {
    let mut heap = input.typed_heap()?;
    let (there, some) = match (&args.kind, &args.r#type) {
        (_, Some(name)) => of_type(args, input, &heap, name)?,
        (kind, None) => of_kind(args, input, &mut heap, kind.as_deref().unwrap_or_default())?,
    };
    let mut paths = query::merged_paths(&heap, &some).map_err(|error| input.failure(&error))?;
    allocated::name_merged(&mut paths, input, &heap)?;
    let retained = paths.iter().map(|path| path.retained).sum();
    let Limit(limit) = args.limit;
    let left_out = paths.split_off(paths.len().min(limit)).len();
    let looked_at = some.len() as u64;
    let answer = Shapes { paths, left_out, looked_at, blocks: there, retained };
    Ok(Found::new(input, &heap, answer))
}

/// Some blocks of a kind, and how many there are.
fn of_kind(
    args: &Args,
    input: &Input,
    heap: &mut Heap<'_>,
    kind: &str,
) -> Result<(u64, Vec<BlockIndex>), Failure> {
    let failure = |error| input.failure(&error);
    let (mut there, mut some) = query::sample(heap, kind, args.sample).map_err(failure)?;
    if some.is_empty() {
        // All blocks of a kind may have types; `histogram --by kind` prints it all the same.
        let types = std::mem::take(&mut heap.types);
        (there, some) = query::sample(heap, kind, args.sample).map_err(failure)?;
        heap.types = types;
    }
    if some.is_empty() {
        return Err(named::no_kind(kind).into());
    }
    Ok((there, some))
}

/// Some blocks of a type, and how many there are.
fn of_type(
    args: &Args,
    input: &Input,
    heap: &Heap<'_>,
    name: &str,
) -> Result<(u64, Vec<BlockIndex>), Failure> {
    let (there, some) =
        query::sample_of_type(heap, name, args.sample).map_err(|error| input.failure(&error))?;
    if some.is_empty() {
        return Err(named::no_type(name).into());
    }
    Ok((there, some))
}

fn draw_shapes(canvas: &mut Canvas, shapes: &Shapes) {
    let Shapes { paths: merged, left_out, looked_at, blocks: there, .. } = shapes;
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

/// The disjoint paths of a block.
fn all(
    args: &Args,
    input: &Input,
    heap: &Heap<'_>,
    block: BlockIndex,
    limit: usize,
) -> Result<ExitCode, Failure> {
    let mut found =
        with_spinner("looking for paths".into(), || query::disjoint_paths(heap, block, limit))
            .map_err(|error| input.failure(&error))?;
    fold(args, input, heap, &mut found.paths)?;
    allocated::name_steps(&mut found.paths, input, heap)?;
    input.answer(heap, &args.which.form, &found, |canvas| {
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
    })
}

/// One path of a block.
fn one(
    args: &Args,
    input: &Input,
    heap: &Heap<'_>,
    block: BlockIndex,
) -> Result<ExitCode, Failure> {
    let mut path = query::path(heap, block).map_err(|error| input.failure(&error))?;
    fold(args, input, heap, path.as_mut_slice())?;
    allocated::name_steps(path.as_mut_slice(), input, heap)?;
    let answer = OnePath { path };
    input.answer(heap, &args.which.form, &answer, |canvas| {
        let Some(path) = &answer.path else {
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
    })
}

/// Makes one step of those inside a container, unless all are wanted.
fn fold(args: &Args, input: &Input, heap: &Heap<'_>, paths: &mut [Path]) -> Result<(), Failure> {
    if args.unfolded || !query::may_fold(heap, paths) {
        return Ok(());
    }
    let Recognised { structures, catalogue, .. } = &recognise(input, heap)?;
    query::fold_containers(heap, structures, catalogue, paths);
    Ok(())
}

fn nothing(block: BlockIndex) -> String {
    format!("nothing retains block {}: it is not freed yet", block.0)
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
