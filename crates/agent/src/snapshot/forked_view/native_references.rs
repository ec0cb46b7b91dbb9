//! What refers to blocks from `malloc`, looked for in the copy that the heap is written from.
//!
//! The walk of OCaml's heap gives each of its blocks, with its number in the snapshot. All other memory is looked at as
//! that of native programs.

use std::io;

use memtrail_heap::write::{Region, Space};
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::symbols::state::MINOR_HEAPS;
use memtrail_references::References;

use super::copy::ForkedView;
use crate::context::target::Target;
use crate::malloc::sampled;
use crate::recording::installed::Place;
use crate::recording::references_file::save;
use crate::references::{Area, Areas, Copy, Scan};

/// Begins to look, before the heap is walked.
///
/// # Safety
/// The copy was made while the sampled blocks were held.
pub(super) unsafe fn begin(
    target: &Target,
    place: &Place,
    view: &ForkedView<'_>,
    areas: Areas,
    regions: &[Region<'_>],
) -> Scan<ThisProcess> {
    // SAFETY: as the caller promises.
    let list = unsafe { sampled::of_copy(target, place.epoch) };
    let of_heap = regions.iter().filter(|region| region.space != Space::Static);
    let heap = of_heap.map(|region| region.start..region.start + region.words.len() as u64 * 8);
    let [start, end] = MINOR_HEAPS.map(|name| view.symbol_value(name));
    let minor_heaps: Area = start..end.max(start);
    Scan::new(
        view.memory.memory,
        Copy {
            areas,
            sampled: list.blocks,
            caller: None,
            pid: place.pid,
            ours: list.ours,
            heap: heap.collect(),
            reserved: vec![minor_heaps],
        },
    )
}

/// Looks at all other memory, and writes the file.
pub(super) fn finish(
    scan: Scan<ThisProcess>,
    (place, number): (&Place, u64),
    taken_unix_us: u64,
) -> io::Result<()> {
    let found = References { taken_unix_us, ..scan.finish() };
    save(place.folder, number, &found.to_bytes())
}
