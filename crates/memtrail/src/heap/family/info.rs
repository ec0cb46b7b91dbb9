//! `memtrail heap info` of a family: how much is in the last snapshots.

use std::process::ExitCode;

use memtrail_engine::question::{FamilySums, Member, Sizes};
use memtrail_heap::query::{self, Heap};
use serde::Serialize;

use super::Read;
use super::sums::draw_sums;
use crate::error::Failure;
use crate::heap::input::{Input, Which};
use crate::recording_source::Fitting;

/// What the snapshots are of, and how much is in them.
pub(in crate::heap) fn info(which: &Which, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut sums = FamilySums::of(&all_of(members));
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let heap = input.heap()?;
        let sizes = sizes(&input, &heap)?;
        let added = sums.add(&member.member(), &heap, sizes);
        added.map_err(|error| input.failure(&error))?;
        read.damage.extend(input.damage(&heap));
        Ok(())
    })?;
    let answer = Info { all: sums.all, sums: &sums };
    read.put(&which.form, &answer, |canvas| draw_sums(canvas, &sums))
}

/// The answer.
#[derive(Serialize)]
struct Info<'s> {
    #[serde(flatten)]
    all: Sizes,
    #[serde(flatten)]
    sums: &'s FamilySums,
}

/// The processes as answers have them.
pub(super) fn all_of(members: &[Fitting]) -> Vec<Member> {
    members.iter().map(Fitting::member).collect()
}

/// All that is reachable.
pub(super) fn sizes(input: &Input, heap: &Heap<'_>) -> Result<Sizes, Failure> {
    let info = query::info(heap).map_err(|error| input.failure(&error))?;
    let all = query::everything(heap);
    Ok(Sizes {
        blocks: info.reachable_blocks,
        owned: all.retained,
        owned_external: all.retained_external,
    })
}
