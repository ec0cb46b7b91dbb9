//! Kinds of roots and sizes, as options have them.

use memtrail_heap::{Bytes, RootKind};

/// A kind of root by its name.
pub(super) fn kind(text: &str) -> Result<RootKind, String> {
    let known = RootKind::ALL.iter().find(|kind| kind.name() == text);
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = RootKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("no such kind; there are {}", names.join(", "))
    })
}

/// A size, as in all options.
pub(super) fn size(text: &str) -> Result<Bytes, String> {
    memtrail_text::size(text).map(|size| Bytes(size.0))
}
