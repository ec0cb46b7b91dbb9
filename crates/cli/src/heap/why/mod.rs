//! `memtrail why`: what retains what a function allocated.

mod stacks;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::heap::{AliveEstimate, OwnerShare, WhyResponse};
use memtrail_engine::query::HeapWhy;
use memtrail_engine::question::{Family, Retainers, Selection};
use memtrail_recording::Recording;
use memtrail_text::rounded::{count, grouped, percent, seconds};

use super::ask::{Gathered, gather};
use super::joined::{RecordingArgs, has_references_alone};
use super::processes;
use super::read::Read;
use super::sites::found;
use super::table::Table;
use super::title::Title;
use crate::answer::{JsonAnswer, JsonMaker, OutputArgs, Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean};
use crate::error::{Failure, Kind};
use crate::limit::{Limit, draw_left_out};
use crate::recording_cache::RecordingCache;
use crate::recording_facts;
use crate::references::{self, draw};
use crate::snapshot_file;
use crate::{caveats, damage};
use stacks::StackFormat;

/// Show what retains what a function allocated
///
/// The trace knows which calls allocated the sampled blocks, the snapshot which roots own them, and by
/// which paths. All sizes are estimates of all blocks, sampled or not, with their standard error after ±.
///
/// NAME is a function (`Cache.remember`), a part of its name, or a line (`cache.ml:41`). What libraries allocate for
/// it counts, what other functions of the program do, does not. If nothing is left, callers with this name count, and
/// then closures of functions with this name, which the snapshot has all of.
///
/// Of a program in C, C++ or Rust (`memtrail run --native --snapshot exit`) it is shown what refers to these blocks, by a
/// conservative scan; of an OCaml program with its memory from malloc (`memtrail run --native=also --snapshot exit`) both.
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail why REC Cache.remember     which variables own what it allocated
  memtrail why REC --stack 'Server.handle;Cache.remember'
                                      only what it allocated when that one called it
  memtrail who REC Cache.table        which calls allocated what a variable owns
  memtrail heap sites REC             all allocation sites of what is alive
  memtrail why REC Cache.remember --format pprof -o why.pb.gz
                                      its retaining paths, for go tool pprof")]
pub(crate) struct Args {
    #[command(flatten)]
    which: RecordingArgs,
    /// A function, a part of its name, or a line: Cache.remember, cache.ml:41
    #[arg(value_name = "NAME", required_unless_present = "stack")]
    name: Option<String>,
    /// Instead of NAME, what is allocated below a call path: whole names of functions that call each other, the
    /// outermost first
    #[arg(long, value_name = "F;G;…", conflicts_with = "name")]
    stack: Option<String>,
    /// Maximum number of owners, and of paths; 0 for all
    #[arg(long, value_name = "N", default_value = "6")]
    limit: Limit,
    /// Write the retaining paths as stacks, from the root down, in this format
    #[arg(long, value_enum, conflicts_with_all = ["json", "width"])]
    format: Option<StackFormat>,
    /// The file to write with --format, replaced if it exists; standard output if not given
    #[arg(short, long, value_name = "FILE", requires = "format")]
    output: Option<PathBuf>,
    #[command(flatten)]
    form: OutputArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(format) = args.format {
        // A file has as many paths as there can be.
        let asked = find_all(args, usize::MAX)?;
        let heaps = asked.each().into_iter();
        let heaps: Vec<_> =
            heaps.filter_map(|(name, of)| Some((name, of.heap.as_ref()?))).collect();
        stacks::write(args.output.as_deref(), format, &heaps)?;
        return Ok(asked.finish());
    }
    answer(args, Printer)
}

/// The answer as JSON. What is opened is kept in a cache.
pub(crate) fn json(mut args: Args, cache: &RecordingCache) -> Result<JsonAnswer, Failure> {
    args.which.keep_in(cache);
    answer(&args, JsonMaker)
}

fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    find_all(args, args.limit.0)?.give(recipient, &args.form, |canvas, retainers, family| {
        draw_both(canvas, args, retainers, family);
    })
}

/// Finds what retains it in all recordings that are meant, so many rows of it.
fn find_all(args: &Args, limit: usize) -> Result<Gathered<Retainers>, Failure> {
    let subject = args.which.subject_with_retainers()?;
    let wanted = subject.rows(limit);
    gather(&subject, Selection::first((), limit), |path, member, reduction, read| {
        reduction.add(member, find(args, path, wanted, read)?);
        Ok(())
    })
}

/// Finds what retains it in one recording, so many rows of it.
fn find(args: &Args, path: &Path, limit: usize, read: &mut Read) -> Result<Retainers, Failure> {
    let is_whole_name =
        |names: &[String]| args.name.as_ref().is_none_or(|name| names.contains(name));
    if has_references_alone(path) {
        return of_native(args, path, limit, read);
    }
    let recording = Recording::open(path)?;
    if recording_facts::is_native(&recording) && snapshot_file::of_recording(path).is_empty() {
        return Err(references::none(&recording));
    }
    let joined = args.which.open_of(path)?;
    let unreadable = joined.give_references()?;
    let has_references = joined.has_references() && unreadable.is_none();
    read.judge(unreadable.map_or(Ok(ExitCode::SUCCESS), Err));
    let (rec, snapshot) = joined.ids();
    let name = args.name.clone().unwrap_or_default();
    let stack = args.stack.iter().flat_map(|stack| stack.split(';'));
    let path = stack.map(|name| name.trim().to_owned()).collect();
    let query = HeapWhy { rec, snapshot, name, path, limit, ..HeapWhy::default() };
    let answer = joined.query(|engine| engine.heap_why(&query));
    // Of an OCaml program whose calls of malloc are recorded, too.
    let of_malloc = match (&args.name, args.format) {
        (Some(name), None) if has_references => joined.referrers(name, limit).ok(),
        _ => None,
    };
    let retainers = match (answer, of_malloc) {
        (Ok(answer), malloc) => {
            read.damaged(joined.damage(&answer));
            let malloc = malloc.map(|found| found.response);
            let is_whole_name = is_whole_name(&answer.response.names);
            Retainers { heap: Some(answer.response), malloc, is_whole_name }
        }
        (Err(_), Some(found)) => {
            read.damaged(joined.damage(&found));
            let is_whole_name = is_whole_name(&found.response.names);
            Retainers { heap: None, malloc: Some(found.response), is_whole_name }
        }
        (Err(failure), None) => {
            return Err(failure.hint(
                "list what is alive by allocation site: memtrail heap sites REC; \
                 or who allocated what a variable owns: memtrail who REC NAME",
            ));
        }
    };
    read.trace(&joined);
    Ok(retainers)
}

/// Finds what refers to what a function of a native program allocated.
fn of_native(
    args: &Args,
    path: &Path,
    limit: usize,
    read: &mut Read,
) -> Result<Retainers, Failure> {
    let (Some(name), None) = (&args.name, args.format) else {
        let message = "--stack and --format are for recordings with heap snapshots";
        return Err(Failure::new(Kind::Usage, message));
    };
    let recording = Recording::open(path)?;
    let traced = args.which.open_trace(&recording)?;
    let (engine, id) = (&traced.engine, traced.id);
    if let Some(failure) = args.which.give_references(engine, id, &recording)? {
        return Err(failure.hint("list who allocates: memtrail report REC"));
    }
    let found = engine.referrers(id, name, limit).map_err(|error| {
        crate::loading::refused(&error).hint("list who allocates: memtrail report REC")
    })?;
    read.note(caveats::reported(&recording).of_allocation().notes());
    read.judge(damage::verdict(&recording, &engine.damage(id).unwrap_or_default()));
    let is_whole_name = found.names.contains(name);
    Ok(Retainers { heap: None, malloc: Some(found), is_whole_name })
}

/// Draws what retains memory of OCaml's heap, and memory from `malloc`.
fn draw_both(
    canvas: &mut Canvas,
    args: &Args,
    Retainers { heap, malloc, .. }: &Retainers,
    family: Option<&Family<Retainers>>,
) {
    if let Some(heap) = heap {
        draw_heap(canvas, args, heap, family);
        if malloc.is_some() {
            canvas.gap();
            canvas.line(&[(STRONG, "memory from malloc")]);
        }
    }
    if let Some(found) = malloc {
        draw::referrers(canvas, found);
    }
}

fn draw_heap(
    canvas: &mut Canvas,
    args: &Args,
    why: &WhyResponse,
    family: Option<&Family<Retainers>>,
) {
    draw_title(canvas, args, &why.names, [why.are_closures, why.are_callers]);
    let size = why.alive.bytes.size();
    let blocks = count(why.alive.blocks.value);
    let within =
        family.map_or_else(String::new, |family| processes::within(family.processes.len()));
    let text = if why.are_closures {
        format!(
            "{size} in {blocks} blocks{within}, exactly; nothing that these functions allocated is alive and sampled",
        )
    } else {
        let sampled = match why.alive.sampled {
            1 => "one of them was".to_owned(),
            sampled => format!("{} of them were", grouped(sampled)),
        };
        let share =
            why.share.map_or_else(String::new, |share| format!(", {} of all", percent(share)));
        format!("{size} alive{within}{share}, in {blocks} blocks; {sampled} sampled")
    };
    canvas.paragraph(PLAIN, 0, &text);
    allocated(canvas, &why.alive);
    canvas.gap();
    // Closures are counted, and others known by samples.
    let blocks = if why.are_closures { "blocks" } else { "sampled" };
    let last = if family.is_some() { "processes" } else { "block" };
    let mut table = Table::new(&["alive", "", blocks, last], "owned by");
    for owner in &why.owners {
        let figures = vec![
            owner.alive.bytes.size(),
            percent(owner.share),
            if why.are_closures {
                count(owner.alive.blocks.value)
            } else {
                grouped(owner.alive.sampled)
            },
            family.map_or_else(
                || owner.example.0.to_string(),
                |_| grouped(owner.processes.len() as u64),
            ),
        ];
        table.row(figures, titled(owner));
    }
    table.print(canvas);
    draw_left_out(canvas, why.left_out, "");
    canvas.gap();
    let mut table = Table::new(&["", blocks, last], "retained by the path");
    for path in &why.paths {
        let last = family
            .map_or_else(|| path.example.0.to_string(), |_| grouped(path.processes.len() as u64));
        table.row(vec![percent(path.share), grouped(path.blocks), last], path.shape.join(" → "));
        // The last is what NAME allocated.
        let above = path.shape.iter().zip(&path.allocated).rev().skip(1).rev();
        for (step, by) in above.filter_map(|(step, by)| Some((step, by.as_ref()?))) {
            table.faint(Vec::new(), format!("  {step}: {}", by.text()));
        }
    }
    table.print(canvas);
    found(canvas, why.coverage);
    if family.is_none() {
        canvas.line(&[(FAINT, "all about one of the blocks: memtrail heap block REC N")]);
    }
}

/// Most owners are global variables: of others, the kind is shown.
fn titled(owner: &OwnerShare) -> Title {
    let name = match owner.kind {
        "global" | "static" => owner.name.clone(),
        kind => format!("{kind}: {}", owner.name),
    };
    Title { name, ty: owner.r#type.clone(), position: owner.position.clone() }
}

/// What is meant.
fn draw_title(
    canvas: &mut Canvas,
    args: &Args,
    names: &[String],
    [are_closures, are_callers]: [bool; 2],
) {
    let stack = args.stack.as_deref();
    let what = match stack {
        Some(_) => "allocated below ",
        None if are_closures => "closures of ",
        None if are_callers => "called by ",
        None => "allocated by ",
    };
    let of = stack.map_or_else(|| names.join(", "), |stack| stack.replace(';', " → "));
    canvas.line(&[(PLAIN, what), (STRONG, &clean(&of))]);
}

/// When blocks were allocated.
pub(super) fn allocated(canvas: &mut Canvas, alive: &AliveEstimate) {
    let Some([first, middle, last]) = alive.allocated else { return };
    let text = if alive.sampled == 1 {
        format!("what was sampled was allocated {} after the start", seconds(middle))
    } else {
        format!(
            "a tenth of it was allocated within {} of the start, half within {}, nine tenths within {}",
            seconds(first),
            seconds(middle),
            seconds(last),
        )
    };
    canvas.paragraph(PLAIN, 0, &text);
}
