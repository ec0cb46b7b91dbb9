//! `memtrail sql`: asks a lake, or a recording, with the user's `duckdb`.

mod duckdb;
mod views;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_lake::footer;
use memtrail_lake::schema::Table;
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::export::lake::{Options, export};
use crate::json;
use crate::recording_source::Process;
use crate::snapshot_file::MemoryArgs;

/// Ask a lake of recordings, or one recording, with SQL
///
/// Runs `duckdb`, which must be installed, with a view for each table. Tables are `recordings`, `frames`, `callstacks`,
/// `samples`, `live_series`, `heap_types`, `heap_owners` and `suspects`. A lake that was exported with --blocks also has
/// `blocks`, `heap_blocks`, `heap_edges` and `heap_roots`. The guide "Many processes, with SQL" lists their columns. Without
/// a query it opens the prompt of `duckdb`.
///
/// A recording is exported into a temporary lake first, with the tables of blocks.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail export --format parquet -o lake *.memtrail
  memtrail sql lake 'select service_name, owner_name, growth_per_second from suspects'
  memtrail sql --json lake 'select count(*) from recordings'
  memtrail sql server-4711.memtrail 'select type_name, size from heap_types limit 5'")]
pub(crate) struct Args {
    /// A lake (the folder of memtrail export --format parquet), or a recording (NAME.memtrail)
    #[arg(value_name = "LAKE|REC")]
    path: PathBuf,

    /// The query; without one, the prompt of `duckdb`
    #[arg(value_name = "SQL")]
    query: Option<String>,

    /// Print the rows as one JSON object
    #[arg(long, requires = "query")]
    json: bool,

    #[command(flatten)]
    process: Process,

    #[command(flatten)]
    memory: MemoryArgs,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Rows {
    /// Rows of the last statement.
    rows: Vec<serde_json::Value>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let duckdb = duckdb::find()?;
    if is_lake(&args.path) {
        return ask(args, &duckdb, &args.path);
    }
    let cannot = |error: std::io::Error| {
        Failure::new(Kind::Work, format_args!("cannot create a temporary lake: {error}"))
    };
    let folder = tempfile::tempdir().map_err(cannot)?;
    let lake = folder.path().join("lake");
    let options = Options { lake: &lake, blocks: true, redact: false, memory: args.memory };
    let (report, code) = export(std::slice::from_ref(&args.path), args.process, options)?;
    if report.is_empty() {
        return Ok(code);
    }
    let asked = ask(args, &duckdb, &lake)?;
    Ok(if asked == ExitCode::SUCCESS { code } else { asked })
}

/// Refuses a folder that is no lake.
pub(crate) fn check_lake(path: &Path) -> Result<(), Failure> {
    if is_lake(path) {
        return Ok(());
    }
    Err(Failure::new(Kind::Input, format_args!("{} is no lake", path.display()))
        .hint("memtrail export --format parquet -o LAKE REC makes one"))
}

/// True for a folder with a folder of recordings' rows.
fn is_lake(path: &Path) -> bool {
    path.join(Table::Recordings.name()).is_dir()
}

fn ask(args: &Args, duckdb: &Path, lake: &Path) -> Result<ExitCode, Failure> {
    let lake = std::path::absolute(lake).map_err(|error| {
        Failure::new(Kind::Work, format_args!("there is no current folder: {error}"))
    })?;
    for table in Table::ALL {
        for file in footer::files(&lake, table).map_err(unreadable)? {
            footer::check(&file).map_err(unreadable)?;
        }
    }
    let text = lake.to_str().ok_or_else(|| {
        let message = format_args!("{}: the path is not UTF-8", lake.display());
        Failure::new(Kind::Usage, message).hint("rename the folder")
    })?;
    let views = views::of(&lake, text).map_err(unreadable)?;
    let Some(query) = &args.query else { return duckdb::prompt(duckdb, &views) };
    if !args.json {
        return duckdb::print(duckdb, &views, query);
    }
    let (rows, code) = duckdb::rows(duckdb, &views, query)?;
    if code == ExitCode::SUCCESS {
        json::print(&Rows { rows })?;
    }
    Ok(code)
}

/// The error about a file of a lake.
pub(crate) fn unreadable(error: memtrail_lake::error::Error) -> Failure {
    use memtrail_lake::error::Error;
    let hint = match &error {
        Error::TooNew { .. } => "read it with a newer memtrail",
        Error::Damaged { .. } | Error::Foreign { .. } => {
            "remove the file, and export its recording again"
        }
        _ => "is that a lake? memtrail export --format parquet -o LAKE REC makes one",
    };
    Failure::new(Kind::Input, error).hint(hint)
}
