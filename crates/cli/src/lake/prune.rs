//! `memtrail lake prune`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use memtrail_lake::compact;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;
use crate::sql::{check_lake, unreadable};

/// Remove recordings that began long ago from a lake
///
/// Whole days are removed, by the date of their partitions.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail lake prune --older-than 30d lake")]
pub(super) struct Args {
    /// Age of the recordings to remove, such as 30d
    #[arg(long, value_name = "TIME", value_parser = memtrail_text::duration)]
    older_than: Duration,

    /// A lake (the folder of memtrail export --format parquet)
    #[arg(value_name = "LAKE")]
    lake: PathBuf,

    /// Print what was removed as one JSON object
    #[arg(long)]
    json: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Removed {
    before: String,
    files: u64,
    bytes: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_lake(&args.lake)?;
    let age = SignedDuration::try_from(args.older_than).ok();
    let before = age
        .and_then(|age| Timestamp::now().checked_sub(age).ok())
        .ok_or_else(|| Failure::new(Kind::Usage, "nothing is that old").hint("--older-than 30d"))?;
    let before = before.strftime("%Y-%m-%d").to_string();
    let (files, size) = compact::prune(&args.lake, &before).map_err(unreadable)?;
    if args.json {
        json::print(&Removed { before, files, bytes: size })?;
    } else {
        message!(
            "memtrail: {}: {} files of recordings before {before} removed, {}",
            args.lake.display(),
            grouped(files),
            bytes(size as f64),
        );
    }
    Ok(ExitCode::SUCCESS)
}
