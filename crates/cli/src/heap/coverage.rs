//! `memtrail heap coverage`: how far the types of blocks reach.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_engine::question::{
    Family, FamilyForm, Member, Merge, OfMember, Selection, Sizes, Unanswered, View,
};
use memtrail_heap::{BlockIndex, Bytes, query};
use memtrail_order::SortRows as _;
use memtrail_text::rounded::{bytes, grouped, percent};
use memtrail_typeflow::{Coverage, Difference, Rejected, Stop};
use serde::Serialize;

use super::ask::{gather, look};
use super::input::SnapshotArgs;
use super::table::Table;
use crate::canvas::{Canvas, PLAIN, STRONG};
use crate::error::{Failure, Kind};
use crate::limit::{Limit, draw_left_out};

/// Show how much of a snapshot has a type, and why the rest has none
///
/// Needs what `memtrail types REC` stores in the recording. Types start from global variables and follow the fields of
/// their values, with each block's tag and size checked on the way. They end where a type cannot be
/// known: at values of existential or abstract types and Obj.t, in the environments of functions.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Maximum number of reasons and of contradictions; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let selection = Selection::first((), limit);
    let asked = gather(&which.subject()?, selection, |path, member, reduction, read| {
        look(which, path, false, read, |input, view| {
            let coverage = input.coverage(view.heap)?.ok_or_else(nothing_known)?;
            Ok(reduction.add_with_sizes(member, Types::from(coverage), view)?)
        })
    });
    let because = "without known types; find them: memtrail types RECORDING";
    asked?.absent_because(because).put(&which.form, draw)
}

/// The answer.
#[derive(Clone, Serialize)]
struct Types {
    /// Reachable blocks.
    blocks: u64,
    /// Their size.
    bytes: Bytes,
    /// Bytes with a type from a global variable along typed fields.
    by_variable: Bytes,
    /// Bytes with a type through the environment of a closure.
    by_closure: Bytes,
    /// Bytes whose type has unknown parts.
    partly_unknown: Bytes,
    /// Reasons why types end.
    stops: Vec<Stop>,
    /// Pointers that contradict their type.
    contradictions: u64,
    /// The most frequent of these, each with a block of one process.
    rejected: Vec<OfMember<Rejected>>,
    /// Pointers whose type is another than that of the block they lead to.
    differing: u64,
    /// The most frequent of these, each with a block of one process.
    differences: Vec<OfMember<Difference>>,
    /// Rows of all tables that `--limit` left out.
    left_out: usize,
    #[serde(skip)]
    reasons_left_out: usize,
}

impl From<Coverage> for Types {
    fn from(found: Coverage) -> Self {
        Self {
            blocks: found.blocks,
            bytes: found.bytes,
            by_variable: found.by_variable,
            by_closure: found.by_closure,
            partly_unknown: found.partly_unknown,
            stops: found.stops,
            contradictions: found.contradictions,
            rejected: found.rejected.into_iter().map(OfMember::from).collect(),
            differing: found.differing,
            differences: found.differences.into_iter().map(OfMember::from).collect(),
            left_out: 0,
            reasons_left_out: 0,
        }
    }
}

impl Merge for Types {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        self.rejected.iter_mut().for_each(|row| row.name_process(process));
        self.differences.iter_mut().for_each(|row| row.name_process(process));
    }

    fn merge(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.by_variable += other.by_variable;
        self.by_closure += other.by_closure;
        self.partly_unknown += other.partly_unknown;
        self.contradictions += other.contradictions;
        self.differing += other.differing;
        for stop in other.stops {
            match self.stops.iter_mut().find(|known| known.reason == stop.reason) {
                None => self.stops.push(stop),
                Some(known) => {
                    known.blocks += stop.blocks;
                    known.bytes += stop.bytes;
                }
            }
        }
        for of in other.rejected {
            let key = |row: &Rejected| (row.r#type.clone(), row.tag, row.fields);
            match self.rejected.iter_mut().find(|known| key(&known.row) == key(&of.row)) {
                None => self.rejected.push(of),
                Some(known) => known.row.count += of.row.count,
            }
        }
        for of in other.differences {
            let key = |row: &Difference| (row.r#type.clone(), row.other.clone());
            match self.differences.iter_mut().find(|known| key(&known.row) == key(&of.row)) {
                None => self.differences.push(of),
                Some(known) => known.row.count += of.row.count,
            }
        }
        self.stops
            .sort_rows_by(|a, b| (Reverse(a.bytes), &a.reason).cmp(&(Reverse(b.bytes), &b.reason)));
        self.rejected.sort_rows_by_key(|of| Reverse(of.row.count));
        self.differences.sort_rows_by_key(|of| Reverse(of.row.count));
    }

    fn finish(&mut self, selection: &Selection) {
        self.reasons_left_out = selection.cut(&mut self.stops);
        let rows = selection.cut(&mut self.rejected) + selection.cut(&mut self.differences);
        self.left_out = self.reasons_left_out + rows;
    }

    fn sizes(&self, view: &View<'_>) -> Result<Option<Sizes>, Unanswered> {
        let all = query::everything(view.heap);
        let (owned, owned_external) = (all.retained, all.retained_external);
        Ok(Some(Sizes { blocks: self.blocks, owned, owned_external }))
    }
}

/// The error about recordings without types.
fn nothing_known() -> Failure {
    Failure::new(Kind::Input, "nothing is known of the types of this recording's program")
        .hint("find them with `memtrail types REC`")
        .absent()
}

/// Draws how far types reach.
fn draw(canvas: &mut Canvas, coverage: &Types, family: Option<&Family<Types>>) {
    // Numbers of blocks of several processes mean nothing without the process.
    let number = |block: BlockIndex| match family {
        None => block.0.to_string(),
        Some(_) => String::new(),
    };
    let reasons_left_out = coverage.reasons_left_out;
    let typed = (coverage.by_variable + coverage.by_closure).share_of(coverage.bytes);
    let text =
        format!("{} of {} reachable have a type", percent(typed), bytes(coverage.bytes.0 as f64));
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
    draw_left_out(canvas, reasons_left_out, "reasons");
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
        for OfMember { row: found, .. } in &coverage.differences {
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
    for OfMember { row: rejected, .. } in &coverage.rejected {
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
