//! `memtrail snapshot --core`: reads the heap of an OCaml process from a core file.

mod executables;
mod input;
mod recording;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use memtrail_heap::write::{Facts, Written, write};
use memtrail_ocaml_snapshot as walk;
use memtrail_ocaml_snapshot::core_file::{CoreFile, CoreProcess, Unreadable};
use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason, unfinished_snapshot_name};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;
use crate::shell_quote;
use executables::Executables;
use input::CoreInput;
use recording::Destination;

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

/// The object that `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    pid: u32,
    path: &'a str,
    snapshot: &'a Snapshot,
    /// Facts that limit what the snapshot shows.
    notes: &'a [String],
}

pub(super) fn run(args: &CoreArgs<'_>) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let input = CoreInput::open(args.core)?;
    let core =
        CoreFile::parse(input.bytes()).map_err(|error| input::unreadable(args.core, &error))?;
    let executables = Executables::find(&core, args)?;
    let process = CoreProcess::open(&core, executables.program(), executables.contents())
        .map_err(|error| no_heap(args.core, error))?;
    let mut notes: Vec<String> = executables.notes().to_vec();
    notes.extend(process.notes().iter().cloned());
    let mut destination = Destination::choose(&core, &executables, args, input.written_unix_us())?;
    destination.create()?;
    let facts = destination.facts(&process);
    let (number, taken_unix_us) = (facts.number, facts.taken_at / 1000);
    let written = write_file(&process, &destination, facts, args.contents)?;
    let snapshot = Snapshot {
        number,
        file: memtrail_recording::snapshot_name(number),
        reason: SnapshotReason::Request,
        label: process.label().map(str::to_owned),
        taken_unix_us,
        outcome: SnapshotOutcome::Complete {
            pause_ns: 0,
            write_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            bytes: written.bytes,
            blocks: written.blocks,
            outside: written.outside,
        },
    };
    let file = destination.folder().join(&snapshot.file);
    destination.add(&process, &snapshot, &notes)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let path = file.to_string_lossy();
        let pid = core.program.pid;
        let answer = Answer { pid, path: &path, snapshot: &snapshot, notes: &notes };
        json::write(&mut out, &answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let size = bytes(written.bytes as f64);
    writeln!(out, "{}: {} blocks, {size}", file.display(), grouped(written.blocks))?;
    for note in &notes {
        message!("memtrail: {note}");
    }
    let next = if number > 1 { "leaks" } else { "heap roots" };
    message!("next: memtrail {next} {}", shell_quote::path(destination.folder()));
    Ok(ExitCode::SUCCESS)
}

fn no_heap(core: &Path, error: Unreadable) -> Failure {
    let failure = Failure::new(Kind::Input, format_args!("no heap in {}: {error}", core.display()));
    match error {
        Unreadable::NoSymbols => {
            failure.hint("name the executable before it was stripped: --core CORE EXE")
        }
        Unreadable::NoExecutable => failure.hint("name the program that ran: --core CORE EXE"),
        Unreadable::NoState => failure.hint(
            "the file is cut off, or the kernel was told to leave private memory out \
             (/proc/PID/coredump_filter)",
        ),
        _ => failure.hint(
            "memtrail reads core files of native programs of OCaml 4.12 to 4.14 and 5.1 to 5.3",
        ),
    }
}

/// Writes the snapshot under a name of its own, and gives it its real one when it is whole.
fn write_file(
    process: &CoreProcess<'_>,
    destination: &Destination,
    facts: Facts,
    contents: bool,
) -> Result<Written, Failure> {
    let number = facts.number;
    let part: PathBuf = destination.folder().join(unfinished_snapshot_name(number));
    let cannot = |error: std::io::Error| {
        Failure::new(Kind::Work, format_args!("cannot write {}: {error}", part.display()))
    };
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&part);
    let mut file = BufWriter::new(file.map_err(cannot)?);
    let view = process.view();
    let list = walk::roots(&view);
    let regions = walk::regions(&view);
    let facts = Facts { counters: walk::counters(&view), ..facts };
    let source = walk::source(&view, list, regions, facts, contents);
    let mut details = walk::RuntimeDetails::new(&view);
    let written = write(&mut file, &source, &mut details).and_then(|written| {
        file.flush()?;
        let name = memtrail_recording::snapshot_name(number);
        std::fs::rename(&part, destination.folder().join(name))?;
        Ok(written)
    });
    written.map_err(|error| {
        // Half a snapshot is none.
        let _ = std::fs::remove_file(&part);
        cannot(error)
    })
}
