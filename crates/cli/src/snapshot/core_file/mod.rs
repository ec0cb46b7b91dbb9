//! `memtrail snapshot --core`: reads the heap of an OCaml process from a core file.

mod input;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use memtrail_ocaml_snapshot::core_file::{CoreFile, CoreProcess, Limit};

use super::outside::{BytecodeFile, Executables, Places, Source, Taken, no_heap, save};
use crate::error::Failure;
use input::CoreInput;

/// A core file and its options on the command line.
pub(super) struct CoreArgs<'a> {
    pub(super) core: &'a Path,
    /// The program's file, if it is not where the core file says.
    pub(super) executable: Option<&'a Path>,
    /// Folder below which files of the process are.
    pub(super) sysroot: Option<&'a Path>,
    pub(super) output: Option<&'a Path>,
    pub(super) contents: bool,
    pub(super) json: bool,
}

pub(super) fn run(args: &CoreArgs<'_>) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let source = Source::CoreFile(args.core);
    let input = CoreInput::open(args.core)?;
    let core =
        CoreFile::parse(input.bytes()).map_err(|error| input::unreadable(args.core, &error))?;
    let places = Places { program: args.executable, root: args.sysroot };
    let executables = Executables::find(&core, source, &places)?;
    let opened = CoreProcess::open(&core, executables.program(), executables.contents());
    let opened = opened.map_err(|error| no_heap(source, error))?;
    let bytecode = BytecodeFile::open(&opened, args.sysroot, None);
    let mut process = opened;
    let nameless = bytecode.as_ref().and_then(|file| file.add_to(&mut process));
    let mut notes: Vec<String> = executables.notes().to_vec();
    notes.extend(nameless);
    notes.extend(process.notes().iter().cloned());
    save(&Taken {
        source,
        core: &core,
        executables: &executables,
        process: &process,
        bytecode: bytecode.as_ref().map(BytecodeFile::path),
        at_unix_us: input.written_unix_us(),
        began_unix_us: None,
        pause: None,
        begun,
        label: process.limit().map(label),
        notes,
        output: args.output,
        contents: args.contents,
        json: args.json,
    })
}

/// A name for a snapshot that does not show all, or more than the program retained.
fn label(limit: Limit) -> &'static str {
    match limit {
        Limit::Truncated => "truncated core file",
        Limit::Collects => "core file written in a minor collection",
        Limit::Registers => "core file with registers as roots",
    }
}
