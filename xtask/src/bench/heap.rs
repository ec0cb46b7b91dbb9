//! What the analysis of heap snapshots takes: time and memory for each block, within memory and with
//! a quarter of the heap's size; the time until a command on an analysed snapshot has answered; what types of blocks
//! add to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cpu;
use super::folders::scratch;
use super::options::Options;
use super::subjects::heaps;
use super::table::Table;
use crate::command::{Outcome, output, run};

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    println!("### Heap snapshots\n");
    let mut speed = Table::new(&[
        "heap",
        "blocks",
        "pointers",
        "file",
        "index",
        "blocks/s",
        "CPU a block",
        "peak",
        "again",
    ]);
    let mut bounded = Table::new(&["heap", "size", "--memory", "peak", "blocks/s", "CPU a block"]);
    let mut types = Table::new(&[
        "heap",
        "CPU a block",
        "of the analysis",
        "again",
        "types file",
        "--memory",
        "peak",
        "peak without types",
    ]);
    for subject in heaps()? {
        if options.only.as_ref().is_some_and(|only| !subject.name.contains(only.as_str())) {
            continue;
        }
        let folder = scratch()?.join("heap.memtrail");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let mut record = Command::new(memtrail);
        record.args(["run", "--quiet", "--snapshot", "exit", "-o"]).arg(&folder).arg("--");
        record.arg(&subject.program).args(&subject.arguments).current_dir(&subject.folder);
        run(record.stdout(Stdio::null()))?;
        let snapshot = folder.join("0001.heap");
        let index = folder.join("0001.heap.index");
        let memtrail = |arguments: &[&str]| {
            let mut command = Command::new(memtrail);
            command.arg("heap").args(arguments).arg(&snapshot);
            command
        };
        let first = Spent::of(&mut memtrail(&["roots", "--min", "1000G"]))?;
        let again = Spent::of(&mut memtrail(&["roots", "--min", "1000G"]))?;
        let info: Value = serde_json::from_str(&output(&mut memtrail(&["info", "--json"]))?)
            .map_err(|e| format!("heap info: {e}"))?;
        let number = |name: &str| info[name].as_f64().unwrap_or(f64::NAN);
        let blocks = number("reachable_blocks") + number("unreachable_blocks");
        let size = number("reachable_bytes") + number("unreachable_bytes");
        let each = |bytes: f64| format!("{:.1} B", bytes / blocks);
        let (rate, time) = (
            |spent: &Spent| format!("{:.1} M", blocks / spent.wall.as_secs_f64() / 1e6),
            |spent: &Spent| format!("{:.0} ns", spent.cpu.as_secs_f64() * 1e9 / blocks),
        );
        speed.row(vec![
            subject.name.into(),
            format!("{:.1} M", blocks / 1e6),
            format!("{:.2}", number("edges") / blocks),
            each(length(&snapshot)?),
            each(length(&index)?),
            rate(&first),
            time(&first),
            each(first.peak),
            format!("{:.2} s", again.wall.as_secs_f64()),
        ]);
        fs::remove_file(&index).map_err(|e| format!("{}: {e}", index.display()))?;
        let quarter = format!("{:.0}M", size / 4.0 / f64::from(1 << 20));
        let spent = Spent::of(&mut memtrail(&["roots", "--min", "1000G", "--memory", &quarter]))?;
        bounded.row(vec![
            subject.name.into(),
            format!("{:.0} MiB", size / f64::from(1 << 20)),
            quarter.clone(),
            format!("{:.0} MiB", spent.peak / f64::from(1 << 20)),
            rate(&spent),
            time(&spent),
        ]);
        types.row(typed(&Typed {
            name: subject.name,
            memtrail: &memtrail,
            folder: &folder,
            blocks,
            analysis: &first,
            memory: (&quarter, &spent),
        })?);
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    speed.print();
    println!("Within a quarter of the heap's size:\n");
    bounded.print();
    println!("Types of blocks, where `memtrail types` finds the program's, and by contents:\n");
    types.print();
    Ok(())
}

/// A snapshot that was analysed with and without a limit.
struct Typed<'a, F: Fn(&[&str]) -> Command> {
    name: &'a str,
    memtrail: &'a F,
    folder: &'a Path,
    blocks: f64,
    analysis: &'a Spent,
    /// The limit, and what the analysis took within it.
    memory: (&'a str, &'a Spent),
}

/// What is added by types: a command that finds them, beside one that reads them.
fn typed<F: Fn(&[&str]) -> Command>(of: &Typed<'_, F>) -> Outcome<Vec<String>> {
    // Programs without .cmt files have types by contents alone.
    let mut store = Command::new((of.memtrail)(&[]).get_program());
    store.arg("types").arg(of.folder).stdout(Stdio::null()).stderr(Stdio::null());
    store.status().map_err(|e| format!("memtrail types: {e}"))?;
    let file = of.folder.join("0001.heap.types");
    let histogram = ["histogram", "--by", "type", "--limit", "1"];
    Spent::of(&mut (of.memtrail)(&["roots", "--min", "1000G"]))?;
    let first = Spent::of(&mut (of.memtrail)(&histogram))?;
    let again = Spent::of(&mut (of.memtrail)(&histogram))?;
    let added = first.cpu.saturating_sub(again.cpu).as_secs_f64();
    let bytes = length(&file)?;
    fs::remove_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let (limit, analysis) = of.memory;
    let bounded: Vec<&str> = histogram.iter().copied().chain(["--memory", limit]).collect();
    let bounded = Spent::of(&mut (of.memtrail)(&bounded))?;
    Ok(vec![
        of.name.into(),
        format!("{:.0} ns", added * 1e9 / of.blocks),
        format!("{:.0} %", 100.0 * added / of.analysis.cpu.as_secs_f64()),
        format!("{:.2} s", again.wall.as_secs_f64()),
        format!("{:.2} B/block", bytes / of.blocks),
        limit.into(),
        format!("{:.0} MiB", bounded.peak / f64::from(1 << 20)),
        format!("{:.0} MiB", analysis.peak / f64::from(1 << 20)),
    ])
}

fn length(path: &PathBuf) -> Outcome<f64> {
    let about = fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(about.len() as f64)
}

/// What a command took.
struct Spent {
    wall: Duration,
    cpu: Duration,
    /// Bytes of memory at the most, mapped files counted.
    peak: f64,
}

impl Spent {
    fn of(command: &mut Command) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (started, before) = (Instant::now(), cpu::so_far()?);
        let mut child = command.spawn().map_err(|e| format!("cannot start {command:?}: {e}"))?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0.0;
        let ended = loop {
            if let Ok(Some(ended)) = child.try_wait() {
                break ended;
            }
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            if let Some(Ok(kib)) = line.map(|kib| kib.trim_end_matches("kB").trim().parse::<f64>())
            {
                peak = kib * 1024.0;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let wall = started.elapsed();
        if !ended.success() {
            return Err(format!("{command:?} ended with {ended}"));
        }
        Ok(Self { wall, cpu: cpu::so_far()?.saturating_sub(before), peak })
    }
}
