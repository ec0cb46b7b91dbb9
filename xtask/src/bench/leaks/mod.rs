//! How often the verdict is right: the programs of `tests/leaks`, recorded in each mode, against their labels.
//!
//! A Latin square: each program is recorded in each mode, and the compilers take turns, so that each program meets each
//! compiler and each mode without all their products. More seeds shift the turns.

mod corpus;
mod label;
mod outcome;
mod recorded;
mod results;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use self::corpus::Compiler;
use self::label::Truth;
use self::outcome::Outcome as Judged;
use self::recorded::Case;
use self::results::Results;
use super::folders::scratch;
use super::options::Options;
use super::table::Table;
use crate::command::{Outcome, repository, run};

/// Record what is not recorded yet, print the table, fail if there is a false suspect or a missed leak.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    if options.simulate {
        return simulate();
    }
    println!("### Verdicts of `memtrail leaks` on programs of `tests/leaks`\n");
    let folder = scratch()?.join("leaks");
    let compilers = Compiler::all()?;
    let recordings = folder.join("recordings");
    let version = xxh3_64(
        &std::fs::read(memtrail).map_err(|e| format!("cannot read {}: {e}", memtrail.display()))?,
    );
    std::fs::create_dir_all(&recordings).map_err(|e| format!("{}: {e}", recordings.display()))?;
    let mut results = Results::open(folder.join(format!("{version:016x}.results")));
    let mut counts: BTreeMap<(&str, bool), BTreeMap<Judged, usize>> = BTreeMap::new();
    for (place, program) in corpus::programs(options.only.as_deref())?.iter().enumerate() {
        let takes_turns = program.compilers(&compilers);
        if let missing @ [_, ..] = &program.missing()[..] {
            eprintln!("{}: not run, as there is no {}", program.name, missing.join(", "));
        }
        for seed in 0..options.seeds {
            for (number, mode) in program.modes().iter().enumerate() {
                let name = mode.name;
                if options.modes.as_ref().is_some_and(|modes| !modes.iter().any(|m| m == name)) {
                    continue;
                }
                let turn = (place + seed + number) % takes_turns.len().max(1);
                let Some(compiler) = takes_turns.get(turn) else { continue };
                for run in program.labels.runs_of(compiler.name) {
                    let arguments = program.labels.arguments(run, mode.is_long);
                    let title = format!("{} {}", program.name, arguments.join(" "));
                    let key = format!("{title}, {name}, {}, {seed}", compiler.name);
                    let version = format!("{:016x} {key}", program.version);
                    let (outcome, said) = results.of(&version, || {
                        let executable = program.build(compiler, &folder)?;
                        let case = Case {
                            memtrail,
                            program: &executable,
                            arguments: &arguments,
                            is_script: program.is_script(),
                            mode,
                            path: compiler.path(),
                            recording: recordings
                                .join(format!("{:016x}.memtrail", xxh3_64(version.as_bytes()))),
                            stored: options.stored,
                        };
                        recorded::judge(&case, &run.truth)
                    })?;
                    if outcome != Judged::Right {
                        eprintln!("{key}: {}: {said}", outcome.name());
                    }
                    let leaks = run.truth != Truth::Sound;
                    *counts.entry((name, leaks)).or_default().entry(outcome).or_default() += 1;
                }
            }
        }
    }
    print(&counts);
    let wrong = |outcome: &Judged| {
        matches!(outcome, Judged::Missed | Judged::Wrong | Judged::False | Judged::Disagree)
    };
    let wrong: usize =
        counts.values().flatten().filter(|(outcome, _)| wrong(outcome)).map(|(_, n)| n).sum();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} verdicts are wrong")) }
}

/// The table of modes and outcomes, and precision and recall of each mode.
fn print(counts: &BTreeMap<(&str, bool), BTreeMap<Judged, usize>>) {
    let mut heading = vec!["mode", "programs", "runs"];
    heading.extend(Judged::ALL.map(Judged::name));
    heading.push("right, of all");
    let mut table = Table::new(&heading);
    for ((mode, leaks), outcomes) in counts {
        let of = |outcome: Judged| outcomes.get(&outcome).copied().unwrap_or(0);
        let all: usize = outcomes.values().sum();
        let mut row = vec![(*mode).to_owned()];
        row.push(if *leaks { "that leak" } else { "that are sound" }.to_owned());
        row.push(all.to_string());
        row.extend(Judged::ALL.map(|outcome| of(outcome).to_string()));
        row.push(format!("{:.3}", of(Judged::Right) as f64 / all.max(1) as f64));
        table.row(row);
    }
    table.print();
}

/// 100,000 simulated histories through the judging code alone.
fn simulate() -> Outcome {
    run(Command::new(env!("CARGO"))
        .current_dir(repository())
        .env("MEMTRAIL_HISTORIES", "5000")
        .args(["nextest", "run", "--release", "--package", "memtrail-engine", "--no-capture"])
        // It fails if no test has that name.
        .args(["-E", "test(/^verdict::simulated::/)"]))
}
