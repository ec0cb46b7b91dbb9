//! Kinds of roots, their figures and sizes, as options have them.

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

/// By which figures roots are compared.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// Owned size: figures that add up
    Owner,
    /// Retained size of each root, and of several jointly
    Root,
}

/// The name of a kind of block or, behind the kind of root, of a root.
pub(super) fn with_kind(kind: Option<&String>, name: &str) -> String {
    kind.map_or_else(|| name.to_owned(), |kind| format!("{kind}: {name}"))
}
