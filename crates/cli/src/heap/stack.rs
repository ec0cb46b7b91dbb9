//! `memtrail heap stack`: backtraces that show what each frame retains.

use std::process::ExitCode;

use memtrail_engine::question::StackQuestion;
use memtrail_heap::query::RootRow;
use memtrail_text::rounded::bytes;

use super::ask::ask;
use super::input::SnapshotArgs;
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;

/// Show what each stack frame retains, innermost first
///
/// Of each thread the frames as a backtrace has them, with what their slots retain and reach. A
/// frame that retains much is a call that has to return before that is freed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Show frames that retain nothing, and the slots of each frame, too
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    ask(&args.which, &StackQuestion, |canvas, stack, _| draw(canvas, args, &stack.rows))
}

fn draw(canvas: &mut Canvas, args: &Args, rows: &[RootRow]) {
    let mut left_out = 0;
    let mut table = Table::new(&["retained", "reachable"], "frame");
    for row in rows.iter().filter(|row| !row.path.is_empty()) {
        let is_slot = row.path.last().is_some_and(|name| name.starts_with("slot "));
        // What the program named says what the frames above are for.
        let is_label = row.path.last().is_some_and(|name| name.starts_with('['));
        if !args.all && (is_slot || row.reachable.0 == 0 && !is_label) {
            left_out += usize::from(!is_slot);
            continue;
        }
        let indent = "  ".repeat(row.path.len() - 1);
        let name = row.path.last().map_or("", String::as_str);
        let figures = vec![bytes(row.retained.0 as f64), bytes(row.reachable.0 as f64)];
        if row.path.len() == 1 {
            table.strong(figures, name);
        } else {
            table.row(figures, format!("{indent}{name}"));
        }
    }
    if rows.iter().all(|row| row.path.is_empty()) {
        canvas.line(&[(PLAIN, "no stack retains anything: the program had ended, or waits in C")]);
        return;
    }
    table.print(canvas);
    if left_out > 0 {
        let text = format!("{left_out} frames and threads reach nothing (--all: these, too)");
        canvas.line(&[(FAINT, &text)]);
    }
}
