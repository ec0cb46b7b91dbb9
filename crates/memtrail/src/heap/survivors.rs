//! `memtrail heap survivors`: what was alive in one snapshot and still is in a later one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::{AliveEstimate, OfSnapshot, SurvivorsResponse};
use memtrail_engine::query::{HeapSurvivors, SurvivorOrder};
use memtrail_profile::Caveats;
use memtrail_recording::Recording;
use memtrail_text::rounded::{grouped, percent, seconds};
use serde::Serialize;

use super::family;
use super::joined::Joined;
use super::sites::{By, NOT_SAMPLED, place};
use super::table::Table;
use crate::answer::{Form, put};
use crate::canvas::{Canvas, FAINT, PLAIN, WARNING};
use crate::error::Failure;
use crate::limit::Limit;
use crate::recording_source::{Need, Process};
use crate::snapshot_file::MemoryArgs;

/// List the allocation sites whose blocks survived from one snapshot to another
///
/// A sampled block has the same number in all snapshots of a recording. So it is known of each whether it was
/// alive in both, was freed in between, or was added. A cache that was filled at the start survives and
/// nothing is added; a leak survives and grows; what is in use for a short time does not survive.
///
/// Sizes are estimates of all blocks of a site, sampled or not, with their standard error after ±.
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail heap survivors REC                   from the first snapshot to the last
  memtrail heap survivors REC --from 3 --to 7
  memtrail heap survivors REC --sort oldest     what was allocated first is first")]
pub(crate) struct Args {
    /// A recording with heap snapshots (NAME.memtrail)
    #[arg(value_name = "REC")]
    path: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Alive in the snapshot with this number, or the last with this label, instead of the first …
    #[arg(long, value_name = "N|LABEL")]
    from: Option<String>,
    /// … and in this one, instead of the last
    #[arg(long, value_name = "N|LABEL")]
    to: Option<String>,
    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,
    /// Put rows in order by this
    #[arg(long, value_enum, default_value = "survived")]
    pub(super) sort: Sort,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    pub(super) form: Form,
}

/// What rows are put in order by.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Sort {
    /// Bytes that survived, most first
    Survived,
    /// Bytes that were added, most first
    Added,
    /// When half of what survived had been allocated, earliest first
    Oldest,
}

/// The answer.
#[derive(Serialize)]
struct Survivors<'a> {
    #[serde(flatten)]
    found: &'a SurvivorsResponse,
    left_out: usize,
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    caveats: &'a Caveats,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.process.several(&args.path, Need::Snapshots)? {
        return family::survivors(args, &members);
    }
    let Limit(limit) = args.limit;
    let path = args.process.one(&args.path, Need::Snapshots)?;
    let (joined, survivors) = find(args, &path, limit)?;
    let caveats = joined.caveats();
    let damage = damaged(&survivors);
    let survivors = survivors.response;
    let left_out = survivors.count.saturating_sub(survivors.rows.len());
    let answer = Survivors { found: &survivors, left_out, caveats: &caveats };
    put(&args.form, damage, &answer, |canvas| {
        draw(canvas, &survivors, caveats.mark());
        for note in caveats.notes() {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
    })?;
    joined.verdict()
}

/// What is wrong with a snapshot.
pub(super) fn damaged(survivors: &OfSnapshot<SurvivorsResponse>) -> Option<String> {
    survivors.partial.as_ref().map(|how| format!("one of the snapshots is damaged {how}"))
}

/// What survived in one recording, so many rows of it.
pub(super) fn find(
    args: &Args,
    path: &Path,
    limit: usize,
) -> Result<(Joined, OfSnapshot<SurvivorsResponse>), Failure> {
    let joined = Joined::open(Recording::open(path)?, args.to.as_deref(), args.memory)?;
    let from = joined.add(args.from.as_deref())?;
    let (rec, to) = joined.ids();
    let survivors = joined.rows(
        limit,
        |engine, offset, limit| {
            engine.heap_survivors(&HeapSurvivors {
                rec,
                from: Some(from),
                to,
                by: args.by.into(),
                order: args.sort.into(),
                offset,
                limit,
            })
        },
        |survivors| (&mut survivors.rows, survivors.count),
    )?;
    Ok((joined, survivors))
}

pub(super) fn draw(canvas: &mut Canvas, of: &SurvivorsResponse, mark: &str) {
    canvas.paragraph(
        PLAIN,
        2,
        &format!(
            "from snapshot {} at {} to snapshot {} at {}",
            of.from,
            seconds(of.from_at),
            of.to,
            seconds(of.to_at),
        ),
    );
    let size = |of: &AliveEstimate| match of.sampled {
        0 => String::new(),
        _ => format!("{mark}{}", of.bytes.size()),
    };
    let or_nothing = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
    canvas.paragraph(
        PLAIN,
        2,
        &format!(
            "{} survived, {} freed, {} added",
            or_nothing(size(&of.survived)),
            or_nothing(size(&of.freed)),
            or_nothing(size(&of.added)),
        ),
    );
    if of.rows.is_empty() {
        canvas.line(&[(PLAIN, "none of the blocks that are alive was sampled")]);
        canvas.paragraph(FAINT, 0, NOT_SAMPLED);
        return;
    }
    canvas.gap();
    let headings = ["survived", "of before", "freed", "added", "sampled", "allocated at"];
    let mut table = Table::new(&headings, "allocated by");
    for row in &of.rows {
        let sampled = row.survived.sampled + row.freed.sampled + row.added.sampled;
        let figures = vec![
            size(&row.survived),
            row.survival.map_or_else(String::new, percent),
            size(&row.freed),
            size(&row.added),
            format!("{mark}{}", grouped(sampled)),
            // When half of what survived had been allocated.
            row.survived.allocated.map_or_else(String::new, |[_, half, _]| seconds(half)),
        ];
        table.row(figures, place(&row.name, row.file.as_deref(), row.line));
    }
    table.print(canvas);
    let left_out = of.count.saturating_sub(of.rows.len()) as u64;
    if left_out > 0 {
        canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out)))]);
    }
    canvas.line(&[(FAINT, "what retains what a call allocated: memtrail why REC FUNCTION")]);
}

impl From<Sort> for SurvivorOrder {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Survived => Self::Survived,
            Sort::Added => Self::Added,
            Sort::Oldest => Self::Oldest,
        }
    }
}
