//! `memtrail heap path`: how a block is held.

use std::process::ExitCode;

use memtrail_heap::BlockIndex;
use memtrail_heap::query::{self, Step};

use super::input::Which;
use super::table::Table;
use crate::error::{Failure, Kind};
use crate::units::{bytes, grouped};

/// Shows how a block, or a kind of blocks, is held: from a root down to it
///
/// Of a block: one way, over as few shared blocks as there can be. Steps that all ways lead through
/// have a star: cut one of these, and the block is freed. Of a kind: ways to blocks from all over
/// the heap, those of the same shape together.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// The block with this number, as `dominators` prints it
    #[arg(long, value_name = "N", required_unless_present = "kind", conflicts_with = "kind")]
    block: Option<u32>,
    /// Blocks of this kind, as `histogram` prints it
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Look at so many blocks of the kind
    #[arg(long, value_name = "N", default_value = "500")]
    sample: usize,
    /// Print at most so many shapes
    #[arg(long, value_name = "N", default_value = "8")]
    limit: usize,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let failure = |error| input.failure(&error);
    if let Some(kind) = &args.kind {
        let (there, some) = query::sample(&heap, kind, args.sample).map_err(failure)?;
        if some.is_empty() {
            return Err(Failure::new(Kind::Usage, format_args!("nothing alive is a `{kind}`"))
                .hint("`memtrail heap histogram` prints the names of kinds"));
        }
        let merged = query::merged_paths(&heap, &some).map_err(failure)?;
        return input.answer(&heap, args.which.json, &merged, |out| {
            let looked_at = some.len() as u64;
            writeln!(out, "{} of {} blocks looked at", grouped(looked_at), grouped(there))?;
            for path in merged.iter().take(args.limit) {
                writeln!(
                    out,
                    "\n{} held so (one of them: --block {})",
                    grouped(path.blocks),
                    path.example.0
                )?;
                for (depth, step) in path.shape.iter().enumerate() {
                    writeln!(out, "{}{step}", " ".repeat(2 + depth.min(30)))?;
                }
            }
            if merged.len() > args.limit {
                writeln!(out, "\n… and {} other shapes", merged.len() - args.limit)?;
            }
            Ok(())
        });
    }
    let block = BlockIndex(args.block.unwrap_or_default());
    if block.0 >= heap.snapshot.blocks() {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("no block {}: the snapshot has {}", block.0, heap.snapshot.blocks()),
        ));
    }
    let path = query::path(&heap, block).map_err(failure)?;
    input.answer(&heap, args.which.json, &path, |out| {
        let Some(path) = &path else {
            return writeln!(out, "nothing keeps block {} alive: it is not freed yet", block.0);
        };
        let mut table = Table::new(&["retained", "", "times"], "");
        for step in &path.steps {
            let retained = step.retained.map_or_else(String::new, |size| bytes(size.0 as f64));
            let star = if step.dominates { "*" } else { "" };
            let times = if step.times > 1 { grouped(step.times) } else { String::new() };
            table.row(vec![retained, star.into(), times], name(step));
        }
        table.print(out)
    })
}

fn name(step: &Step) -> String {
    let field = step.field.map_or_else(String::new, |field| format!(" .{field}"));
    let block = step.block.map_or_else(String::new, |block| format!("  (--block {})", block.0));
    format!("{}{field}{block}", step.name)
}
