//! CPU time that recording adds, and what it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_trace::{Detail, Event, Reader};

use super::folders::scratch;
use super::options::Options;
use super::statistics::{Quartiles, quartiles};
use super::subjects::{self, Subject};
use super::table::Table;
use super::{cpu, peer};
use crate::command::Outcome;

/// One way to run a subject.
struct Variant {
    name: String,
    /// None: memtrail's default, which it adapts.
    rate: Option<f64>,
    twin: Option<PathBuf>,
    ratios: Vec<f64>,
    trace: PathBuf,
}

/// Measure each subject at each rate.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    println!("### CPU time added by recording ({} paired runs)\n", options.rounds);
    let mut rows: Vec<(f64, Vec<Vec<String>>)> = Vec::new();
    let mut table = Table::new(&[
        "program",
        "recorder",
        "rate",
        "CPU without",
        "added",
        "quartiles",
        "blocks",
        "bytes/block",
    ]);
    for subject in subjects::all()? {
        if options.only.as_ref().is_some_and(|only| !subject.name.contains(only.as_str())) {
            continue;
        }
        rows.push(measure_subject(memtrail, &subject, options)?);
    }
    // The worst case first.
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for row in rows.into_iter().flat_map(|(_, rows)| rows) {
        table.row(row);
    }
    table.print();
    Ok(())
}

/// What the default rate adds, and the rows.
fn measure_subject(
    memtrail: &Path,
    subject: &Subject,
    options: &Options,
) -> Outcome<(f64, Vec<Vec<String>>)> {
    let folder = scratch()?;
    let mut variants: Vec<Variant> = Vec::new();
    let twin = peer::program(subject.name);
    let rates = std::iter::once(None).chain(options.rates.iter().copied().map(Some));
    for rate in rates {
        for (name, twin) in [("memtrail", None), ("memtrace", twin.clone())] {
            if name == "memtrace" && (twin.is_none() || rate.is_none()) {
                continue;
            }
            let trace = folder.join(format!("{}-{name}-{}", subject.name, rate.unwrap_or(0.0)));
            variants.push(Variant { name: name.into(), rate, twin, ratios: Vec::new(), trace });
        }
    }
    let mut without = Vec::new();
    // One round that does not count warms the caches.
    for round in 0..=options.rounds {
        let plain = cpu::of(&mut subject.command())?.as_secs_f64();
        let twin_plain = match &twin {
            Some(twin) => cpu::of(&mut peer::plain(subject, twin))?.as_secs_f64(),
            None => plain,
        };
        let count = variants.len();
        for position in 0..count {
            // Each round begins with another variant.
            let variant = &mut variants[(position + round) % count];
            remove(&variant.trace)?;
            let (mut command, base) = match &variant.twin {
                Some(twin) => {
                    let rate = variant.rate.unwrap_or_default();
                    (peer::recording(subject, twin, rate, &variant.trace), twin_plain)
                }
                None => (recorded(memtrail, subject, variant.rate, &variant.trace), plain),
            };
            let cost = cpu::of(&mut command)?.as_secs_f64();
            if round > 0 {
                variant.ratios.push(cost / base - 1.0);
            }
        }
        if round > 0 {
            without.push(plain);
        }
        eprint!("\r{}: round {round} of {}   ", subject.name, options.rounds);
    }
    eprintln!();
    let plain = quartiles(without).map_or(0.0, |q| q.median);
    let (mut rows, mut by_default) = (Vec::new(), 0.0);
    for variant in variants {
        let (blocks, bytes) = content(&variant)?;
        let Quartiles { low, median, high } =
            quartiles(variant.ratios).ok_or("no rounds were measured")?;
        if variant.rate.is_none() {
            by_default = median;
        }
        rows.push(vec![
            subject.name.into(),
            variant.name,
            variant.rate.map_or_else(|| "default".into(), |rate| format!("{rate:e}")),
            format!("{plain:.2} s"),
            format!("{:+.1} %", median * 100.0),
            format!("{:+.1} .. {:+.1} %", low * 100.0, high * 100.0),
            blocks.to_string(),
            format!("{:.1}", bytes as f64 / blocks.max(1) as f64),
        ]);
    }
    Ok((by_default, rows))
}

fn recorded(memtrail: &Path, subject: &Subject, rate: Option<f64>, recording: &Path) -> Command {
    let mut command = Command::new(memtrail);
    command.current_dir(&subject.folder);
    command.args(["run", "-q"]);
    if let Some(rate) = rate {
        command.args(["--rate", &rate.to_string()]);
    }
    command.arg("-o").arg(recording);
    command.arg("--").arg(&subject.program).args(&subject.arguments);
    command
}

/// Sampled blocks of the last run's trace, and its size in bytes.
fn content(variant: &Variant) -> Outcome<(u64, u64)> {
    let file = match variant.twin {
        Some(_) => variant.trace.clone(),
        None => variant.trace.join("trace.ctf"),
    };
    let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let reader = Reader::new(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut blocks = 0;
    reader
        .for_each(Detail::Marks, |event, _| blocks += u64::from(matches!(event, Event::Alloc(_))));
    Ok((blocks, bytes.len() as u64))
}

fn remove(path: &Path) -> Outcome {
    let gone = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    gone.map_err(|e| format!("cannot remove {}: {e}", path.display()))
}
