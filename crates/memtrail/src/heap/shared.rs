//! `memtrail heap shared`: what two roots have in common.

use std::process::ExitCode;

use memtrail_engine::question::named;
use memtrail_heap::query;
use memtrail_text::rounded::bytes;

use super::input::Which;
use super::table::Table;
use crate::error::Failure;

/// Show how much two roots have in common
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// A root's name as `roots` prints it (`Module / field 3`), a part of it that no other has, or
    /// its number
    a: String,
    /// Another
    b: String,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let shared = query::shared(&heap, named::root(&heap, &args.a)?, named::root(&heap, &args.b)?);
    input.answer(&heap, &args.which.form, &shared, |canvas| {
        let mut table = Table::new(&["size"], "reachable from");
        for (name, size) in shared.names.iter().zip(shared.reachable) {
            table.row(vec![bytes(size.0 as f64)], name.as_str());
        }
        table.strong(vec![bytes(shared.common.0 as f64)], "both");
        table.print(canvas);
    })
}
