//! Writes the snapshot of a process, adds it to a recording, and prints what was done.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use memtrail_heap::write::{Facts, Written, write};
use memtrail_ocaml_snapshot as walk;
use memtrail_ocaml_snapshot::core_file::CoreProcess;
use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason, unfinished_snapshot_name};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::recording::Destination;
use super::taken::Taken;
use crate::error::{Failure, Kind};
use crate::{json, shell_quote};

/// The object that `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    pid: u32,
    path: &'a str,
    snapshot: &'a Snapshot,
    /// Facts that limit what the snapshot shows.
    notes: &'a [String],
}

/// Writes the snapshot into a new recording, or behind the others of its process.
pub(in crate::snapshot) fn save(taken: &Taken<'_>) -> Result<ExitCode, Failure> {
    let Taken { process, notes, .. } = taken;
    let mut destination = Destination::choose(taken)?;
    destination.create()?;
    let facts = destination.facts(taken);
    let number = facts.number;
    let written = write_file(process, &destination, facts, taken.contents)?;
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let snapshot = Snapshot {
        number,
        file: memtrail_recording::snapshot_name(number),
        reason: SnapshotReason::Request,
        label: taken.label.map(str::to_owned),
        taken_unix_us: taken.at_unix_us,
        outcome: SnapshotOutcome::Complete {
            pause_ns: taken.pause.map_or(0, nanoseconds),
            write_ns: nanoseconds(taken.begun.elapsed()),
            bytes: written.bytes,
            blocks: written.blocks,
            outside: written.outside,
        },
    };
    let file = destination.folder().join(&snapshot.file);
    destination.add(process, &snapshot, notes)?;
    let mut out = std::io::stdout().lock();
    if taken.json {
        let path = file.to_string_lossy();
        let pid = taken.core.program.pid;
        let answer = Answer { pid, path: &path, snapshot: &snapshot, notes };
        json::write(&mut out, &answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let size = bytes(written.bytes as f64);
    write!(out, "{}: {} blocks, {size}", file.display(), grouped(written.blocks))?;
    if let Some(pause) = taken.pause {
        write!(out, "; the program paused for {:.1} ms", pause.as_secs_f64() * 1e3)?;
    }
    writeln!(out)?;
    for note in notes {
        message!("memtrail: {note}");
    }
    let next = if number > 1 { "leaks" } else { "heap roots" };
    message!("next: memtrail {next} {}", shell_quote::path(destination.folder()));
    Ok(ExitCode::SUCCESS)
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
