//! `memtrail who`: which calls allocated what a root owns, or the blocks of a type.

use std::process::ExitCode;

use memtrail_engine::heap::WhoResponse;
use memtrail_engine::query::HeapWho;
use memtrail_engine::question::{Family, Selection};
use memtrail_text::rounded::{bytes, grouped, percent};

use super::ask::gather;
use super::joined::RecordingArgs;
use super::processes;
use super::sites::{By, NOT_SAMPLED, place};
use super::table::Table;
use super::why::allocated;
use crate::answer::{JsonAnswer, JsonMaker, OutputArgs, Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};
use crate::recording_cache::RecordingCache;

/// Show which calls allocated what a root owns, or the blocks of a type
///
/// The snapshot knows what each root owns, exactly; the trace knows which calls allocated the sampled blocks
/// of it. Sizes of rows are estimates of all blocks, sampled or not, with their standard error after ±.
///
/// NAME is a root as `memtrail heap roots` prints it (`Cache.table`), a type (`Cache.page`), a kind of blocks
/// (`string`), or a part of a root's name.
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail who REC Cache.table        which calls allocated what the variable owns
  memtrail who REC string             which calls allocated the strings that are alive
  memtrail why REC Cache.remember     which variables own what a function allocated")]
pub(crate) struct Args {
    #[command(flatten)]
    which: RecordingArgs,
    /// A root, a type or a kind of blocks: Cache.table, Cache.page, string
    #[arg(value_name = "NAME")]
    name: String,
    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "12")]
    limit: Limit,
    #[command(flatten)]
    form: OutputArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    answer(args, Printer)
}

/// The answer as JSON. What is opened is kept in a cache.
pub(crate) fn json(mut args: Args, cache: &RecordingCache) -> Result<JsonAnswer, Failure> {
    args.which.keep_in(cache);
    answer(&args, JsonMaker)
}

fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let subject = which.subject()?;
    let wanted = subject.rows(limit);
    let asked = gather(&subject, Selection::first((), limit), |path, member, reduction, read| {
        let joined = which.open_of(path)?;
        let ((rec, snapshot), name) = (joined.ids(), args.name.clone());
        let (by, limit) = (args.by.into(), wanted);
        let query = HeapWho { rec, snapshot, name, by, limit, ..HeapWho::default() };
        let found = joined.query(|engine| engine.heap_who(&query)).map_err(|failure| {
            failure.hint("list roots and what they own: memtrail heap roots REC")
        })?;
        read.damaged(joined.damage(&found));
        read.trace(&joined);
        reduction.add(member, found.response);
        Ok(())
    });
    asked?.give(recipient, &args.form, draw)
}

fn draw(canvas: &mut Canvas, who: &WhoResponse, family: Option<&Family<WhoResponse>>) {
    let (what, space) = match who.of {
        "owner" => ("owned by ", ""),
        of => (of, " "),
    };
    canvas.line(&[(PLAIN, what), (PLAIN, space), (STRONG, &clean(&who.names.join(", ")))]);
    let outside = match who.external.0 {
        0 => String::new(),
        external => format!(", and {} off-heap", bytes(external as f64)),
    };
    let sampled = who.alive.sampled;
    let text = format!(
        "{} in the heap{outside}, exactly; {} by {} sampled block{}",
        bytes(who.size.0 as f64),
        who.alive.bytes.size(),
        grouped(sampled),
        if sampled == 1 { "" } else { "s" },
    );
    canvas.paragraph(PLAIN, 0, &text);
    if family.is_some_and(Family::has_forks) {
        canvas.paragraph(FAINT, 2, processes::NOTE);
    }
    if sampled == 0 {
        canvas.paragraph(FAINT, 0, &format!("none of the blocks was sampled; {NOT_SAMPLED}"));
    }
    if who.rows.is_empty() {
        return;
    }
    allocated(canvas, &who.alive);
    canvas.gap();
    let last = if family.is_some() { "processes" } else { "block" };
    let mut table = Table::new(&["alive", "", "sampled", last], "allocated by");
    for row in &who.rows {
        let figures = vec![
            row.alive.bytes.size(),
            percent(row.share),
            grouped(row.alive.sampled),
            family
                .map_or_else(|| row.example.0.to_string(), |_| grouped(row.processes.len() as u64)),
        ];
        table.row(figures, place(&row.name, row.file.as_deref(), row.line));
        if !row.callers.is_empty() {
            table.faint(Vec::new(), format!("  called by {}", row.callers.join(" ← ")));
        }
    }
    table.print(canvas);
    draw_left_out(canvas, who.left_out, "");
    if family.is_none() {
        canvas.line(&[(FAINT, "all about one of the blocks: memtrail heap block REC N")]);
    }
}
