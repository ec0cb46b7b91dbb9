//! `memtrail heap retained`: what a group of blocks and roots retains.

use std::process::ExitCode;

use memtrail_engine::question::{Family, RetainedQuestion};
use memtrail_heap::query::Retained;
use memtrail_text::rounded::{bytes, grouped};

use super::ask::ask_about;
use super::input::SnapshotArgs;
use super::table::{Table, outside};
use crate::canvas::{Canvas, STRONG};
use crate::error::{Failure, Kind};

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
    which: SnapshotArgs,
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
    let question = RetainedQuestion {
        kinds: args.kinds.clone(),
        roots: args.roots.clone(),
        blocks: args.blocks.clone(),
    };
    let which = &args.which;
    let subject = if question.is_of_one_snapshot() { which.only()? } else { which.subject()? };
    ask_about(&subject, which, &question, draw)
}

fn draw(canvas: &mut Canvas, retained: &Retained, family: Option<&Family<Retained>>) {
    if let Some(family) = family {
        let number = grouped(family.processes.len() as u64);
        canvas.line(&[(STRONG, &format!("in {number} processes"))]);
    }
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
