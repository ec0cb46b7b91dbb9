//! `memtrail heap containers` of a family: the containers of all processes that retain most.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_heap::query::Container;
use serde::Serialize;

use super::{Of, Read, draw_end};
use crate::canvas::PLAIN;
use crate::error::Failure;
use crate::heap::containers::{self, Args};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer.
#[derive(Default, Serialize)]
struct Containers {
    /// Those that retain most first, of all processes.
    rows: Vec<Of<Container>>,
    /// How many there are.
    count: u64,
}

/// The containers that retain most.
pub(in crate::heap) fn containers(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut answer = Containers::default();
    let mut names = Vec::new();
    let read = Read::each(members, |member, read| {
        let input = args.which.open_of(&member.path)?;
        let heap = input.typed_heap()?;
        let found = containers::find(args, &input, &heap)?;
        read.damage.extend(input.damage(&heap));
        answer.count += found.count;
        let recording = member.path.display().to_string();
        names.push((recording.clone(), member.name()));
        let rows = found.rows.into_iter().map(|row| Of { recording: recording.clone(), row });
        answer.rows.extend(rows);
        Ok(())
    })?;
    answer.rows.sort_by_key(|of| Reverse(of.row.retained + of.row.retained_external));
    let Limit(limit) = args.limit;
    answer.rows.truncate(limit);
    read.put(&args.which.form, &answer, |canvas| {
        if answer.rows.is_empty() {
            canvas.line(&[(PLAIN, "no containers are recognised")]);
            return;
        }
        let name = |of: &Of<Container>| {
            let known = names.iter().find(|(recording, _)| *recording == of.recording);
            known.map_or("", |(_, name)| name)
        };
        let mut table = Table::new(&containers::COLUMNS, "container");
        for of in &answer.rows {
            let text = format!("{}, {}", containers::titled(&of.row), name(of));
            table.row(containers::figures(&of.row), text);
        }
        table.print(canvas);
        let left_out = answer.count.saturating_sub(answer.rows.len() as u64);
        draw_end(canvas, left_out as usize, &[]);
        for of in &answer.rows {
            canvas.gap();
            containers::describe(canvas, &of.row);
            canvas.paragraph(PLAIN, 2, &format!("in {}", name(of)));
        }
    })
}
