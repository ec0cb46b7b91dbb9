//! What a heap snapshot costs: how long the program pauses, how long the writing takes beside
//! it, and bytes a block, each against a full major collection of the same program.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::folders::scratch;
use super::options::Options;
use super::statistics::quartiles;
use super::table::Table;
use crate::command::{Outcome, cache, output, repository, run};

/// Size of the heap in megabytes.
const MEGABYTES: &str = "200";

/// What one runtime gave; times in microseconds.
struct Figures {
    cycle: f64,
    full: f64,
    pause: f64,
    write: f64,
    blocks: f64,
    bytes: f64,
}

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    println!("### Snapshots of {MEGABYTES} MB ({} of each)\n", options.rounds);
    let mut table = Table::new(&[
        "runtime",
        "blocks",
        "Gc.major",
        "Gc.full_major",
        "pause",
        "of Gc.full_major",
        "writing",
        "of Gc.full_major",
        "bytes/block",
    ]);
    let cache = cache()?;
    let compilers = [
        PathBuf::from("ocamlopt"),
        cache.join("ocaml-4.14.1000/bin/ocamlopt"),
        cache.join("ocaml-5.3.0/bin/ocamlopt"),
    ];
    for compiler in compilers {
        let version = output(Command::new(&compiler).arg("-version"))?.trim().to_owned();
        let found = of_runtime(memtrail, &compiler, &version, options.rounds)?;
        let milliseconds = |time: f64| format!("{:.1} ms", time / 1e3);
        table.row(vec![
            version,
            format!("{:.1} M", found.blocks / 1e6),
            milliseconds(found.cycle),
            milliseconds(found.full),
            milliseconds(found.pause),
            format!("{:.1} %", 100.0 * found.pause / found.full),
            milliseconds(found.write),
            format!("{:.2}", found.write / found.full),
            format!("{:.2}", found.bytes / found.blocks),
        ]);
    }
    table.print();
    Ok(())
}

fn of_runtime(memtrail: &Path, compiler: &Path, version: &str, rounds: usize) -> Outcome<Figures> {
    let program = build(compiler, version)?;
    let recording = scratch()?.join(format!("snapshots-{version}.memtrail"));
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    if recording.exists() {
        fs::remove_dir_all(&recording).map_err(|e| failed("old snapshots", &e))?;
    }
    let mut command = Command::new(memtrail);
    command.args(["run", "-q", "--snapshot", "request", "-o"]).arg(&recording).arg("--");
    command.arg(&program).arg(MEGABYTES).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().map_err(|e| failed("memtrail", &e))?;
    let mut line = String::new();
    let stdout = running.stdout.take().ok_or("no output")?;
    BufReader::new(stdout).read_line(&mut line).map_err(|e| failed("its output", &e))?;
    let numbers: Vec<f64> = line.split_whitespace().flat_map(str::parse).collect();
    let &[_, cycle, full] = numbers.as_slice() else { return Err(format!("it says {line:?}")) };
    for _ in 0..rounds.max(1) {
        output(Command::new(memtrail).arg("snapshot").arg(&recording))?;
    }
    let mut stdin = running.stdin.take().ok_or("no input")?;
    stdin.write_all(b"\n").map_err(|e| failed("its input", &e))?;
    running.wait().map_err(|e| failed("its end", &e))?;

    let text = fs::read_to_string(recording.join("recording.json"));
    let text = text.map_err(|e| failed("recording.json", &e))?;
    let description: Value = serde_json::from_str(&text).map_err(|e| failed("JSON", &e))?;
    let all = description["snapshots"].as_array().ok_or("no snapshots")?;
    let median = |name: &str| {
        let values = all.iter().filter_map(|snapshot| snapshot[name].as_f64());
        quartiles(values.collect()).map(|q| q.median).ok_or(format!("no {name}"))
    };
    Ok(Figures {
        cycle,
        full,
        pause: median("pause_ns")? / 1e3,
        write: median("write_ns")? / 1e3,
        blocks: median("blocks")?,
        bytes: median("bytes")?,
    })
}

fn build(compiler: &Path, version: &str) -> Outcome<PathBuf> {
    let folder = scratch()?.join(format!("heap-{version}"));
    let source = repository().join("tests/programs/heap_large.ml");
    let copied = fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(&source, folder.join("heap_large.ml")).map(|_| ()));
    copied.map_err(|e| format!("cannot write into {}: {e}", folder.display()))?;
    let mut command = Command::new(compiler);
    command.current_dir(&folder);
    // Before OCaml 5 the library has no folder of its own.
    if !version.starts_with("4.") {
        command.args(["-I", "+unix"]);
    }
    run(command.args(["-g", "unix.cmxa", "heap_large.ml", "-o", "heap_large"]))?;
    Ok(folder.join("heap_large"))
}
