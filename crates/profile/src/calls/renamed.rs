//! Lines of two recordings that are the same code under two keys: its module was renamed, or it moved to another line.

use std::collections::BTreeMap;

use memtrail_order::SortRows as _;
use memtrail_text::Renamed;

use super::entities::{Entity, Label};
use super::table::Line;
use super::view::Side;

/// Pairs lines that one side alone has: an index of `before`, an index of `after`.
///
/// Lines are of the same function, or module. Of several sites of a function the first one is paired with the first one, if
/// both sides have as many.
pub(super) fn pairs(
    [first, second]: [Side<'_>; 2],
    [before, after]: [&[Line]; 2],
) -> Vec<(usize, usize)> {
    let renamed = Renamed::between(names(first), names(second));
    let of_before = groups(first, before, str::to_owned);
    let of_after = groups(second, after, |name| {
        let earlier = renamed.earlier_module(name).map(str::to_owned);
        earlier.or_else(|| renamed.earlier_name(name)).unwrap_or_else(|| name.to_owned())
    });
    let mut pairs = Vec::new();
    for (name, lines) in of_before {
        if let Some(others) = of_after.get(&name).filter(|others| others.len() == lines.len()) {
            pairs.extend(lines.into_iter().zip(others.iter().copied()));
        }
    }
    pairs
}

fn names(side: Side<'_>) -> impl Iterator<Item = &str> {
    let entities = side.view.entities;
    let all = (0..entities.len() as u32).map(Entity);
    all.filter(|entity| entities.function(*entity) == Some(*entity))
        .map(|entity| entities.name(entity))
}

/// Places of lines by the function or module that they are about, in the order of the source.
fn groups(
    side: Side<'_>,
    lines: &[Line],
    earlier: impl Fn(&str) -> String,
) -> BTreeMap<String, Vec<usize>> {
    let entities = side.view.entities;
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate() {
        let name = match line.label {
            Label::Entity(entity) => entities.name(entity),
            Label::Module(module) => entities.module_name(module),
            Label::File(_) => continue,
        };
        groups.entry(earlier(name)).or_default().push(place);
    }
    for places in groups.values_mut() {
        places.sort_rows_by_key(|place| match lines[*place].label {
            Label::Entity(entity) => entities.position(entity).map(|at| (at.line, at.start)),
            Label::Module(_) | Label::File(_) => None,
        });
    }
    groups
}
