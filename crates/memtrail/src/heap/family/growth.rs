//! `memtrail heap growth` of a family: what grew in each process.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_heap::query::Growth;
use memtrail_text::rounded::grouped;
use serde::Serialize;

use super::{Of, Read};
use crate::canvas::{FAINT, PLAIN};
use crate::error::Failure;
use crate::heap::changes::{self, Grown, GrowthArgs};
use crate::heap::owners;
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer.
#[derive(Default, Serialize)]
struct Answer {
    /// What grew in a process, most grown first.
    rows: Vec<Of<Growth>>,
    /// Rows that `--limit` left out.
    left_out: usize,
    /// Recordings of processes that have two snapshots at least, and of how many the figures are.
    processes: Vec<Of<Snapshots>>,
    /// Recordings of processes that have fewer.
    too_few: Vec<String>,
}

#[derive(Serialize)]
struct Snapshots {
    snapshots: usize,
}

/// What grew from snapshot to snapshot in any process.
pub(in crate::heap) fn growth(args: &GrowthArgs, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut answer = Answer::default();
    let mut names = Vec::new();
    let read = Read::each(members, |member, read| {
        let recording = member.path.display().to_string();
        let files = changes::chosen(args, std::slice::from_ref(&member.path))?;
        if files.len() < 2 {
            answer.too_few.push(recording);
            return Ok(());
        }
        let Grown { rows, damage } = changes::grown(args, &files)?;
        read.damage.extend(damage);
        names.push((recording.clone(), member.name()));
        let of = |row| Of { recording: recording.clone(), row };
        answer.rows.extend(rows.into_iter().map(of));
        let row = Snapshots { snapshots: files.len() };
        answer.processes.push(Of { recording, row });
        Ok(())
    })?;
    if answer.processes.is_empty() {
        return Err(changes::too_few("no process has two"));
    }
    answer.rows.sort_by_key(|of| Reverse(of.row.grown));
    let Limit(limit) = args.limit;
    answer.left_out = answer.rows.split_off(answer.rows.len().min(limit)).len();
    read.put(&args.form, &answer, |canvas| {
        let processes = grouped(answer.processes.len() as u64);
        if answer.rows.is_empty() {
            canvas.line(&[(PLAIN, &format!("nothing grew in {processes} processes"))]);
        } else {
            let title = format!("grew in {processes} processes, each by itself");
            let mut table = Table::new(&changes::GROWN, &title);
            for of in &answer.rows {
                let name = names.iter().find(|(recording, _)| *recording == of.recording);
                let name = name.map_or("", |(_, name)| name);
                let text = format!("{}, {name}", changes::titled(&of.row));
                table.row(changes::grown_figures(args, &of.row), text);
                owners::add_holds(&mut table, of.row.holds.as_deref());
            }
            table.print(canvas);
            if answer.left_out > 0 {
                changes::more(canvas, answer.left_out);
            }
        }
        if !answer.too_few.is_empty() {
            let number = grouped(answer.too_few.len() as u64);
            let text = format!("{number} more have one snapshot only");
            canvas.line(&[(FAINT, &text)]);
        }
        canvas.line(&[(FAINT, "one of them: --process PID")]);
    })
}
