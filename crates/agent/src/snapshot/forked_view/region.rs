//! One part of the memory that blocks are in.

use memtrail_heap::write::{Layout, Region, Space};
use memtrail_ocaml::heap::Extent;

/// The memory itself.
fn words(extent: Extent) -> &'static [u64] {
    // SAFETY: the runtime's own tables name this memory; in a frozen copy it stays as it is, and the
    // copy ends before anything is unmapped.
    unsafe { std::slice::from_raw_parts(extent.start as *const u64, (extent.bytes / 8) as usize) }
}

pub(super) fn region(extent: Extent, space: Space, layout: Layout) -> Region<'static> {
    Region { start: extent.start, words: words(extent), space, layout }
}
