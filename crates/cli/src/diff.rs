//! `memtrail diff`: what changed from one recording to another.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use memtrail_engine::query::{self, Compare, Normalise};
use memtrail_engine::{Difference, DifferenceRow, Engine, RecordingId, Setting};
use memtrail_profile::calls::Status;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes_with_error, count, grouped, percent};
use serde::Serialize;

use crate::answer::{Answer, JsonAnswer, JsonMaker, OutputArgs, Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING};
use crate::error::{Failure, Kind};
use crate::heap::compared::{self, Heaps};
use crate::heap::diff::{of_families, of_snapshots};
use crate::heap::input::choose;
use crate::heap::named;
use crate::heap::sites::By;
use crate::heap::table::Table;
use crate::limit::{Limit, draw_left_out};
use crate::problems::Problems;
use crate::recording_cache::RecordingCache;
use crate::recording_facts;
use crate::recording_source::{Need, Process, RecordingSource};
use crate::snapshot_file::{self, MemoryArgs};
use crate::view::check_filter;
use crate::{caveats, damage, loading};

/// Show what changed from one recording to another
///
/// Compares the last heap snapshots if both have any, then what was alive at the end and what was allocated; of programs
/// with their children, sums over all processes. The largest change of each table comes first.
/// Snapshots are exact. Other figures are estimates from samples. A row is listed only if sampling alone would make any
/// row of its table change as much in one of a hundred comparisons at most.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail diff before.memtrail after.memtrail
  memtrail diff before.memtrail after.memtrail --by site --filter in:Cache.load
  memtrail diff before.memtrail after.memtrail --normalise duration
        runs of different length: bytes allocated a second

`memtrail heap diff` compares any two snapshots, `memtrail view A B` shows both as one flame graph.")]
pub(crate) struct Args {
    /// The earlier recording, trace or snapshot
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later one
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// A row for each what
    #[arg(long, value_enum, default_value = "function")]
    by: By,
    /// Only blocks that match; may be given several times
    #[arg(long = "filter", value_name = "CONDITION", allow_hyphen_values = true)]
    filters: Vec<String>,
    /// What makes recordings comparable that are not of the same length
    #[arg(long, value_enum, default_value = "none")]
    normalise: Scale,
    /// Maximum number of rows of each table; 0 for all
    #[arg(long, value_name = "N", default_value = "15")]
    limit: Limit,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    form: OutputArgs,
    /// Traces that are read are kept there.
    #[arg(skip)]
    cache: RecordingCache,
}

/// What figures are divided by.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scale {
    /// Nothing: bytes
    None,
    /// The recording's length: bytes a second
    Duration,
    /// What was allocated in all: shares
    Allocated,
}

impl From<Scale> for Normalise {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::None => Self::None,
            Scale::Duration => Self::Duration,
            Scale::Allocated => Self::Allocated,
        }
    }
}

/// The answer: without `traces` if either side has none, as a snapshot alone and a core file, without `heap` if either side has
/// no snapshot.
#[derive(Serialize)]
struct Differences<'a> {
    /// Before and after.
    recordings: [String; 2],
    #[serde(flatten)]
    traces: Option<Traces>,
    heap: Option<&'a compared::Difference>,
}

/// What differs between two traces.
#[derive(Serialize)]
struct Traces {
    /// What was not collected before the recording ended.
    live_end: Difference,
    /// What was alive when most was alive.
    live_peak: Difference,
    /// All blocks.
    allocated: Difference,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    answer(args, Printer)
}

/// The answer as JSON. What is opened is kept in a cache.
pub(crate) fn json(mut args: Args, cache: &RecordingCache) -> Result<JsonAnswer, Failure> {
    args.cache = cache.clone();
    answer(&args, JsonMaker)
}

fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    check_filter(&args.filters)?;
    let whole = Process::default();
    let recordings = [whole.open(&args.before)?, whole.open(&args.after)?];
    let without_trace = recordings.iter().find(|recording| recording_facts::lacks_trace(recording));
    let mut problems = Problems::default();
    let traces = if without_trace.is_some() {
        None
    } else {
        let read = read(args, &recordings)?;
        for (recording, id) in recordings.iter().zip(read.sides) {
            let anomalies = read.engine.damage(id).unwrap_or_default();
            if let Err(failure) = damage::verdict(recording, &anomalies) {
                problems.tell(failure);
            }
        }
        Some(traces(&read, args)?)
    };
    let heap =
        heaps([&args.before, &args.after], &recordings, without_trace.is_some(), args.memory)?;
    let Limit(limit) = args.limit;
    let heap = heap.map(|(heap, unread)| {
        problems.append(unread);
        heap.limited(limit)
    });
    let answer = Differences {
        recordings: recordings.each_ref().map(|recording| recording_facts::name(&recording.path)),
        traces,
        heap: heap.as_ref().map(|heap| &heap.answer),
    };
    let damage = heap.as_ref().and_then(|heap| heap.damage.clone());
    recipient.receive(&args.form, Answer { value: &answer, damage, problems }, |canvas| {
        let [before, after] = &answer.recordings;
        canvas.line(&[(FAINT, &format!("before: {before}, after: {after}"))]);
        canvas.gap();
        if let Some(heap) = &heap {
            canvas.line(&[(STRONG, "heap snapshots, exact")]);
            heap.draw(canvas, named::By::Owner);
        } else {
            let is_native = recordings.iter().any(|one| recording_facts::is_native(one));
            let text = if is_native {
                "native programs have no heaps to compare, only what their call sites allocated"
            } else {
                "heaps are not compared: both sides need a snapshot (run --snapshot exit)"
            };
            canvas.paragraph(FAINT, 2, text);
        }
        canvas.gap();
        if let Some(traces) = &answer.traces {
            canvas.line(&[(STRONG, "allocations, estimated from samples")]);
            draw(canvas, traces, args.normalise, limit);
            for recording in &recordings {
                for note in caveats::reported(recording).of_allocation().notes() {
                    let name = recording_facts::name(&recording.path);
                    canvas.paragraph(WARNING, 2, &format!("note: {name}: {note}"));
                }
            }
        } else if let Some(recording) = without_trace {
            let name = recording_facts::name(&recording.path);
            let text = format!("allocation is not compared: {name} has no samples of it");
            canvas.paragraph(FAINT, 2, &text);
        }
    })
}

/// The traces of both sides, in one engine.
struct BothTraces {
    engine: Engine,
    sides: [RecordingId; 2],
}

fn read(args: &Args, recordings: &[RecordingSource; 2]) -> Result<Rc<BothTraces>, Failure> {
    let read = || {
        let engine = Engine::new(Setting::default());
        let [before, after] =
            recordings.each_ref().map(|recording| loading::add(&engine, recording));
        let sides = [before?, after?];
        Ok(BothTraces { engine, sides })
    };
    // Traces of families are merged anew.
    if recordings.iter().any(|recording| recording.is_merged()) {
        return Ok(Rc::new(read()?));
    }
    args.cache.keep("both traces".to_owned(), &[&args.before, &args.after], read)
}

fn traces(BothTraces { engine, sides }: &BothTraces, args: &Args) -> Result<Traces, Failure> {
    let Limit(limit) = args.limit;
    let difference = |condition: Option<&str>| {
        let mut filter = args.filters.clone();
        filter.extend(condition.map(ToOwned::to_owned));
        let side = |rec: u32| query::Side { rec, filter: filter.clone() };
        let query = Compare {
            a: side(sides[0].0),
            b: side(sides[1].0),
            by: args.by.into(),
            normalise: args.normalise.into(),
            limit,
            ..Compare::default()
        };
        engine.difference(&query).map_err(|error| loading::refused(&error))
    };
    Ok(Traces {
        live_end: difference(Some("live:end"))?,
        live_peak: difference(Some("live:peak"))?,
        allocated: difference(None)?,
    })
}

/// Compares the last snapshots, if both have any; of families, sums over those of all processes.
fn heaps(
    paths: [&Path; 2],
    recordings: &[RecordingSource; 2],
    must: bool,
    memory: MemoryArgs,
) -> Result<Option<(Heaps, Problems)>, Failure> {
    if recordings.iter().any(|recording| recording.family.is_some()) {
        let need = Need::Snapshots;
        let process = Process::default();
        let has_any = |path: &Path| match process.all(path, need) {
            Ok(all) => all.iter().all(|path| {
                snapshot_file::is_snapshot(path) || !snapshot_file::of_recording(path).is_empty()
            }),
            Err(_) => false,
        };
        if !paths.into_iter().all(has_any) {
            return Ok(None);
        }
        let [before, after] = paths.map(|path| process.subject(path, need));
        return of_families([&before?, &after?], memory).map(Some);
    }
    let [before, after] = recordings.each_ref().map(|recording| &recording.path);
    let snapshots = recordings.iter().all(|recording| {
        recording_facts::is_snapshot_alone(recording)
            || !snapshot_file::of_recording(&recording.path).is_empty()
    });
    if !snapshots && !must {
        return Ok(None);
    }
    let (first, last) = (choose(before, None)?, choose(after, None)?);
    if first == last {
        let message = format_args!("both are the same snapshot, {}", last.display());
        return Err(Failure::new(Kind::Usage, message).hint("name a second one to compare it with"));
    }
    Ok(Some((of_snapshots([&first, &last], memory)?, Problems::default())))
}

fn draw(canvas: &mut Canvas, traces: &Traces, scale: Scale, limit: usize) {
    let Traces { live_end, live_peak, allocated } = traces;
    let mut table = Table::new(&["change", "before", "after"], "");
    for (name, difference) in
        [("alive at the end", live_end), ("alive at the peak", live_peak), ("allocated", allocated)]
    {
        let Difference { before, after, status, .. } = difference;
        table.row(figures(*before, *after, *status, scale), name);
    }
    table.print(canvas);
    // A program that frees all before it ends shows the change at its peak.
    let is_nothing =
        live_end.rows.is_empty() && live_end.same == 0 && live_end.status == Status::Same;
    let live = if is_nothing && !live_peak.rows.is_empty() {
        ("alive at the peak", live_peak)
    } else {
        ("alive at the end", live_end)
    };
    for (name, difference) in [live, ("allocated", allocated)] {
        canvas.gap();
        rows(canvas, name, difference, scale, limit);
    }
}

/// Adds what changed, and how much did not.
fn rows(canvas: &mut Canvas, name: &str, difference: &Difference, scale: Scale, limit: usize) {
    let Difference { rows, changed, same, .. } = difference;
    if rows.is_empty() {
        let text = match same {
            0 => format!("{name}: nothing, before and after"),
            same => format!("{name}: none of {} rows changed beyond chance", grouped(*same as u64)),
        };
        canvas.line(&[(PLAIN, &text)]);
        if difference.status != Status::Same {
            let text = "the change is spread over many rows: try --by module, or a higher --rate";
            canvas.paragraph(FAINT, 2, text);
        }
        return;
    }
    let mut table = Table::new(&["", "change", "before", "after"], name);
    for row in rows {
        let mut cells = vec![word(row.status).to_owned()];
        cells.extend(figures(row.before, row.after, row.status, scale));
        table.row(cells, title(row));
        if let Some(earlier) = &row.renamed_from {
            table.row(vec![String::new(); 4], format!("  was {earlier}"));
        }
    }
    table.print(canvas);
    draw_left_out(canvas, changed.saturating_sub(limit), "");
    if *same > 0 {
        let text = format!("… and {} that did not change beyond chance", count(*same as f64));
        canvas.line(&[(FAINT, &text)]);
    }
}

const fn word(status: Status) -> &'static str {
    match status {
        Status::New => "new",
        Status::Gone => "gone",
        Status::Grown => "grown",
        Status::Shrunk => "shrunk",
        Status::Same => "same",
    }
}

fn title(row: &DifferenceRow) -> String {
    match (&row.file, row.line) {
        (Some(file), Some(line)) if !row.name.contains(file.as_str()) => {
            format!("{}  {file}:{line}", row.name)
        }
        _ => row.name.clone(),
    }
}

/// Change, before and after. A change that chance may explain says so.
fn figures(before: Estimate, after: Estimate, status: Status, scale: Scale) -> Vec<String> {
    let text = |value: f64, size: String| match scale {
        Scale::None => size,
        Scale::Duration => format!("{size}/s"),
        Scale::Allocated => percent(value),
    };
    let change = after.value - before.value;
    let sign = if change < 0.0 { "-" } else { "+" };
    let error = before.stderr.hypot(after.stderr);
    let change = if change == 0.0 {
        "no change".to_owned()
    } else {
        let size = text(change.abs(), bytes_with_error(change.abs(), error));
        let chance = if status == Status::Same { ", may be chance" } else { "" };
        format!("{sign}{size}{chance}")
    };
    vec![change, text(before.value, before.size()), text(after.value, after.size())]
}
