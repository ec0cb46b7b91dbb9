//! How often verdicts of `memtrail check` flip: repeated runs of a program that passes, of one that fails, and of one that is
//! at its limit, each with other random numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::folders::scratch;
use super::options::Options;
use super::table::Table;
use crate::command::{Outcome, repository, run};

/// Runs of each program.
const RUNS: usize = 200;
const RATE: [&str; 2] = ["--rate", "1e-3"];

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    println!("### Verdicts of `memtrail check`\n");
    let folder = scratch()?;
    let source = repository().join("tests/programs/leak_table.ml");
    std::fs::copy(&source, folder.join("leak_table.ml"))
        .map_err(|e| format!("cannot copy {}: {e}", source.display()))?;
    run(Command::new("ocamlfind")
        .current_dir(&folder)
        .args("ocamlopt -package unix -linkpkg -g -o leak_table leak_table.ml".split(' ')))?;
    let once = |gates: &[&str], argument: &str| judged(memtrail, &folder, gates, argument);
    // All that it allocates, exactly, is the limit.
    let (_, exact) = once(&["--rate", "1", "--max-total", "1G"], "bounded")?;
    let total = exact["gates"][0]["measured"]["value"].as_f64().ok_or("nothing was measured")?;
    let limit = (total as u64).to_string();
    let far = ["--no-leak", "--site", "Leak_table.load<=3M"];
    let programs: [(&str, &[&str], &str, &str); 3] = [
        ("a table with a bound", &far, "bounded", "passed"),
        ("the same without the bound", &far, "leak", "failed"),
        ("at its limit", &["--max-total", &limit], "bounded", "undecided"),
    ];
    let mut table = Table::new(&["program", "runs", "verdicts"]);
    let mut flipped = Vec::new();
    for (name, gates, argument, expected) in programs {
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..RUNS {
            let (code, answer) = once(&[&RATE[..], gates].concat(), argument)?;
            let verdict = answer["verdict"].as_str().unwrap_or("none");
            *counts.entry(format!("{verdict} ({code})")).or_default() += 1;
        }
        let texts = counts.iter().map(|(verdict, count)| format!("{count} {verdict}"));
        table.row(vec![name.into(), RUNS.to_string(), texts.collect::<Vec<_>>().join(", ")]);
        // What is at its limit may fail or pass once in a thousand runs.
        let of_expected: usize = counts
            .iter()
            .filter(|(verdict, _)| verdict.starts_with(expected))
            .map(|(_, n)| n)
            .sum();
        if of_expected < RUNS - if expected == "undecided" { 3 } else { 0 } {
            flipped.push(name);
        }
    }
    table.print();
    if flipped.is_empty() { Ok(()) } else { Err(format!("verdicts flip: {}", flipped.join(", "))) }
}

/// The exit code of a run, and what it says.
fn judged(memtrail: &Path, folder: &Path, gates: &[&str], argument: &str) -> Outcome<(i32, Value)> {
    let recording = folder.join("check.memtrail");
    if recording.exists() {
        std::fs::remove_dir_all(&recording)
            .map_err(|e| format!("cannot remove {}: {e}", recording.display()))?;
    }
    let mut command = Command::new(memtrail);
    command.arg("check").args(gates).args(["--json", "-o"]).arg(&recording).current_dir(folder);
    command
        .args(["--", "./leak_table", argument])
        .stdout(Stdio::null())
        .env("MEMTRAIL_TYPES", "off");
    let output =
        command.output().map_err(|e| format!("cannot start {}: {e}", memtrail.display()))?;
    let code = output.status.code().unwrap_or(-1);
    let answer = serde_json::from_slice(&output.stderr)
        .map_err(|e| format!("check: {e}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok((code, answer))
}
