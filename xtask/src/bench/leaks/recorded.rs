//! Record a program of the corpus and judge the recording.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::label::Truth;
use super::outcome::{self, Outcome as Judged};
use crate::command::{Outcome, cache};

/// A way to record a program.
pub(super) struct Mode {
    pub(super) name: &'static str,
    /// Options of `memtrail run`.
    options: &'static [&'static str],
    /// Runs have to be long: until automatic snapshots are taken, or samples are enough.
    pub(super) is_long: bool,
}

/// When heap snapshots of OCaml programs are taken.
pub(super) const OF_OCAML: [Mode; 4] = [
    Mode { name: "auto", options: &["--snapshot", "auto"], is_long: true },
    Mode { name: "every-major", options: &["--snapshot", "every-major"], is_long: false },
    Mode { name: "exit", options: &["--snapshot", "exit"], is_long: false },
    Mode { name: "off", options: &["--snapshot", "off"], is_long: false },
];
/// OCaml programs of other people: as whoever records them would.
pub(super) const OF_REAL: [Mode; 2] = [
    Mode { name: "auto", options: &["--snapshot", "auto"], is_long: true },
    Mode { name: "exit", options: &["--snapshot", "exit"], is_long: true },
];
/// Programs in C, C++ and Rust: samples alone, or with what refers to blocks.
pub(super) const OF_NATIVE: [Mode; 3] = [
    Mode { name: "native", options: &["--native"], is_long: true },
    Mode { name: "native-every", options: &["--native", "--every", "100ms"], is_long: true },
    Mode { name: "native-exit", options: &["--native", "--snapshot", "exit"], is_long: true },
];

/// A program to be recorded, and how.
pub(super) struct Case<'a> {
    pub(super) memtrail: &'a Path,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    /// It is a script that starts `memtrail` itself.
    pub(super) is_script: bool,
    pub(super) mode: &'a Mode,
    /// `PATH` of `memtrail`.
    pub(super) path: OsString,
    /// The recording, which stays for later judgements.
    pub(super) recording: PathBuf,
    /// Judge the recording if it is there, and record nothing.
    pub(super) stored: bool,
}

/// Run the program, and compare the verdict with the truth. The second value is what the verdict says, on one line.
pub(super) fn judge(case: &Case<'_>, truth: &Truth) -> Outcome<(Judged, String)> {
    let Case { memtrail, path, recording, .. } = case;
    if !(case.stored && recording.exists()) {
        record(case)?;
    }
    let output = Command::new(memtrail)
        .env_remove("MEMTRAIL_TYPES")
        .env("PATH", path)
        .args(["leaks", "--json"])
        .arg(recording)
        .output()
        .map_err(|e| format!("cannot start {}: {e}", memtrail.display()))?;
    // Without snapshots it refuses to judge.
    let leaks: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let check = Command::new(memtrail)
        .env_remove("MEMTRAIL_TYPES")
        .env("PATH", path)
        .args(["check", "--no-leak", "--recording"])
        .arg(recording)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|e| format!("cannot start {}: {e}", memtrail.display()))?;
    let code = check.code().unwrap_or(-1);
    Ok((outcome::compare(truth, &leaks, code), in_a_line(&leaks, code)))
}

fn record(case: &Case<'_>) -> Outcome {
    let Case { memtrail, program, arguments, mode, recording, .. } = case;
    if recording.exists() {
        std::fs::remove_dir_all(recording)
            .map_err(|e| format!("cannot remove {}: {e}", recording.display()))?;
    }
    let mut record = Command::new(memtrail);
    record.args(["run", "--quiet"]).args(mode.options).arg("-o").arg(recording).arg("--");
    if case.is_script {
        return run_script(case, &record);
    }
    record.arg(program).args(*arguments).stdout(Stdio::null());
    crate::command::run(&mut record)
}

/// Runs a script in an empty folder. `RECORD` are the words before a command that is to be recorded, `WILD` the folder of
/// programs that were fetched.
fn run_script(case: &Case<'_>, record: &Command) -> Outcome {
    let folder = case.recording.with_extension("folder");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let words = [record.get_program()].into_iter().chain(record.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let mut script = Command::new("sh");
    script.arg(case.program).args(case.arguments).current_dir(&folder).stdin(Stdio::null());
    script.env("RECORD", words.join(" ")).env("WILD", cache()?.join("wild"));
    let done = crate::command::run(script.stdout(Stdio::null()));
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    done
}

/// What the verdict says, for those who look for its fault.
fn in_a_line(leaks: &Value, check: i32) -> String {
    let list = |name: &str| leaks[name].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let suspects = list("suspects").iter().map(|suspect| {
        let site = suspect["allocated"][0]["function"].as_str().unwrap_or("no call site");
        format!("{} {} ({site})", text(&suspect["owner"]), text(&suspect["class"]))
    });
    let cleared = list("cleared").iter().take(2);
    let cleared =
        cleared.map(|owner| format!("not {}: {}", text(&owner["owner"]), text(&owner["class"])));
    let all: Vec<String> = suspects.chain(cleared).collect();
    format!("{} snapshots, check {check}: {}", leaks["snapshots"], all.join("; "))
}
