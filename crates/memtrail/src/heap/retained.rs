//! `memtrail heap retained`: what a group of blocks and roots retains.

use std::process::ExitCode;

use memtrail_engine::ApiError;
use memtrail_engine::question::named;
use memtrail_heap::query::{self, Retained, RetainedGroup};
use memtrail_text::rounded::{bytes, grouped};

use super::family;
use super::found::Found;
use super::input::{Input, Which};
use super::table::{Table, outside};
use crate::canvas::Canvas;
use crate::error::{Failure, Kind};
use crate::spinner::with_spinner;

/// Compute exactly what would be freed without a group of blocks or roots
///
/// Blocks, kinds of blocks and roots may be mixed; what several of them retain jointly
/// counts, too. `histogram` and `dominators` show what blocks retain one by one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail heap retained REC --kind string                all strings
  memtrail heap retained REC --root Cache --root Pool     two modules, and what they share
  memtrail heap retained REC --block 4711 --block 5813    two blocks")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: Which,
    /// All blocks of this kind, as `histogram` prints it; may be repeated
    #[arg(long = "kind", value_name = "NAME")]
    kinds: Vec<String>,
    /// This root, with all below it: its name as `roots` prints it, or its number; may be repeated
    #[arg(long = "root", value_name = "ROOT")]
    roots: Vec<String>,
    /// The block with this number; may be repeated
    #[arg(long = "block", value_name = "N")]
    blocks: Vec<u32>,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.kinds.is_empty() && args.roots.is_empty() && args.blocks.is_empty() {
        return Err(Failure::new(Kind::Usage, "retained by what?")
            .hint("name a --kind, a --root or a --block; several are one group"));
    }
    let is_of_one = !args.blocks.is_empty() || args.roots.iter().any(|root| named::is_number(root));
    match args.which.several()? {
        Some(members) if !is_of_one => family::retained(args, &members),
        _ => find(args, &args.which.open()?)?.put(&args.which.form, draw),
    }
}

/// What the group retains in a snapshot.
pub(super) fn find(args: &Args, input: &Input) -> Result<Found<Retained>, Failure> {
    let heap = input.typed_heap()?;
    let root_nodes = args.roots.iter().map(|root| named::root(&heap, root));
    let blocks = args.blocks.iter().map(|block| input.block(&heap, *block));
    let group = RetainedGroup {
        root_nodes: root_nodes.collect::<Result<_, ApiError>>()?,
        blocks: blocks.collect::<Result<_, _>>()?,
        kinds: args.kinds.clone(),
    };
    let retained = with_spinner("looking what can be reached without them".into(), || {
        query::retained(&heap, &group)
    })
    .map_err(|error| input.failure(&error))?;
    if retained.blocks == 0 && group.root_nodes.is_empty() && group.blocks.is_empty() {
        return Err(named::no_kind(&args.kinds.join("`, `")).into());
    }
    Ok(Found::new(input, &heap, retained))
}

pub(super) fn draw(canvas: &mut Canvas, retained: &Retained) {
    let mut table = Table::new(&["blocks", "size", "off-heap"], "");
    if retained.blocks > 0 {
        let figures = vec![
            grouped(retained.blocks),
            bytes(retained.bytes.0 as f64),
            outside(retained.external),
        ];
        table.row(figures, "the blocks themselves");
    }
    if retained.static_bytes.0 > 0 {
        let figures = vec![String::new(), bytes(retained.static_bytes.0 as f64)];
        table.faint(figures, "static data among them, which is never freed");
    }
    let figures =
        vec![String::new(), bytes(retained.retained.0 as f64), outside(retained.retained_external)];
    table.strong(figures, "retained: would be freed if they were gone");
    table.print(canvas);
}
