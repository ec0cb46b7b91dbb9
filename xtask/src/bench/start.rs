//! Measures the fixed cost of a run, and of each child of a recorded shell, by programs that do nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cpu;
use super::folders::scratch;
use super::options::Options;
use super::statistics::quartiles;
use super::table::Table;
use crate::command::{Outcome, run};

/// Runs that one measurement is the mean of.
const RUNS: u32 = 20;
/// Children of one shell.
const CHILDREN: u32 = 100;

/// One row: how a program is run with and without memtrail, and how many processes share the difference.
struct Case {
    name: &'static str,
    processes: u32,
    plain: Command,
    recorded: Vec<String>,
    /// The recording's folder.
    recording: PathBuf,
}

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    println!("### CPU time of programs that do nothing ({} paired rounds)\n", options.rounds);
    let mut table =
        Table::new(&["what", "without", "with", "added, a process", "quartiles", "`--version`"]);
    let launcher = |_| Ok(milliseconds(cpu::of(Command::new(memtrail).arg("--version"))?));
    let launcher = (0..RUNS).map(launcher).collect::<Outcome<Vec<f64>>>()?;
    let launcher = quartiles(launcher).map_or(0.0, |found| found.median);
    for mut case in cases()? {
        if options.only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        let (mut without, mut with, mut added) = (Vec::new(), Vec::new(), Vec::new());
        let runs = if case.processes > 1 { 1 } else { RUNS };
        // One round that does not count warms the caches.
        for round in 0..=options.rounds {
            let (mut plain, mut recorded) = (0.0, 0.0);
            for _ in 0..runs {
                plain += milliseconds(cpu::of(&mut case.plain)?);
                remove(&case.recording)?;
                let mut command = Command::new(memtrail);
                command.args(&case.recorded).arg("-o").arg(&case.recording).arg("--");
                command.arg(case.plain.get_program()).args(case.plain.get_args());
                recorded += milliseconds(cpu::of(&mut command)?);
            }
            if round > 0 {
                let processes = f64::from(runs * case.processes);
                without.push(plain / processes);
                with.push(recorded / processes);
                added.push((recorded - plain) / processes);
            }
        }
        let median = |all: Vec<f64>| quartiles(all).map_or(0.0, |found| found.median);
        let found = quartiles(added).ok_or("no rounds were measured")?;
        table.row(vec![
            case.name.into(),
            format!("{:.2} ms", median(without)),
            format!("{:.2} ms", median(with)),
            format!("{:+.2} ms", found.median),
            format!("{:+.2} .. {:+.2}", found.low, found.high),
            format!("{launcher:.2} ms"),
        ]);
    }
    table.print();
    Ok(())
}

fn cases() -> Outcome<Vec<Case>> {
    let folder = scratch()?.join("start");
    let failed = |error| format!("cannot write into {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join("nothing.ml"), "let () = ()\n").map_err(failed)?;
    run(Command::new("ocamlopt").current_dir(&folder).args(["-o", "nothing", "nothing.ml"]))?;
    let nothing = folder.join("nothing");
    let many = |program: &Path| {
        let mut shell = Command::new("/bin/sh");
        let program = program.display();
        let script =
            format!("i=0; while [ $i -lt {CHILDREN} ]; do {program}; i=$((i+1)); done; true");
        shell.args(["-c", &script]);
        shell
    };
    let case = |name, processes, plain, options: &[&str]| {
        let recorded = ["run", "-q"].iter().chain(options).map(ToString::to_string).collect();
        Case { name, processes, plain, recorded, recording: folder.join("recording") }
    };
    let native = &["--native", "--children"];
    Ok(vec![
        case("OCaml program", 1, Command::new(&nothing), &[]),
        case("OCaml program, --snapshot off", 1, Command::new(&nothing), &["--snapshot", "off"]),
        case("/bin/true --native", 1, Command::new("/bin/true"), &["--native"]),
        case("OCaml child", CHILDREN, many(&nothing), &["--children"]),
        case("/bin/true child --native", CHILDREN, many(Path::new("/bin/true")), native),
    ])
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn remove(recording: &Path) -> Outcome {
    match fs::remove_dir_all(recording) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", recording.display()))
        }
        _ => Ok(()),
    }
}
