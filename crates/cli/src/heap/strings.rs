//! `memtrail heap strings`: strings that are there several times.

use std::process::ExitCode;

use memtrail_engine::question::{DuplicateStrings, Family, Selection, StringsQuestion};
use memtrail_heap::query::StringOrder;
use memtrail_text::rounded::{bytes, grouped};

use super::ask::ask;
use super::input::SnapshotArgs;
use super::table::Table;
use crate::canvas::{Canvas, PLAIN, elide_end};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};

/// Columns of a string that are shown: it is data, and no name.
const SHOWN: usize = 80;

/// Find duplicate strings
///
/// Needs a snapshot with contents: memtrail run --snapshot exit --contents -- PROGRAM.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Only strings that start with a text that has this in it; a capital letter makes case matter
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// Order of strings, the largest first
    #[arg(long, value_enum, default_value = "wasted")]
    sort: Order,
    /// Rows to skip
    #[arg(long, value_name = "N", default_value = "0")]
    offset: usize,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
}

/// Order of strings.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Order {
    /// Size of all copies but one
    Wasted,
    /// Number of copies
    Times,
    /// Length
    Length,
    /// Text
    Name,
}

impl From<Order> for StringOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Wasted => Self::Wasted,
            Order::Times => Self::Times,
            Order::Length => Self::Length,
            Order::Name => Self::Name,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let selection = Selection {
        find: args.find.clone(),
        order: args.sort.into(),
        offset: args.offset,
        limit: args.limit.0,
    };
    ask(&args.which, &StringsQuestion { selection }, draw)
}

fn draw(
    canvas: &mut Canvas,
    strings: &DuplicateStrings,
    family: Option<&Family<DuplicateStrings>>,
) {
    let (within, each) = match family {
        Some(family) => {
            (format!(" in {} processes", grouped(family.processes.len() as u64)), " in each")
        }
        None => (String::new(), ""),
    };
    let text = format!(
        "{} strings{within} take up {}; {} of that would be saved if each were there once{each}",
        grouped(strings.sums.strings),
        bytes(strings.sums.bytes.0 as f64),
        bytes(strings.sums.wasted.0 as f64)
    );
    canvas.paragraph(PLAIN, 2, &text);
    if strings.duplicates.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["wasted", "times", "length", "processes"], "string");
    for one in &strings.duplicates {
        let figures = vec![
            bytes(one.wasted.0 as f64),
            grouped(one.times),
            grouped(one.length),
            family.map_or_else(String::new, |_| grouped(one.processes.len() as u64)),
        ];
        let start = elide_end(&one.start, SHOWN);
        table.row(figures, format!("\"{start}\"{}", if one.cut { " …" } else { "" }));
    }
    table.print(canvas);
    draw_left_out(canvas, strings.left_out, "");
}
