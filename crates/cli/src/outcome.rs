//! How a recording ended and what is missing in it, in the words of all commands.

use std::path::Path;

use memtrail_recording::{Description, Outcome, Recording, SnapshotOutcome, SnapshotReason};
use memtrail_text::rounded::grouped;

use crate::naming;

/// Begins notes on functions without names.
pub(crate) const NO_NAMES: &str = "functions have no names";

/// Ends the note in the recording of a native program that forked others.
pub(crate) const FORKS_ARE_RECORDED: &str =
    "memtrail run --native --children records forked processes, too";

/// The note on processes that were forked from this one and are not recorded.
pub(crate) fn unrecorded_forks(description: &Description) -> Option<&str> {
    let mut notes = description.notes.iter();
    notes.find(|note| note.ends_with(FORKS_ARE_RECORDED)).map(String::as_str)
}

/// `killed by signal 9`; nothing for programs that came to their end by themselves.
pub(crate) fn words(outcome: Option<&Outcome>) -> Option<String> {
    Some(match *outcome? {
        Outcome::Exited { code: None | Some(0) } => return None,
        Outcome::Exited { code: Some(code) } => format!("exit code {code}"),
        Outcome::Killed { signal } => format!("killed by signal {signal}"),
        Outcome::GaveWay => "ended when the program started Gc.Memprof itself".into(),
        Outcome::WriteFailed { errno: libc::EDQUOT } => {
            "ended at the limit of its disk space (--disk, or a quota of the system)".into()
        }
        Outcome::WriteFailed { errno } => {
            let error = std::io::Error::from_raw_os_error(errno);
            format!("ended when writing failed: {error}")
        }
        Outcome::Execed => "until it became another program".into(),
    })
}

/// Why samples are missing in the trace, which makes all figures too low. That the process was killed is no reason: what it had
/// sampled is kept.
pub(crate) fn incomplete(description: &Description) -> Option<String> {
    let lost = description.trace.lost;
    let outcome = description.outcome.as_ref();
    match outcome {
        Some(Outcome::WriteFailed { .. }) => words(outcome),
        _ if lost == 1 => Some("one sample could not be written".to_owned()),
        _ => (lost > 0).then(|| format!("{} samples could not be written", grouped(lost))),
    }
}

/// The accuracy of figures where every word was sampled.
pub(crate) fn every_word(description: Option<&Description>) -> String {
    match description.and_then(incomplete) {
        Some(why) => format!("every word sampled, but figures are too low: {why}"),
        None => "every word sampled: figures are exact".to_owned(),
    }
}

/// True if a signal from outside ended the program, or nothing has so far: it would have gone on.
pub(crate) const fn is_stopped(outcome: Option<&Outcome>) -> bool {
    use libc::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};
    match outcome {
        None => true,
        Some(Outcome::Killed { signal }) => {
            matches!(*signal, SIGHUP | SIGINT | SIGKILL | SIGQUIT | SIGTERM)
        }
        Some(_) => false,
    }
}

/// What records more of a program next time, where a switch does.
pub(crate) fn hint(description: &Description) -> Option<&'static str> {
    let gave_way = matches!(description.outcome, Some(Outcome::GaveWay));
    // Those of OCaml 4 can be given no other sampler.
    (gave_way && description.runtime.version.starts_with("5."))
        .then_some("memtrail run --sampler memtrail samples on beside the program's own Gc.Memprof")
}

/// What was to be recorded and is not there, a line each.
pub(crate) fn missing(description: &Description) -> Vec<String> {
    let lost = description.trace.lost;
    let plural = if lost == 1 { "sample" } else { "samples" };
    let lost = (lost > 0)
        .then(|| format!("{} {plural} could not be written: figures are too low", grouped(lost)));
    lost.into_iter().chain(failed_snapshots(description)).collect()
}

/// A note on a recording whose functions have no names.
pub(crate) fn unnamed(recording: &Recording) -> Option<String> {
    let known = recording.description.as_ref()?;
    // A note tells why names could not be written.
    let has_failed = known.notes.iter().any(|note| note.starts_with(NO_NAMES));
    let executable = naming::without_file(recording).filter(|_| !has_failed)?;
    Some(no_names(&executable))
}

/// The reason why functions of a program have no names.
pub(crate) fn no_names(executable: &Path) -> String {
    format!("{NO_NAMES}: {} is not the file any more that was run", executable.display())
}

/// How many heap snapshots there are.
pub(crate) fn snapshots_taken(description: &Description) -> usize {
    let all = description.snapshots.iter().flatten();
    all.filter(|snapshot| matches!(snapshot.outcome, SnapshotOutcome::Complete { .. })).count()
}

/// The snapshots that were asked for and not taken: a line for each reason.
pub(crate) fn failed_snapshots(description: &Description) -> Vec<String> {
    let mut groups: Vec<(SnapshotReason, &str, Vec<u64>)> = Vec::new();
    for snapshot in description.snapshots.iter().flatten() {
        let SnapshotOutcome::Failed { reason } = &snapshot.outcome else { continue };
        let same = |(by, why, _): &&mut (SnapshotReason, &str, Vec<u64>)| {
            *by == snapshot.reason && *why == reason.as_str()
        };
        match groups.iter_mut().find(same) {
            Some((_, _, numbers)) => numbers.push(snapshot.number),
            None => groups.push((snapshot.reason, reason, vec![snapshot.number])),
        }
    }
    let line = |(by, why, numbers): (SnapshotReason, &str, Vec<u64>)| {
        let by = asked_by(by);
        match numbers.as_slice() {
            [number] => format!("heap snapshot {number} ({by}) was not taken: {why}"),
            all => {
                format!("{} heap snapshots ({by}) were not taken: {why}", grouped(all.len() as u64))
            }
        }
    };
    groups.into_iter().map(line).collect()
}

fn asked_by(reason: SnapshotReason) -> &'static str {
    match reason {
        SnapshotReason::EveryMajor => "every-major",
        SnapshotReason::Exit => "exit",
        SnapshotReason::Signal => "signal",
        SnapshotReason::Request => "memtrail snapshot",
        SnapshotReason::Above => "--above",
        SnapshotReason::OutOfMemory => "out-of-memory",
        SnapshotReason::Program => "the program",
        SnapshotReason::Interval => "--every",
        SnapshotReason::Auto => "auto",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_for_a_missing_snapshot_is_told_once() {
        let snapshot = |number: u64, reason: &str, failure: &str| {
            serde_json::json!({
                "number": number, "file": "x", "reason": reason, "taken_unix_us": 1,
                "state": "failed", "failure": failure
            })
        };
        let description: Description = serde_json::from_value(serde_json::json!({
            "format": 1, "memtrail": "0", "program": "p", "arguments": [], "pid": 1, "host": "h",
            "runtime": { "language": "OCaml", "version": "5.3", "word_bits": 64, "parameters": "" },
            "sampling": { "rate": 1.0, "callstacks": "runtime" },
            "clock": { "start_unix_us": 1, "start_monotonic_ns": 1 },
            "trace": { "file": "trace.ctf", "state": "cut", "bytes": 1, "blocks": 1, "lost": 1200 },
            "snapshots": [
                snapshot(1, "every-major", "no room"),
                snapshot(2, "request", "no room"),
                snapshot(3, "every-major", "no room"),
            ]
        }))
        .unwrap();
        assert_eq!(
            missing(&description),
            [
                "1,200 samples could not be written: figures are too low",
                "2 heap snapshots (every-major) were not taken: no room",
                "heap snapshot 2 (memtrail snapshot) was not taken: no room",
            ]
        );
    }
}
