//! Roots by the names and numbers that users give them.

use memtrail_heap::graph::HolderId;
use memtrail_heap::query::{self, Heap};
use memtrail_heap::{Bytes, RootKind};

use crate::error::{Failure, Kind};

/// The root with a name or number: the whole name as `roots` prints it, or a part that only one has.
pub(super) fn root(heap: &Heap<'_>, wanted: &str) -> Result<HolderId, Failure> {
    let holders = heap.graph.holders();
    if let Ok(number) = wanted.parse::<u32>() {
        return if (number as usize) < holders.len() {
            Ok(HolderId(number))
        } else {
            Err(Failure::new(
                Kind::Usage,
                format_args!("no root {number}: there are {}", holders.len()),
            )
            .hint("`memtrail heap roots REC --limit 0` lists them"))
        };
    }
    let names: Vec<(HolderId, String)> = RootKind::ALL
        .iter()
        .map(|kind| (holders.kind(*kind), kind.name().to_owned()))
        .chain(heap.snapshot.labels.iter().map(|(label, _)| {
            let path = query::label_path(&heap.snapshot.labels, label).join(" / ");
            (holders.label(label), path)
        }))
        .collect();
    if let Some((holder, _)) = names.iter().find(|(_, name)| name == wanted) {
        return Ok(*holder);
    }
    let some: Vec<_> = names.iter().filter(|(_, name)| name.contains(wanted)).collect();
    match some.as_slice() {
        [(holder, _)] => Ok(*holder),
        [] => Err(Failure::new(Kind::Usage, format_args!("no root has `{wanted}` in its name"))
            .hint("`memtrail heap roots REC --limit 0` lists them")),
        [(_, first), (_, second), ..] => Err(Failure::new(
            Kind::Usage,
            format_args!(
                "{} roots have `{wanted}` in their names: {first}, {second}{}",
                some.len(),
                if some.len() > 2 { ", …" } else { "" }
            ),
        )
        .hint("give more of the name, or all of it")),
    }
}

/// There are no blocks of a kind.
pub(super) fn no_kind(kind: &str) -> Failure {
    Failure::new(Kind::Usage, format_args!("nothing alive is a `{kind}`"))
        .hint("`memtrail heap histogram REC --limit 0` prints the names of kinds")
}

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
