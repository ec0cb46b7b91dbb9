//! `memtrail cache`: the files that memtrail keeps for the next run.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;
use crate::run::{Cached, cached};

/// Remove what memtrail keeps in its cache
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Clean(Clean),
}

/// Remove all files of the cache that no process uses
///
/// The cache has the libraries that memtrail loads into programs, the programs with which it reads the types of
/// OCaml compilers, and the types that it found for programs. It is in the folder `$XDG_CACHE_HOME`, or in ~/.cache. memtrail removes old files by itself, and makes
/// again what it needs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail cache clean
  memtrail cache clean --json")]
struct Clean {
    /// Print what was removed as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let Command::Clean(args) = &args.command;
    clean(args)
}

/// The output of `--json`.
#[derive(Serialize)]
struct Cleaned<'a> {
    removed: Vec<File<'a>>,
    /// Files that a process uses.
    in_use: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a Path,
    bytes: u64,
}

impl<'a> File<'a> {
    fn of(cached: &'a Cached) -> Self {
        Self { path: &cached.path, bytes: cached.bytes }
    }
}

fn clean(args: &Clean) -> Result<ExitCode, Failure> {
    let files = cached()?;
    let (used, unused): (Vec<&Cached>, Vec<&Cached>) = files.iter().partition(|file| file.is_used);
    for file in &unused {
        match fs::remove_file(&file.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = file.path.display();
                return Err(Failure::new(
                    Kind::Work,
                    format_args!("cannot remove {path}: {error}"),
                ));
            }
            _ => {}
        }
    }
    if args.json {
        json::print(&Cleaned { removed: list(&unused), in_use: list(&used) })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "Removed {}.", words(&unused))?;
    if !used.is_empty() {
        writeln!(out, "In use, and kept: {}.", words(&used))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list<'a>(files: &[&'a Cached]) -> Vec<File<'a>> {
    files.iter().map(|&file| File::of(file)).collect()
}

fn words(files: &[&Cached]) -> String {
    let noun = if files.len() == 1 { "file" } else { "files" };
    let size: u64 = files.iter().map(|file| file.bytes).sum();
    format!("{} {noun}, {}", grouped(files.len() as u64), bytes(size as f64))
}
