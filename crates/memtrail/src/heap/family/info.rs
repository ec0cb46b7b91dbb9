//! `memtrail heap info` of a family: how much is in the last snapshots.

use std::process::ExitCode;

use memtrail_heap::query::{self, Heap};

use super::Read;
use super::sums::{Sizes, Sums};
use crate::error::Failure;
use crate::heap::input::{Input, Which};
use crate::recording_source::Fitting;

/// What the snapshots are of, and how much is in them.
pub(in crate::heap) fn info(which: &Which, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let mut sums = Sums::of(members);
    let read = Read::each(members, |member, read| {
        let input = which.open_of(&member.path)?;
        let heap = input.heap()?;
        sums.add(member, &input, &heap, sizes(&input, &heap)?)?;
        read.damage.extend(input.damage(&heap));
        Ok(())
    })?;
    read.put(&which.form, &sums, |canvas| sums.draw(canvas))
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
