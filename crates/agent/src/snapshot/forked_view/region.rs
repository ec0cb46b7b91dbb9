//! One part of the memory that blocks are in.

use memtrail_heap::write::{Layout, Region, Space};
use memtrail_ocaml::heap::Extent;

/// The memory itself.
///
/// # Safety
/// The extent is memory that can be read, and stays as it is for as long as the process lives.
unsafe fn words(extent: Extent) -> &'static [u64] {
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(extent.start as *const u64, (extent.bytes / 8) as usize) }
}

pub(super) fn region(extent: Extent, space: Space, layout: Layout) -> Region<'static> {
    // SAFETY: the runtime's own tables name this memory; in a frozen copy it stays as it is, and the
    // copy ends before anything is unmapped.
    let words = unsafe { words(extent) };
    Region { start: extent.start, words, space, layout }
}
