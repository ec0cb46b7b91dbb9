//! `memtrail heap types` of a family: how far the types of blocks reach in all processes.

use std::cmp::Reverse;
use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::query;
use memtrail_text::rounded::grouped;
use memtrail_typeflow::{Coverage, Difference, Rejected, Stop};
use serde::Serialize;

use super::sums::{Sizes, Sums};
use super::{Of, Read};
use crate::canvas::WARNING;
use crate::error::Failure;
use crate::heap::input::Which;
use crate::heap::types::{self, BlockNumbers};
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// The answer, about the processes of whose types something is known.
#[derive(Default, Serialize)]
struct Types {
    #[serde(flatten)]
    sums: Sums,
    by_variable: Bytes,
    by_closure: Bytes,
    partly_unknown: Bytes,
    stops: Vec<Stop>,
    contradictions: u64,
    /// Some of them, each with a block of one process.
    rejected: Vec<Of<Rejected>>,
    differing: u64,
    differences: Vec<Of<Difference>>,
    /// Recordings of processes of whose types nothing is known.
    untyped: Vec<String>,
}

/// How far types reach.
pub(in crate::heap) fn types(
    which: &Which,
    members: &[Fitting],
    limit: Limit,
) -> Result<ExitCode, Failure> {
    let mut answer = Types { sums: Sums::of(members), ..Types::default() };
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let heap = input.heap()?;
        let recording = member.path.display().to_string();
        let Some(coverage) = input.coverage(&heap)? else {
            answer.untyped.push(recording);
            return Ok(());
        };
        let all = query::everything(&heap);
        let (owned, owned_external) = (all.retained, all.retained_external);
        let sizes = Sizes { blocks: coverage.blocks, owned, owned_external };
        answer.sums.add(member, &input, &heap, sizes)?;
        answer.add(&recording, coverage);
        read.damage.extend(input.damage(&heap));
        Ok(())
    })?;
    if answer.sums.processes() == 0 {
        return Err(types::nothing_known());
    }
    answer.sort();
    let coverage = answer.coverage();
    read.put(&which.form, &answer, |canvas| {
        types::draw(canvas, &coverage, limit, BlockNumbers::LeftOut);
        canvas.gap();
        answer.sums.draw(canvas);
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
