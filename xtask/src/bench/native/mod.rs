//! What recording native programs costs, beside gperftools and heaptrack, and what is written.

mod share;
mod subjects;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use self::subjects::{Recorder, Subject, counted_by_gperftools, has_tcmalloc};
use super::cpu;
use super::folders::scratch;
use super::options::Options;
use super::statistics::quartiles;
use super::table::Table;
use crate::command::Outcome;

/// What was measured of a way to run a program.
struct Measured {
    /// CPU time of all processes, in seconds, and its ratio to what it is compared with, of each round.
    seconds: Vec<f64>,
    ratios: Vec<f64>,
    /// Bytes of its files, of the last round.
    bytes: Option<u64>,
    /// The share of CPU time in the agent, of a round that is not timed.
    in_agent: Option<f64>,
}

/// Measure, and print a table, or JSON.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    let (subjects, mut missing) = subjects::all()?;
    let has_perf = share::is_possible();
    if !has_perf {
        missing.push("shares of the agent: perf cannot sample".to_owned());
    }
    let mut table = Table::new(&[
        "program",
        "run",
        "CPU",
        "against",
        "ratio",
        "quartiles",
        "in the agent",
        "file",
    ]);
    let (mut rows, mut totals) = (Vec::new(), Vec::new());
    for (number, subject) in subjects.iter().enumerate() {
        if options.only.as_ref().is_some_and(|only| !subject.name.contains(only.as_str())) {
            continue;
        }
        let mut measured = rounds(memtrail, subject, options.rounds)?;
        if has_perf {
            add_shares(memtrail, subject, &mut measured)?;
        }
        for (variant, measured) in subject.variants.iter().zip(&measured) {
            let against = subject.variants[variant.against].name;
            let (Some(cpu), Some(ratio)) =
                (quartiles(measured.seconds.clone()), quartiles(measured.ratios.clone()))
            else {
                continue;
            };
            table.row(vec![
                subject.name.into(),
                variant.name.into(),
                format!("{:.3} s", cpu.median),
                against.into(),
                format!("{:.3}", ratio.median),
                format!("{:.3} to {:.3}", ratio.low, ratio.high),
                measured.in_agent.map_or(String::new(), |share| format!("{:.2} %", share * 100.0)),
                size(measured.bytes),
            ]);
            rows.push(json!({
                "program": subject.name, "run": variant.name, "seconds": cpu.median, "against": against,
                "ratio": ratio.median, "low": ratio.low, "high": ratio.high, "in_agent": measured.in_agent, "bytes": measured.bytes,
            }));
        }
        if number == 0 && has_tcmalloc() {
            totals.push(compared_totals(memtrail, subject)?);
        }
    }
    if options.json {
        println!("{:#}", json!({ "rows": rows, "totals": totals, "missing": missing }));
        return Ok(());
    }
    println!("### Native programs ({} paired rounds)\n", options.rounds);
    table.print();
    for totals in &totals {
        println!(
            "allocated in all: {:.0} bytes by gperftools' heap profiler, which records each block; {:.0} ± {:.0} by \
             memtrail at its default rate, {:.2} standard errors apart\n",
            figure(totals, "gperftools"),
            figure(totals, "memtrail"),
            figure(totals, "stderr"),
            figure(totals, "deviations"),
        );
    }
    for missing in &missing {
        println!("left out: {missing}");
    }
    Ok(())
}

fn figure(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or(f64::NAN)
}

/// What a recorder wrote. Programs with an allocator inside their executable, as some builds of rustc, are not recorded.
fn size(bytes: Option<u64>) -> String {
    match bytes {
        None => String::new(),
        Some(0) => "not recorded".into(),
        Some(bytes) => format!("{:.1} KiB", bytes as f64 / 1024.0),
    }
}

/// Runs all variants one after the other, so many times.
fn rounds(memtrail: &Path, subject: &Subject, count: usize) -> Outcome<Vec<Measured>> {
    let none = || Measured { seconds: Vec::new(), ratios: Vec::new(), bytes: None, in_agent: None };
    let mut measured: Vec<Measured> = subject.variants.iter().map(|_| none()).collect();
    let recording = scratch()?.join("native.recording");
    for _ in 0..count {
        for (variant, measured) in subject.variants.iter().zip(&mut measured) {
            remove(&recording);
            let mut command = subjects::command(subject, variant, memtrail, &recording);
            measured.seconds.push(cpu::of(&mut command)?.as_secs_f64());
            measured.bytes = (variant.recorder != Recorder::Nothing).then(|| written(&recording));
        }
        let last: Vec<f64> =
            measured.iter().filter_map(|measured| measured.seconds.last().copied()).collect();
        for (variant, measured) in subject.variants.iter().zip(&mut measured) {
            if let (Some(own), Some(other)) = (measured.seconds.last(), last.get(variant.against)) {
                measured.ratios.push(own / other.max(1e-9));
            }
        }
    }
    remove(&recording);
    Ok(measured)
}

/// Runs what memtrail records once more.
fn add_shares(memtrail: &Path, subject: &Subject, measured: &mut [Measured]) -> Outcome {
    let recording = scratch()?.join("native.recording");
    for (variant, measured) in subject.variants.iter().zip(measured) {
        if let Recorder::Memtrail(_) = variant.recorder {
            remove(&recording);
            let command = subjects::command(subject, variant, memtrail, &recording);
            measured.in_agent = Some(share::in_agent(&command)?);
        }
    }
    remove(&recording);
    Ok(())
}

/// What heaptrack writes has a suffix.
fn each_file(recording: &Path, mut see: impl FnMut(&Path)) {
    let Some((folder, name)) = recording.parent().zip(recording.file_name()) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&*name.to_string_lossy()) {
            see(&entry.path());
        }
    }
}

fn remove(recording: &Path) {
    each_file(recording, |path| {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    });
}

fn written(recording: &Path) -> u64 {
    let mut bytes = 0;
    let size = |path: &Path| path.metadata().map_or(0, |known| known.len());
    each_file(recording, |path| {
        if path.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            bytes += entries.map(|entry| size(&entry.path())).sum::<u64>();
        } else {
            bytes += size(path);
        }
    });
    bytes
}

/// What gperftools counts, and what memtrail estimates.
fn compared_totals(memtrail: &Path, subject: &Subject) -> Outcome<Value> {
    let counted = counted_by_gperftools(subject)?;
    let recording = scratch()?.join("native.recording");
    remove(&recording);
    let variant = &subject.variants[2];
    cpu::of(&mut subjects::command(subject, variant, memtrail, &recording))?;
    let output = Command::new(memtrail)
        .args(["report", "--json"])
        .arg(&recording)
        .stderr(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start {}: {e}", memtrail.display()))?;
    let report: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("memtrail report: {e}"))?;
    remove(&recording);
    let figure = |name: &str| {
        let value = report["report"]["totals"]["allocated"][name].as_f64();
        value.ok_or_else(|| format!("memtrail report has no {name} of the total"))
    };
    let (value, stderr) = (figure("bytes")?, figure("bytes_stderr")?);
    Ok(json!({
        "program": subject.name, "gperftools": counted, "memtrail": value, "stderr": stderr,
        "deviations": (value - counted).abs() / stderr.max(1e-9),
    }))
}
