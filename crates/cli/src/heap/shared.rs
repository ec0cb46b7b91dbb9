//! `memtrail heap shared`: what two roots have in common.

use std::process::ExitCode;

use memtrail_engine::question::SharedQuestion;
use memtrail_text::rounded::bytes;

use super::ask::ask_about;
use super::input::SnapshotArgs;
use super::table::Table;
use crate::error::Failure;

/// Show how much two roots have in common
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// A root's name as `roots` prints it (`Module / field 3`), a part of it that no other has, or
    /// its number
    a: String,
    /// Another
    b: String,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let question = SharedQuestion { roots: [args.a.clone(), args.b.clone()] };
    ask_about(&args.which.only()?, &args.which, &question, |canvas, shared, _| {
        let mut table = Table::new(&["size"], "reachable from");
        for (name, size) in shared.names.iter().zip(shared.reachable) {
            table.row(vec![bytes(size.0 as f64)], name.as_str());
        }
        table.strong(vec![bytes(shared.common.0 as f64)], "both");
        table.print(canvas);
    })
}
