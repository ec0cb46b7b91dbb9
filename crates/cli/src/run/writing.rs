//! Snapshots that were being written when their process ended: its frozen copies go on by themselves,
//! also when it was killed. They are waited for, and listed.

use std::fs;
use std::path::Path;

use memtrail_heap::Facts;
use memtrail_heap::read::{Peek, Snapshot as HeapFile};
use memtrail_order::SortRows as _;
use memtrail_recording::{
    Description, Outcome, Snapshot, SnapshotOutcome, SnapshotReason, has_no_last_snapshot,
    number_of_snapshot, number_of_unfinished_snapshot,
};
use memtrail_text::rounded::bytes as as_bytes;

use crate::{next_commands, outcome, references};

/// The program noticed by itself that a snapshot is forbidden.
const UNDER_A_FILTER: &str =
    "the program forbade itself system calls that a snapshot needs (seccomp)";
/// Nothing in the recording tells which of these it was.
const UNSEEN_END: &str = "the program ended without the agent being told: by a system call, by quick_exit, or because \
    a seccomp filter forbids what a snapshot needs";

/// Waits for all copies that write into a recording, and notes what is not noted yet.
pub(super) fn finish(folder: &Path, description: &mut Description) {
    let begun = |name: &String| {
        number_of_snapshot(name).or_else(|| number_of_unfinished_snapshot(name)).is_some()
    };
    // A program may take some of its own accord.
    if description.snapshots.is_none() && !entries(folder).any(|name| begun(&name)) {
        return;
    }
    let listed = description.snapshots.get_or_insert_default();
    let unfinished: Vec<_> = entries(folder)
        .filter_map(|name| Some((number_of_unfinished_snapshot(&name)?, name)))
        .filter(|(_, name)| !is_finished(&folder.join(name)))
        .collect();
    for (number, name) in unfinished {
        // Its writer is gone and has not removed it.
        let facts = facts(&folder.join(&name)).unwrap_or_default();
        let _ = fs::remove_file(folder.join(&name));
        if listed.iter().any(|snapshot| snapshot.number == number) {
            continue;
        }
        listed.push(Snapshot {
            number,
            file: memtrail_recording::snapshot_name(number),
            reason: facts.reason.unwrap_or(SnapshotReason::Request),
            label: None,
            taken_unix_us: facts.taken_at / 1000,
            outcome: SnapshotOutcome::Failed { reason: "its writer was killed".into() },
        });
    }
    for name in entries(folder) {
        let Some(number) = number_of_snapshot(&name) else { continue };
        if listed.iter().all(|snapshot| snapshot.number != number) {
            listed.extend(look(folder, number, name));
        }
    }
    listed.sort_rows_by_key(|snapshot| snapshot.number);
}

/// Notes that there is no snapshot at the end of a program which a signal killed. None of its code ran then, and to change
/// that the agent would have to handle the program's signals. A native program may also end without the agent being told.
pub(super) fn note_missing_last(description: &mut Description, takes_requests: bool) {
    if has_no_last_snapshot(description) {
        return;
    }
    let reason = match description.outcome {
        Some(Outcome::Killed { signal }) => format!(
            "signal {signal} killed the program, which then does nothing more; {}",
            next_commands::before_a_kill(takes_requests)
        ),
        Some(Outcome::Exited { .. }) if description.runtime.is_native() => {
            let has_filter =
                description.notes.iter().any(|note| note.contains("forbade itself system calls"));
            let reason = if has_filter { UNDER_A_FILTER } else { UNSEEN_END };
            reason.to_owned()
        }
        _ => return,
    };
    let listed = description.snapshots.get_or_insert_default();
    if listed.iter().any(|snapshot| snapshot.reason == SnapshotReason::Exit) {
        return;
    }
    let number = listed.last().map_or(0, |last| last.number) + 1;
    listed.push(Snapshot {
        number,
        file: memtrail_recording::snapshot_name(number),
        reason: SnapshotReason::Exit,
        label: None,
        taken_unix_us: 0,
        outcome: SnapshotOutcome::Failed { reason },
    });
}

/// What became of the snapshots of the recording in a folder: those that are there in one line, with what to type next
/// if it is called `shown`; then what is missing.
pub(super) fn lines(description: &Description, folder: &Path, shown: Option<&str>) -> Vec<String> {
    let all = description.snapshots.as_deref().unwrap_or_default();
    let sizes = all.iter().filter_map(|snapshot| match snapshot.outcome {
        SnapshotOutcome::Complete { bytes, .. } => Some(bytes),
        SnapshotOutcome::Failed { .. } => None,
    });
    let (count, size) = sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
    let noun = if count == 1 { "snapshot" } else { "snapshots" };
    let size = as_bytes(size as f64);
    let is_native = description.runtime.is_native();
    let [heap, command] = if is_native { ["", "leaks"] } else { ["heap ", "heap roots"] };
    let next = shown.map(|shown| format!("; next: memtrail {command} {shown}")).unwrap_or_default();
    let there = format!("{count} {heap}{noun}, {size}{next}");
    let there = (count > 0).then_some(there);
    let lacks = without_references(description, folder);
    there.into_iter().chain(lacks).chain(outcome::missing(description)).collect()
}

/// Which snapshots of a program whose calls of `malloc` are recorded are of OCaml's heap alone.
fn without_references(description: &Description, folder: &Path) -> Option<String> {
    description.sampling.malloc_rate?;
    let known: Vec<u64> =
        references::of_recording(folder).into_iter().map(|(number, _)| number).collect();
    let all = description.snapshots.iter().flatten();
    let complete =
        all.filter(|snapshot| matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }));
    let lacks: Vec<String> = complete
        .filter(|snapshot| !known.contains(&snapshot.number))
        .map(|snapshot| snapshot.number.to_string())
        .collect();
    let noun = if lacks.len() == 1 { "snapshot" } else { "snapshots" };
    (!lacks.is_empty()).then(|| {
        format!(
            "{noun} {} of OCaml's heap alone: what refers to memory from malloc was not found",
            lacks.join(", ")
        )
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = String> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Whether a file that was being written has got its name, once its writer has let go of it.
fn is_finished(file: &Path) -> bool {
    if let Ok(open) = fs::File::open(file) {
        // Without the lock there is no more to be learned.
        let _ = open.lock_shared();
    }
    !file.exists()
}

/// The facts at the beginning of a file that is not whole.
fn facts(file: &Path) -> Option<Facts> {
    Some(Peek::new(&fs::read(file).ok()?).ok()?.facts)
}

/// What the file says of itself.
fn look(folder: &Path, number: u64, file: String) -> Option<Snapshot> {
    let bytes = fs::read(folder.join(&file)).ok()?;
    let heap = HeapFile::read(&bytes).ok()?;
    Some(Snapshot {
        number,
        file,
        reason: heap.facts.reason.unwrap_or(SnapshotReason::Request),
        label: Some(String::from_utf8_lossy(&heap.facts.label).into_owned())
            .filter(|label| !label.is_empty()),
        taken_unix_us: heap.facts.taken_at / 1000,
        outcome: SnapshotOutcome::Complete {
            pause_ns: heap.facts.pause,
            write_ns: 0,
            bytes: bytes.len() as u64,
            blocks: heap.totals.blocks,
            outside: heap.totals.outside,
        },
    })
}

#[cfg(test)]
mod tests {
    use memtrail_recording::unfinished_snapshot_name;

    use super::*;

    /// A snapshot whose writer was killed was put down to `memtrail snapshot`, whatever had asked for it.
    #[test]
    fn a_snapshot_that_is_not_whole_has_its_own_reason() {
        let folder = tempfile::tempdir().unwrap();
        let fixture = "../heap/tests/fixtures/snapshot-v1.heap";
        let whole = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap();
        let reason = Peek::new(&whole).unwrap().facts.reason;
        assert_eq!(reason, Some(SnapshotReason::Exit));
        let part = folder.path().join(unfinished_snapshot_name(1));
        for (length, expected) in [(whole.len() / 2, reason), (0, Some(SnapshotReason::Request))] {
            fs::write(&part, &whole[..length]).unwrap();
            let mut description: Description = serde_json::from_value(serde_json::json!({
                "format": 1, "memtrail": "0", "program": "p", "arguments": [], "pid": 1, "host": "h",
                "runtime": { "language": "OCaml", "version": "5.3", "word_bits": 64, "parameters": "" },
                "sampling": { "rate": 1.0, "callstacks": "runtime" },
                "clock": { "start_unix_us": 1, "start_monotonic_ns": 1 },
                "trace": { "file": "trace.ctf", "state": "cut", "bytes": 1, "blocks": 1, "lost": 0 }
            }))
            .unwrap();
            finish(folder.path(), &mut description);
            let listed = description.snapshots.unwrap();
            assert_eq!(Some(listed[0].reason), expected);
            assert!(!part.exists());
        }
    }
}
