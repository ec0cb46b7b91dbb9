//! `memtrail who`: which calls allocated what a root owns, or the blocks of a type.

use std::process::ExitCode;

use memtrail_engine::heap::{AliveEstimate, OfSnapshot, WhoResponse};
use memtrail_engine::query::HeapWho;
use memtrail_heap::Bytes;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes, grouped, percent};

use super::family;
use super::joined::{Joined, WhichRecording};
use super::sites::{By, NOT_SAMPLED, place};
use super::table::Table;
use super::why::allocated;
use crate::answer::{Form, Limited, put};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING, clean};
use crate::error::Failure;
use crate::limit::Limit;

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
    pub(super) which: WhichRecording,
    /// A root, a type or a kind of blocks: Cache.table, Cache.page, string
    #[arg(value_name = "NAME")]
    name: String,
    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "12")]
    pub(super) limit: Limit,
    #[command(flatten)]
    pub(super) form: Form,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.which.several()? {
        return family::who(args, &members);
    }
    let joined = args.which.open()?;
    let Limit(limit) = args.limit;
    let answer = find(args, &joined, limit)?;
    let caveats = joined.caveats();
    let damage = joined.damage(&answer);
    let who = answer.response;
    put(&args.form, damage, &Limited::new(&who, who.rows.len(), who.count), |canvas| {
        draw(canvas, &who);
        for note in caveats.notes() {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
    })?;
    joined.verdict()
}

/// The calls that allocated it, some of them.
pub(super) fn find(
    args: &Args,
    joined: &Joined,
    limit: usize,
) -> Result<OfSnapshot<WhoResponse>, Failure> {
    let (rec, snapshot) = joined.ids();
    let query = HeapWho {
        rec,
        snapshot,
        name: args.name.clone(),
        by: args.by.into(),
        limit,
        ..HeapWho::default()
    };
    joined
        .query(|engine| engine.heap_who(&query))
        .map_err(|failure| failure.hint("list roots and what they own: memtrail heap roots REC"))
}

/// What is meant, and how much there is.
pub(super) fn draw_size(
    canvas: &mut Canvas,
    (of, names): (&str, &[String]),
    [size, external]: [Bytes; 2],
    alive: (Estimate, u64),
) {
    let what = match of {
        "owner" => "owned by ",
        of => of,
    };
    let space = if of == "owner" { "" } else { " " };
    canvas.line(&[(PLAIN, what), (PLAIN, space), (STRONG, &clean(&names.join(", ")))]);
    let outside = match external.0 {
        0 => String::new(),
        external => format!(", and {} off-heap", bytes(external as f64)),
    };
    let (alive, sampled) = alive;
    let text = format!(
        "{} in the heap{outside}, exactly; {} by {} sampled block{}",
        bytes(size.0 as f64),
        alive.size(),
        grouped(sampled),
        if sampled == 1 { "" } else { "s" },
    );
    canvas.paragraph(PLAIN, 0, &text);
    if sampled == 0 {
        canvas.paragraph(FAINT, 0, &format!("none of the blocks was sampled; {NOT_SAMPLED}"));
    }
}

pub(super) fn draw(canvas: &mut Canvas, who: &WhoResponse) {
    let AliveEstimate { bytes: size, sampled, .. } = who.alive;
    draw_size(canvas, (who.of, &who.names), [who.size, who.external], (size, sampled));
    if who.rows.is_empty() {
        return;
    }
    allocated(canvas, &who.alive);
    canvas.gap();
    let mut table = Table::new(&["alive", "", "sampled", "block"], "allocated by");
    for row in &who.rows {
        let figures = vec![
            row.alive.bytes.size(),
            percent(row.share),
            grouped(row.alive.sampled),
            row.example.0.to_string(),
        ];
        table.row(figures, place(&row.name, row.file.as_deref(), row.line));
        if !row.callers.is_empty() {
            table.faint(Vec::new(), format!("  called by {}", row.callers.join(" ← ")));
        }
    }
    table.print(canvas);
    let left_out = who.count.saturating_sub(who.rows.len()) as u64;
    if left_out > 0 {
        canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out)))]);
    }
    canvas.line(&[(FAINT, "all about one of the blocks: memtrail heap block REC N")]);
}
