//! Who calls the place that allocated most of what an owner owns, in shares.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_order::SortRows as _;
use memtrail_trace::StackId;

use super::own_code::OwnCode;
use super::owned::Owner;
use super::response::{CallerShare, Place};
use crate::recording::Recording;

/// The callers of a place of the program's own, with the part of what the owner has from there; the largest first.
pub(super) fn callers(
    owner: &Owner<'_>,
    place: &Place,
    recording: &Recording,
    own: &OwnCode<'_>,
) -> Vec<CallerShare> {
    let blocks = &recording.profile().blocks;
    let mut of_stack: HashMap<StackId, Option<Place>> = HashMap::new();
    let mut sums: Vec<(Place, u64)> = Vec::new();
    let mut all = 0;
    for one in &owner.live {
        let caller = of_stack.entry(blocks.stack(one.row)).or_insert_with(|| {
            let mut places = own.own_places(*one).into_iter();
            let first = places.next()?;
            // Lines of one function are one place.
            (first.function == place.function).then(|| places.next()).flatten()
        });
        let Some(caller) = caller else { continue };
        let samples = blocks.samples(one.row);
        all += samples;
        match sums.iter_mut().find(|(known, _)| known.function == caller.function) {
            Some((_, sum)) => *sum += samples,
            None => sums.push((caller.clone(), samples)),
        }
    }
    sums.sort_rows_by_key(|(_, sum)| Reverse(*sum));
    let share = |(place, sum)| CallerShare { place, share: sum as f64 / all.max(1) as f64 };
    sums.into_iter().map(share).collect()
}
