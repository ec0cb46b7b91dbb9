//! `memtrail heap coverage`: how far the types of blocks reach.

use std::process::ExitCode;

use memtrail_heap::{BlockIndex, Bytes};
use memtrail_text::rounded::{bytes, grouped, percent};
use memtrail_typeflow::Coverage;
use serde::Serialize;

use super::family;
use super::input::Which;
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::{Failure, Kind};
use crate::limit::Limit;

/// Show how much of a snapshot has a type, and why the rest has none
///
/// Needs what `memtrail types REC` stores in the recording. Types start from global variables and follow the fields of
/// their values, with each block's tag and size checked on the way. They end where a type cannot be
/// known: at values of existential or abstract types and Obj.t, in the environments of functions.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Maximum number of reasons and of contradictions; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.which.several()? {
        return family::coverage(&args.which, &members, args.limit);
    }
    let input = args.which.open()?;
    let heap = input.heap()?;
    let coverage = input.coverage(&heap)?.ok_or_else(nothing_known)?;
    let answer = Types::new(coverage, args.limit);
    input.answer(&heap, &args.which.form, &answer, |canvas| {
        draw(canvas, &answer, BlockNumbers::Shown);
    })
}

/// The answer about one snapshot.
#[derive(Serialize)]
pub(super) struct Types {
    #[serde(flatten)]
    coverage: Coverage,
    /// Rows of all tables that `--limit` left out.
    left_out: usize,
    #[serde(skip)]
    reasons_left_out: usize,
}

impl Types {
    /// With so many rows of each table.
    pub(super) fn new(mut coverage: Coverage, Limit(limit): Limit) -> Self {
        let reasons_left_out = cut(&mut coverage.stops, limit);
        let left_out = reasons_left_out
            + cut(&mut coverage.rejected, limit)
            + cut(&mut coverage.differences, limit);
        Self { coverage, left_out, reasons_left_out }
    }
}

/// Cuts rows off; returns the number of rows that it cut.
pub(super) fn cut<T>(rows: &mut Vec<T>, limit: usize) -> usize {
    rows.split_off(rows.len().min(limit)).len()
}

/// The error about recordings without types.
pub(super) fn nothing_known() -> Failure {
    Failure::new(Kind::Input, "nothing is known of the types of this recording's program")
        .hint("find them with `memtrail types REC`")
}

/// Whether numbers of blocks are shown: those of several processes mean nothing without the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockNumbers {
    Shown,
    LeftOut,
}

/// Draws how far types reach.
pub(super) fn draw(
    canvas: &mut Canvas,
    Types { coverage, reasons_left_out, .. }: &Types,
    numbers: BlockNumbers,
) {
    let number = |block: BlockIndex| match numbers {
        BlockNumbers::Shown => block.0.to_string(),
        BlockNumbers::LeftOut => String::new(),
    };
    let text = format!(
        "{} of {} reachable have a type",
        percent(coverage.share()),
        bytes(coverage.bytes.0 as f64)
    );
    canvas.line(&[(STRONG, &text)]);
    canvas.gap();
    let figures = |size: Bytes| vec![percent(size.share_of(coverage.bytes)), bytes(size.0 as f64)];
    let mut table = Table::new(&["share", "size"], "");
    table.row(figures(coverage.by_variable), "from global variables along typed fields");
    table.row(figures(coverage.by_closure), "through environments of closures");
    for stop in &coverage.stops {
        table.faint(figures(stop.bytes), format!("no type: {}", stop.reason));
    }
    table.print(canvas);
    if *reasons_left_out > 0 {
        let more = grouped(*reasons_left_out as u64);
        let text = format!("… and {more} more reasons (--limit 0: all)");
        canvas.line(&[(FAINT, &text)]);
    }
    canvas.gap();
    let text = format!(
        "{} pointers contradict their type and were not followed; {} lead to blocks that another way gives another \
         type; {} have a type with unknown parts",
        grouped(coverage.contradictions),
        grouped(coverage.differing),
        bytes(coverage.partly_unknown.0 as f64)
    );
    canvas.paragraph(PLAIN, 2, &text);
    if !coverage.differences.is_empty() {
        canvas.gap();
        let mut table = Table::new(&["pointers", "block"], "two types");
        for found in &coverage.differences {
            let figures = vec![grouped(found.count), number(found.block)];
            table.row(figures, format!("{}, also {}", found.r#type, found.other));
        }
        table.print(canvas);
    }
    if coverage.rejected.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["pointers", "tag", "fields", "block"], "contradicts");
    for rejected in &coverage.rejected {
        let figures = vec![
            grouped(rejected.count),
            rejected.tag.to_string(),
            grouped(rejected.fields),
            number(rejected.block),
        ];
        table.row(figures, rejected.r#type.as_str());
    }
    table.print(canvas);
}
