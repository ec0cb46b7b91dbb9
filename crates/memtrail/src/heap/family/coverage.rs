//! `memtrail heap coverage` of a family: how far the types of blocks reach in all processes.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_engine::question::{FamilySums, Sizes};
use memtrail_heap::Bytes;
use memtrail_heap::query;
use memtrail_text::rounded::grouped;
use memtrail_typeflow::{Coverage, Difference, Rejected, Stop};
use serde::Serialize;

use super::info::all_of;
use super::sums::draw_sums;
use super::{Of, Read};
use crate::canvas::WARNING;
use crate::error::Failure;
use crate::heap::coverage::{self, BlockNumbers};
use crate::heap::input::Which;
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer, about the processes of whose types something is known.
#[derive(Default, Serialize)]
struct Types {
    #[serde(flatten)]
    all: Sizes,
    #[serde(flatten)]
    sums: FamilySums,
    by_variable: Bytes,
    by_closure: Bytes,
    partly_unknown: Bytes,
    stops: Vec<Stop>,
    contradictions: u64,
    /// Some of them, each with a block of one process.
    rejected: Vec<Of<Rejected>>,
    differing: u64,
    differences: Vec<Of<Difference>>,
    /// Rows of all tables that `--limit` left out.
    left_out: usize,
    /// Recordings of processes of whose types nothing is known.
    untyped: Vec<String>,
}

/// How far types reach.
pub(in crate::heap) fn coverage(
    which: &Which,
    members: &[Fitting],
    limit: Limit,
) -> Result<ExitCode, Failure> {
    let mut answer = Types { sums: FamilySums::of(&all_of(members)), ..Types::default() };
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let heap = input.heap()?;
        let recording = member.path.display().to_string();
        let Some(found) = input.coverage(&heap)? else {
            answer.untyped.push(recording);
            return Ok(());
        };
        let all = query::everything(&heap);
        let (owned, owned_external) = (all.retained, all.retained_external);
        let sizes = Sizes { blocks: found.blocks, owned, owned_external };
        let added = answer.sums.add(&member.member(), &heap, sizes);
        added.map_err(|error| input.failure(&error))?;
        answer.add(&recording, found);
        read.damage.extend(input.damage(&heap));
        Ok(())
    })?;
    if answer.sums.count() == 0 {
        return Err(coverage::nothing_known());
    }
    answer.all = answer.sums.all;
    answer.sort();
    let shown = coverage::Types::new(answer.coverage(), limit);
    answer.cut(limit);
    read.put(&which.form, &answer, |canvas| {
        coverage::draw(canvas, &shown, BlockNumbers::LeftOut);
        canvas.gap();
        draw_sums(canvas, &answer.sums);
        if !answer.untyped.is_empty() {
            let text = format!(
                "note: nothing is known of the types of {} more; why: memtrail types RECORDING",
                grouped(answer.untyped.len() as u64)
            );
            canvas.paragraph(WARNING, 2, &text);
        }
    })
}

impl Types {
    fn add(&mut self, recording: &str, coverage: Coverage) {
        let Coverage { by_variable, by_closure, partly_unknown, .. } = coverage;
        self.by_variable += by_variable;
        self.by_closure += by_closure;
        self.partly_unknown += partly_unknown;
        self.contradictions += coverage.contradictions;
        self.differing += coverage.differing;
        for stop in coverage.stops {
            match self.stops.iter_mut().find(|known| known.reason == stop.reason) {
                None => self.stops.push(stop),
                Some(known) => {
                    known.blocks += stop.blocks;
                    known.bytes += stop.bytes;
                }
            }
        }
        for row in coverage.rejected {
            let key = |row: &Rejected| (row.r#type.clone(), row.tag, row.fields);
            match self.rejected.iter_mut().find(|known| key(&known.row) == key(&row)) {
                None => self.rejected.push(Of { recording: recording.to_owned(), row }),
                Some(known) => known.row.count += row.count,
            }
        }
        for row in coverage.differences {
            let key = |row: &Difference| (row.r#type.clone(), row.other.clone());
            match self.differences.iter_mut().find(|known| key(&known.row) == key(&row)) {
                None => self.differences.push(Of { recording: recording.to_owned(), row }),
                Some(known) => known.row.count += row.count,
            }
        }
    }

    fn cut(&mut self, Limit(limit): Limit) {
        self.left_out = coverage::cut(&mut self.stops, limit)
            + coverage::cut(&mut self.rejected, limit)
            + coverage::cut(&mut self.differences, limit);
    }

    fn sort(&mut self) {
        self.stops
            .sort_by(|a, b| (Reverse(a.bytes), &a.reason).cmp(&(Reverse(b.bytes), &b.reason)));
        self.rejected.sort_by_key(|of| Reverse(of.row.count));
        self.differences.sort_by_key(|of| Reverse(of.row.count));
    }

    /// The sums as those of one snapshot.
    fn coverage(&self) -> Coverage {
        Coverage {
            blocks: self.sums.all.blocks,
            bytes: self.sums.all.owned,
            by_variable: self.by_variable,
            by_closure: self.by_closure,
            partly_unknown: self.partly_unknown,
            stops: self.stops.clone(),
            contradictions: self.contradictions,
            rejected: self.rejected.iter().map(|of| of.row.clone()).collect(),
            differing: self.differing,
            differences: self.differences.iter().map(|of| of.row.clone()).collect(),
        }
    }
}
