//! One program, alone and recorded.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How it is recorded.
const WAYS: [&[&str]; 4] = [
    &["--rate", "1e-4"],
    &["--rate", "1e-2"],
    &["--rate", "1"],
    &["--rate", "1e-4", "--snapshot", "every-major"],
];
/// Seconds for a run alone; recorded ones have more.
const PATIENCE: &str = "20";
const PATIENCE_RECORDED: &str = "240";
/// What `timeout` ends with.
const TIMED_OUT: i32 = 124;

pub(super) enum Verdict {
    Same,
    /// It is not the same twice when run alone, or does not end.
    Varies,
    Differs(String),
}

/// Runs a program where it was built, as `ocamltest` does.
pub(super) fn compare(memtrail: &Path, program: &Path) -> Verdict {
    let alone = execute(program, PATIENCE, &[]);
    if alone.status.code() == Some(TIMED_OUT)
        || seen(&alone) != seen(&execute(program, PATIENCE, &[]))
    {
        return Verdict::Varies;
    }
    let scratch = scratch(program);
    for way in WAYS {
        let recording = scratch.join("it.memtrail");
        let mut words = vec![memtrail.to_string_lossy().into_owned(), "run".into(), "-q".into()];
        words.extend(way.iter().map(|&word| word.to_owned()));
        words.extend(["-o".into(), recording.to_string_lossy().into_owned(), "--".into()]);
        let recorded = execute(program, PATIENCE_RECORDED, &words);
        let _ = fs::remove_dir_all(&scratch);
        if seen(&recorded) != seen(&alone) && seen(&execute(program, PATIENCE, &[])) == seen(&alone)
        {
            return Verdict::Differs(format!("{}: {}", way.join(" "), how(&alone, &recorded)));
        }
    }
    Verdict::Same
}

type Seen<'a> = (&'a [u8], &'a [u8], Option<i32>);

fn seen(output: &Output) -> Seen<'_> {
    (&output.stdout, &output.stderr, code(output))
}

/// As a shell has it: `memtrail run` and `timeout` end so for signals, too.
fn code(output: &Output) -> Option<i32> {
    output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal))
}

fn how(alone: &Output, recorded: &Output) -> String {
    if code(recorded) == Some(TIMED_OUT) {
        return format!("not ended after {PATIENCE_RECORDED} s");
    }
    if code(alone) != code(recorded) {
        return format!("exit {:?}, not {:?}", code(recorded), code(alone));
    }
    let stream = if alone.stdout == recorded.stdout { "stderr" } else { "stdout" };
    let (one, other) = match stream {
        "stdout" => (&alone.stdout, &recorded.stdout),
        _ => (&alone.stderr, &recorded.stderr),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (one, other) = (text(one), text(other));
    let line = one.lines().zip(other.lines()).find(|(a, b)| a != b);
    match line {
        Some((a, b)) => format!("{stream}: {b:?}, not {a:?}"),
        None => format!("{stream}: {} bytes, not {}", other.len(), one.len()),
    }
}

fn execute(program: &Path, seconds: &str, before: &[String]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", seconds]).args(before).arg(program);
    command.current_dir(program.parent().unwrap_or(Path::new("/")));
    command.stdin(Stdio::null());
    command.output().unwrap_or_else(|error| Output {
        status: std::process::ExitStatus::default(),
        stdout: Vec::new(),
        stderr: error.to_string().into_bytes(),
    })
}

fn scratch(program: &Path) -> PathBuf {
    let name = program.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    std::env::temp_dir().join(format!("memtrail-ocaml-tests-{}-{name}", std::process::id()))
}
