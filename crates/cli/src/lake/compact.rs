//! `memtrail lake compact`.

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_lake::compact::{self, Compacted};
use memtrail_lake::schema::Table;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use crate::error::Failure;
use crate::json;
use crate::sql::{check_lake, unreadable};

/// Make one file of those of each table and partition
///
/// Queries over many recordings open fewer files then. The rows stay the same. Files that an interrupted export left half
/// written are removed after a day. A recording that was compacted is not exported again: its rows are kept.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail lake compact lake
  memtrail lake compact --json lake")]
pub(super) struct Args {
    /// A lake (the folder of memtrail export --format parquet)
    #[arg(value_name = "LAKE")]
    lake: PathBuf,

    /// Print what was done as one JSON object
    #[arg(long)]
    json: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Done {
    files_before: u64,
    files_after: u64,
    bytes_before: u64,
    bytes_after: u64,
    unfinished_files_removed: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_lake(&args.lake)?;
    let removed = compact::remove_partial(&args.lake).map_err(unreadable)?;
    let mut sum = Compacted::default();
    for table in Table::ALL {
        sum += compact::table(&args.lake, table).map_err(unreadable)?;
    }
    let Compacted { files_before, files_after, bytes_before, bytes_after } = sum;
    if args.json {
        let unfinished_files_removed = removed;
        json::print(&Done {
            files_before,
            files_after,
            bytes_before,
            bytes_after,
            unfinished_files_removed,
        })?;
    } else {
        message!(
            "memtrail: {}: {} files, {}; before {} files, {}",
            args.lake.display(),
            grouped(files_after),
            bytes(bytes_after as f64),
            grouped(files_before),
            bytes(bytes_before as f64),
        );
    }
    Ok(ExitCode::SUCCESS)
}
