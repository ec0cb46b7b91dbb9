//! `memtrail heap blocks` of a family: blocks of all processes.

use std::process::ExitCode;

use memtrail_engine::heap::BlockRow;
use memtrail_heap::Bytes;
use serde::Serialize;

use super::{Of, Read};
use crate::canvas::FAINT;
use crate::error::Failure;
use crate::heap::blocks::{self, Args};
use crate::heap::csv;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer.
#[derive(Default, Serialize)]
struct Blocks {
    /// Some of them, in order.
    rows: Vec<Of<BlockRow>>,
    /// How many there are.
    count: usize,
    /// Rows that are not listed.
    left_out: usize,
    /// How many of these can be listed.
    listed: usize,
    /// Their own size.
    size: Bytes,
    /// All reachable blocks.
    of: u64,
}

/// Lists blocks.
pub(in crate::heap) fn blocks(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut answer = Blocks::default();
    let mut names = Vec::new();
    let read = Read::each(members, |member, read| {
        let joined = args.which.open_of(&member.path)?;
        let found = blocks::find(args, &joined)?;
        read.damage.extend(joined.damage(&found));
        let found = found.response;
        answer.count += found.count;
        answer.listed += found.listed;
        answer.size += found.size;
        answer.of += found.of;
        let recording = member.path.display().to_string();
        names.push((recording.clone(), member.name()));
        let rows = found.rows.into_iter().map(|row| Of { recording: recording.clone(), row });
        answer.rows.extend(rows);
        // Its rows are good, however its trace is damaged.
        read.judge(joined.verdict());
        Ok(())
    })?;
    answer.rows.sort_by(|a, b| args.sort.compare(&a.row, &b.row));
    let Limit(limit) = args.limit;
    answer.rows.truncate(limit);
    answer.left_out = answer.count.saturating_sub(answer.rows.len());
    let name = |of: &Of<BlockRow>| {
        let known = names.iter().find(|(recording, _)| *recording == of.recording);
        known.map_or_else(String::new, |(_, name)| name.clone())
    };
    if args.csv {
        let rows = answer.rows.iter().map(|of| {
            let [block, kind, size, external, retained, owner, age] = blocks::cells(&of.row);
            [name(of), block, kind, size, external, retained, owner, age]
        });
        let [block, kind, size, external, retained, owner, age] = blocks::TITLES;
        csv::print(&["process", block, kind, size, external, retained, owner, age], rows)?;
        return Ok(read.code.unwrap_or(ExitCode::SUCCESS));
    }
    read.put(&args.form, &answer, |canvas| {
        blocks::draw_sums(canvas, answer.count, answer.of, answer.size);
        if answer.rows.is_empty() {
            return;
        }
        canvas.gap();
        let mut table = blocks::table();
        for of in &answer.rows {
            table.row(
                blocks::figures(&of.row),
                format!("{}  {}", blocks::titled(&of.row), name(of)),
            );
        }
        table.print(canvas);
        blocks::draw_rest(canvas, answer.count, answer.rows.len(), answer.listed);
        let text = "all about one of them: memtrail heap block REC N --process PID";
        canvas.line(&[(FAINT, text)]);
    })
}
