//! Arguments of `memtrail types`.

use std::path::PathBuf;

use crate::limit::Limit;
use crate::recording_source::Process;

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
    pub(super) path: PathBuf,
    #[command(flatten)]
    pub(super) process: Process,
    /// Search this folder first, and the folders in it; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(super) types: Vec<PathBuf>,
    /// Read the files with this ocamlopt; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) compiler: Vec<PathBuf>,
    /// Read this copy of the program instead of the one that the recording names
    #[arg(long, value_name = "FILE")]
    pub(super) program: Option<PathBuf>,
    /// List the variables of this unit
    #[arg(long, value_name = "NAME")]
    pub(super) unit: Option<String>,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Columns to use instead of the terminal's
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    pub(super) width: Option<u16>,
}
