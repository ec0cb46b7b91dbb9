//! One program, alone and recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::execute::{Seen, execute};
use crate::command::Outcome;

/// How it is recorded.
const WAYS: [&[&str]; 4] = [
    &["--rate", "1e-4"],
    &["--rate", "1e-2"],
    &["--rate", "1"],
    &["--rate", "1e-4", "--snapshot", "every-major"],
];
/// Seconds for a run alone; recorded ones have more.
const PATIENCE: u32 = 120;
const PATIENCE_RECORDED: u32 = 1800;
/// What `memtrail run --require-recording` ends with then.
const UNRECORDED: i32 = 125;
/// Exit codes from here on are signals.
const SIGNALS: i32 = 128;
/// Runs alone that must be the same before a difference is taken for ours.
const AGAIN: usize = 10;

pub(super) enum Verdict {
    Same,
    /// It does not end alone, or what it prints is not always the same alone; its exit code is.
    Varies(&'static str),
    /// It does so when recorded in one of the ways, at least.
    Differs(String),
    /// When recorded it ends by a signal, or not at all, and alone it does not: never expected.
    Dies(String),
}

/// Everything is compared, or the exit codes where what is printed varies.
pub(super) fn compare(memtrail: &Path, program: &Path) -> Outcome<Verdict> {
    let alone = execute(program, PATIENCE, &[])?;
    if alone.code.is_none() {
        return Ok(Verdict::Varies("does not end alone"));
    }
    let again = execute(program, PATIENCE, &[])?;
    if again.code != alone.code {
        return Ok(Verdict::Varies("ends differently each time"));
    }
    let mut prints_the_same = again == alone;
    let mut different = None;
    for way in WAYS {
        let mut recorded = record(memtrail, program, &[way, &["--require-recording"]].concat())?;
        let unrecorded = recorded.code == Some(UNRECORDED);
        if unrecorded {
            recorded = record(memtrail, program, way)?;
        }
        if recorded == alone || (!prints_the_same && recorded.code == alone.code) {
            if unrecorded {
                different.get_or_insert_with(|| "not recorded".to_owned());
            }
            continue;
        }
        for _ in 0..AGAIN {
            let again = execute(program, PATIENCE, &[])?;
            if again.code != alone.code {
                return Ok(Verdict::Varies("ends differently each time"));
            }
            prints_the_same &= again == alone;
        }
        if recorded.code != alone.code || prints_the_same {
            let how = format!("{}: {}", way.join(" "), how(&alone, &recorded));
            if recorded.code != alone.code && recorded.code.is_none_or(|code| code >= SIGNALS) {
                return Ok(Verdict::Dies(how));
            }
            different.get_or_insert(how);
        }
    }
    Ok(match different {
        Some(how) => Verdict::Differs(how),
        None if prints_the_same => Verdict::Same,
        None => Verdict::Varies("prints what varies alone"),
    })
}

fn record(memtrail: &Path, program: &Path, way: &[&str]) -> Outcome<Seen> {
    let recording = scratch();
    let mut words = vec![memtrail.to_string_lossy().into_owned()];
    words.extend(["run", "-q"].map(String::from));
    words.extend(way.iter().map(|&word| word.to_owned()));
    words.extend(["-o".into(), recording.to_string_lossy().into_owned(), "--".into()]);
    let recorded = execute(program, PATIENCE_RECORDED, &words);
    let _ = fs::remove_dir_all(&recording);
    recorded
}

fn how(alone: &Seen, recorded: &Seen) -> String {
    let Some(code) = recorded.code else {
        return format!("not ended after {PATIENCE_RECORDED} s");
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if alone.code != recorded.code {
        let said = text(&recorded.stderr);
        let said = said.lines().last().unwrap_or_default();
        return format!("exit {code}, not {}: {said}", alone.code.unwrap_or_default());
    }
    let (stream, one, other) = if alone.stdout == recorded.stdout {
        ("stderr", text(&alone.stderr), text(&recorded.stderr))
    } else {
        ("stdout", text(&alone.stdout), text(&recorded.stdout))
    };
    match one.lines().zip(other.lines()).find(|(a, b)| a != b) {
        Some((a, b)) => format!("{stream}: {b:?}, not {a:?}"),
        None => format!("{stream}: {} bytes, not {}", other.len(), one.len()),
    }
}

/// A folder that is not there.
fn scratch() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let (ours, number) = (std::process::id(), NEXT.fetch_add(1, Relaxed));
    std::env::temp_dir().join(format!("memtrail-ocaml-tests-{ours}-{number}"))
}
