//! `memtrail types`: names and types of a program's global variables.

mod counts;
mod coverage;
pub(crate) mod lookup;
mod plugins;
mod print;
mod problems;
mod search;
mod sibling;
mod subject;

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_types::compiler;

use crate::error::{Failure, Kind};
use crate::limit::Limit;
use crate::recording_source::{Need, Process};
pub(crate) use coverage::coverage;
use search::search;
use subject::Subject;

/// Name a program's global variables, and store the names in its recording
///
/// The compiler leaves .cmt and .cmi files in build folders and with installed libraries. memtrail
/// matches them with the program by digest: those of another build give no names. They are searched in
/// dune's _build folder above the program, the program's own folder, OCAMLPATH, the standard libraries of the
/// compilers on PATH and in opam's switches, and /usr/lib/ocaml. Their format differs from compiler to compiler,
/// so a small reader is built once with the compiler that made them.
///
/// Units that a recorded program loaded as plugins are named, too: .cmxs files are searched in the same folders,
/// and those that the program could not load are left out.
///
/// With a recording, the result is stored in it: `memtrail heap` then prints variables with their types and
/// positions, also on a machine without these files. Commands that print variables search once by themselves, if
/// nothing is stored; with `MEMTRAIL_TYPES=off` in the environment they do not.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a program
    #[arg(value_name = "REC|PROGRAM")]
    path: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Search this folder first, and the folders in it; can be repeated
    #[arg(long, value_name = "DIR")]
    types: Vec<PathBuf>,
    /// Read the files with this ocamlopt; can be repeated
    #[arg(long, value_name = "FILE")]
    compiler: Vec<PathBuf>,
    /// Read this copy of the program instead of the one that the recording names
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// List the variables of this unit
    #[arg(long, value_name = "NAME")]
    unit: Option<String>,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Columns to use instead of the terminal's
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    width: Option<u16>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let path = args.process.one(&args.path, Need::Snapshots)?;
    let subject = Subject::of(&path, args.program.as_deref())?;
    let map = match subject.open() {
        Ok(map) => map,
        // Somebody else's recording, or a program that was rebuilt: there is what was stored.
        Err(failure) => {
            let Some((types, path)) = subject.stored()? else { return Err(failure) };
            return print::print(args, &types, None, Some(&path));
        }
    };
    if let Some(folder) = args.types.iter().find(|folder| !folder.is_dir()) {
        return Err(Failure::new(Kind::Usage, format_args!("no folder {}", folder.display()))
            .hint("--types takes a folder with .cmt files, or with folders that have them"));
    }
    let (types, error) = search(&subject, &map, &args.types, &compiler::compilers(&args.compiler))?;
    let stored = subject.store(&types)?;
    print::print(args, &types, error.as_ref(), stored.as_deref())
}
