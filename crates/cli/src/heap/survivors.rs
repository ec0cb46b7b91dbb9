//! `memtrail heap survivors`: what was alive in one snapshot and still is in a later one.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::{AliveEstimate, SurvivorsResponse};
use memtrail_engine::query::{HeapSurvivors, SurvivorOrder};
use memtrail_engine::question::{Family, Selection};
use memtrail_recording::Recording;
use memtrail_text::rounded::{grouped, percent, seconds};

use super::ask::gather;
use super::joined::Joined;
use super::sites::{By, NOT_SAMPLED, place};
use super::table::Table;
use crate::answer::OutputArgs;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::{Failure, Kind};
use crate::limit::{Limit, draw_left_out};
use crate::recording_source::{Need, Process, Subject};
use crate::snapshot_file::{self, MemoryArgs};

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
    pub(super) form: OutputArgs,
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

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let Limit(limit) = args.limit;
    let subject = args.process.subject(&args.path, Need::Snapshots)?;
    let order = args.sort.into();
    let wanted = subject.rows(limit);
    let is_family = matches!(subject, Subject::Family(_));
    let asked =
        gather(&subject, Selection::first(order, limit), |path, member, reduction, read| {
            if is_family && snapshot_file::of_recording(path).len() < 2 {
                let message = "survivors need two snapshots, and no process has two";
                return Err(Failure::new(Kind::Usage, message)
                    .hint("take more: memtrail run --snapshot every-major -- PROGRAM")
                    .absent());
            }
            let joined = Joined::open(Recording::open(path)?, args.to.as_deref(), args.memory)?;
            let from = Some(joined.add(args.from.as_deref())?);
            let ((rec, to), by) = (joined.ids(), args.by.into());
            let found = joined.rows(
                wanted,
                |engine, offset, limit| {
                    let query = HeapSurvivors { rec, from, to, by, order, offset, limit };
                    engine.heap_survivors(&query)
                },
                |survivors| (&mut survivors.rows, survivors.count),
            )?;
            let damage = found.partial.as_ref();
            read.damaged(damage.map(|how| format!("one of the snapshots is damaged {how}")));
            read.trace(&joined);
            reduction.add(member, found.response);
            Ok(())
        });
    let asked = asked?.absent_because("with one snapshot only");
    let mark = asked.mark();
    asked.put(&args.form, |canvas, survivors, family| draw(canvas, mark, survivors, family))
}

fn draw(
    canvas: &mut Canvas,
    mark: &str,
    of: &SurvivorsResponse,
    family: Option<&Family<SurvivorsResponse>>,
) {
    let between = match (of.from, of.to) {
        (Some(from), Some(to)) => format!(
            "from snapshot {from} at {} to snapshot {to} at {}",
            seconds(of.from_at.unwrap_or_default()),
            seconds(of.to_at.unwrap_or_default()),
        ),
        _ => format!(
            "in {} processes, each from its first snapshot to its last or those that are named",
            grouped(family.map_or(0, |family| family.processes.len() as u64)),
        ),
    };
    canvas.paragraph(PLAIN, 2, &between);
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
    let last = if family.is_some() { "processes" } else { "allocated at" };
    let headings = ["survived", "of before", "freed", "added", "sampled", last];
    let mut table = Table::new(&headings, "allocated by");
    for row in &of.rows {
        let sampled = row.survived.sampled + row.freed.sampled + row.added.sampled;
        // When half of what survived had been allocated.
        let allocated =
            || row.survived.allocated.map_or_else(String::new, |[_, half, _]| seconds(half));
        let figures = vec![
            size(&row.survived),
            row.survival.map_or_else(String::new, percent),
            size(&row.freed),
            size(&row.added),
            format!("{mark}{}", grouped(sampled)),
            family.map_or_else(allocated, |_| grouped(row.processes.len() as u64)),
        ];
        table.row(figures, place(&row.name, row.file.as_deref(), row.line));
    }
    table.print(canvas);
    draw_left_out(canvas, of.left_out, "");
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
