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

/// A size: `500`, `100k`, `1.5M`, `2GiB`.
pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let wrong = || format!("`{text}` is no size: 100k, 1.5M and 2GiB are");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let shift = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| wrong())?;
    if !number.is_finite() || number < 0.0 {
        return Err(wrong());
    }
    // Sizes beyond what there is are as good as the largest.
    Ok(Bytes((number * (1_u64 << shift) as f64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("500", 500),
            ("500b", 500),
            ("100k", 102_400),
            ("1.5M", 1_572_864),
            ("2GiB", 2 << 30),
            ("1 kb", 1024),
        ] {
            assert_eq!(size(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "-1k", "1x", "1kk", "inf", "nan", "1e", "ki"] {
            assert!(size(text).unwrap_err().contains(&format!("`{text}`")), "{text}");
        }
    }
}
