//! `memtrail heap sites`: whose blocks retain most.

use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::{Coverage, SamplesResponse};
use memtrail_engine::query::{self, HeapSamples, SiteOrder};
use memtrail_engine::question::{Family, Selection};
use memtrail_text::rounded::{bytes, grouped, percent};

use super::ask::gather;
use super::joined::RecordingArgs;
use super::table::Table;
use crate::answer::OutputArgs;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};

/// List the allocation sites whose blocks are alive in a snapshot
///
/// Here both halves of a recording meet: which calls allocated a block is in the trace, whether it is
/// alive and what it retains is in the snapshot. `alive` is an estimate of all blocks of a site, sampled or
/// not, with its standard error after ±. What the sampled ones retain is exact.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: RecordingArgs,
    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,
    /// Put rows in order by this, largest first
    #[arg(long, value_enum, default_value = "alive")]
    pub(super) sort: Sort,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,
    #[command(flatten)]
    pub(super) form: OutputArgs,
}

/// What rows stand for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum By {
    Site,
    Function,
    Module,
    File,
}

/// What rows are put in order by.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Sort {
    /// Bytes that are alive, an estimate
    Alive,
    /// What the sampled blocks retain
    Retained,
}

/// Why no block may be sampled.
pub(super) const NOT_SAMPLED: &str =
    "a higher --rate of memtrail run samples more; recordings of core files have no samples";

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let subject = which.subject()?;
    let (by, order) = (args.by.into(), args.sort.into());
    // Sites of several processes are summed before some are left out.
    let wanted = subject.rows(limit);
    let asked =
        gather(&subject, Selection::first(order, limit), |path, member, reduction, read| {
            let joined = which.open_of(path)?;
            let (rec, snapshot) = joined.ids();
            let found = joined.rows(
                wanted,
                |engine, offset, limit| {
                    engine.heap_samples(&HeapSamples { rec, snapshot, by, order, offset, limit })
                },
                |samples| (&mut samples.rows, samples.count),
            )?;
            read.damaged(joined.damage(&found));
            read.trace(&joined);
            reduction.add(member, found.response);
            Ok(())
        });
    let asked = asked?;
    let mark = asked.mark();
    asked.put(&args.form, |canvas, sites, family| draw(canvas, mark, sites, family))
}

fn draw(
    canvas: &mut Canvas,
    mark: &str,
    sites: &SamplesResponse,
    family: Option<&Family<SamplesResponse>>,
) {
    if sites.rows.is_empty() {
        canvas.line(&[(PLAIN, "none of the blocks that are alive was sampled")]);
        canvas.paragraph(FAINT, 0, NOT_SAMPLED);
        return;
    }
    let last = if family.is_some() { "processes" } else { "block" };
    let headings = ["alive", "share", "sampled", "retained by these", last];
    let mut table = Table::new(&headings, "allocated by");
    for row in &sites.rows {
        let block = || row.example.map_or_else(String::new, |block| block.0.to_string());
        let figures = vec![
            format!("{mark}{}", row.alive.size()),
            percent(row.share),
            format!("{mark}{}", grouped(row.blocks)),
            bytes(row.retained.0 as f64),
            family.map_or_else(block, |_| grouped(row.processes.len() as u64)),
        ];
        table.row(figures, place(&row.name, row.file.as_deref(), row.line));
    }
    table.print(canvas);
    draw_left_out(canvas, sites.left_out, "");
    found(canvas, sites.coverage);
    if family.is_none() {
        canvas.line(&[(FAINT, "the retaining path of one of them: memtrail heap block REC N")]);
    }
}

/// How many sampled blocks were found in the snapshot, and why others were not.
pub(super) fn found(canvas: &mut Canvas, coverage: Option<Coverage>) {
    let Some(of) = coverage else { return };
    let found = of.found + of.unreachable;
    let mut text = format!(
        "{} of {} sampled blocks that are alive by the trace are in the snapshot",
        grouped(found),
        grouped(of.alive),
    );
    for (count, reason) in [
        (of.unreachable, "of them retained by nothing: the next collection frees them"),
        (of.reported_later, "had been freed, which was reported after the snapshot"),
        (of.not_found, "missing, and never reported as freed"),
        (of.unwritten, "more in the snapshot, not alive by the trace"),
    ] {
        if count > 0 {
            text.push_str("; ");
            text.push_str(&grouped(count));
            text.push(' ');
            text.push_str(reason);
        }
    }
    canvas.paragraph(FAINT, 2, &text);
}

/// `Leaks.Outbox.compose  leaks.ml:54`. Where the line is unknown, which is 0, the file is the program's.
pub(crate) fn place(name: &str, file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) if !file.is_empty() && line > 0 => {
            format!("{name}  {file}:{line}")
        }
        _ => name.to_owned(),
    }
}

impl From<Sort> for SiteOrder {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Alive => Self::Alive,
            Sort::Retained => Self::Retained,
        }
    }
}

impl From<By> for query::By {
    fn from(by: By) -> Self {
        match by {
            By::Site => Self::Site,
            By::Function => Self::Function,
            By::Module => Self::Module,
            By::File => Self::File,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Flow_ast_mapper.mapper_init` was shown at line 0 of Flow's executable.
    #[test]
    fn sites_without_a_line_have_a_name_only() {
        assert_eq!(place("Shop.add", Some("shop.ml"), Some(54)), "Shop.add  shop.ml:54");
        for (file, line) in [(Some("bin/shop"), Some(0)), (Some(""), Some(1)), (None, None)] {
            assert_eq!(place("Shop.cart_init", file, line), "Shop.cart_init");
        }
    }
}
