//! Roots, kinds and types by the names and numbers that users give them.

use std::collections::HashSet;

use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, Heap, OwnerRow};
use memtrail_heap::{BlockIndex, LabelId, RootKind};

use crate::api_error::ApiError;

/// True if a root is named by its number, which is that of one snapshot.
pub fn is_number(wanted: &str) -> bool {
    wanted.parse::<u32>().is_ok()
}

/// The block with a number.
///
/// # Errors
/// If there is none.
pub fn block(heap: &Heap<'_>, number: u32) -> Result<BlockIndex, ApiError> {
    let blocks = heap.snapshot.blocks();
    if number < blocks {
        return Ok(BlockIndex(number));
    }
    Err(ApiError::bad(format_args!("no block {number}: the snapshot has {blocks}"))
        .hint("numbers are those that `heap dominators` and `heap path` print for this snapshot"))
}

/// The root with a name or number: the whole name as `roots` prints it, or a part that only one has.
///
/// # Errors
/// If there is no such root, or if there are several.
pub fn root(heap: &Heap<'_>, wanted: &str) -> Result<RootNodeId, ApiError> {
    let root_nodes = heap.graph.root_nodes();
    if let Ok(number) = wanted.parse::<u32>() {
        return if (number as usize) < root_nodes.len() {
            Ok(RootNodeId(number))
        } else {
            Err(ApiError::bad(format_args!("no root {number}: there are {}", root_nodes.len()))
                .hint("`memtrail heap roots REC --limit 0` lists them"))
        };
    }
    let names: Vec<(RootNodeId, String)> = RootKind::ALL
        .iter()
        .map(|kind| (root_nodes.kind(*kind), kind.name().to_owned()))
        .chain(heap.snapshot.labels.iter().map(|(label, _)| {
            let path = query::label_path(&heap.snapshot.labels, label).join(" / ");
            (root_nodes.label(label), path)
        }))
        .collect();
    if let Some((root_node, _)) = names.iter().find(|(_, name)| name == wanted) {
        return Ok(*root_node);
    }
    let variables =
        heap.snapshot.labels.iter().filter(|(label, _)| is_variable(heap, *label, wanted));
    if let [(label, _)] = variables.collect::<Vec<_>>().as_slice() {
        return Ok(root_nodes.label(*label));
    }
    let some: Vec<_> = names.iter().filter(|(_, name)| name.contains(wanted)).collect();
    match some.as_slice() {
        [(root_node, _)] => Ok(*root_node),
        [] => Err(ApiError::absent(format_args!("no root has `{wanted}` in its name"))
            .hint("`memtrail heap roots REC --limit 0` lists them")),
        [(_, first), (_, second), ..] => Err(ApiError::bad(format_args!(
            "{} roots have `{wanted}` in their names: {first}, {second}{}",
            some.len(),
            if some.len() > 2 { ", …" } else { "" }
        ))
        .hint("give more of the name, or all of it")),
    }
}

/// The names, joined by ` / `, of the root with a name, or of those that have it in theirs.
///
/// # Errors
/// If there is no such root, or if there are several.
pub fn matching(heap: &Heap<'_>, wanted: &str) -> Result<HashSet<String>, ApiError> {
    let labels = &heap.snapshot.labels;
    let all = || {
        let all = labels.iter().map(|(id, _)| id);
        all.map(|id| (id, query::label_path(labels, id).join(" / ")))
    };
    let is_whole =
        |(id, name): &(LabelId, String)| name == wanted || is_variable(heap, *id, wanted);
    let mut found: HashSet<String> = all().filter(is_whole).map(|(_, name)| name).collect();
    if found.is_empty() {
        let contains =
            |name: &str| name.contains(wanted) || name.replace(" / ", ".").contains(wanted);
        found = all().map(|(_, name)| name).filter(|name| contains(name)).collect();
    }
    if found.is_empty() {
        return Err(ApiError::absent(format_args!("no root has `{wanted}` in its name")).hint(
            "`memtrail heap roots REC --limit 0` lists them; `memtrail types REC` names variables",
        ));
    }
    Ok(found)
}

/// True if a label is the variable with this name, as programs write it (`Cache.Table.entries`), or the field with
/// this number (`Cache / field 3`).
fn is_variable(heap: &Heap<'_>, id: LabelId, wanted: &str) -> bool {
    let labels = &heap.snapshot.labels;
    let (Some(label), Some(_)) = (labels.get(id), labels.variable(id)) else { return false };
    let path = query::label_path(labels, id);
    let above = path.split_last().map_or(String::new(), |(_, above)| above.join(" / "));
    path.join(".") == wanted || format!("{above} / field {}", label.number) == wanted
}

/// Error for a kind without blocks.
pub fn no_kind(kind: &str) -> ApiError {
    ApiError::absent(format_args!("nothing alive is a `{kind}`"))
        .hint("`memtrail heap histogram REC --limit 0` prints the names of kinds")
}

/// Error for a type without blocks.
pub fn no_type(name: &str) -> ApiError {
    ApiError::absent(format_args!("nothing alive is known to be a `{name}`"))
        .hint("`memtrail heap histogram REC --limit 0` prints the names of types")
}

/// The roots that a name means.
///
/// # Errors
/// If there is no such root, or if there are several.
pub fn labelled(heap: &Heap<'_>, name: &str) -> Result<Vec<RootNodeId>, ApiError> {
    let known = matching(heap, name)?;
    let labels = &heap.snapshot.labels;
    let is_meant = |path: Vec<String>| known.contains(&path.join(" / "));
    let labels = labels.iter().filter(|(id, _)| is_meant(query::label_path(labels, *id)));
    Ok(labels.map(|(id, _)| heap.graph.root_nodes().label(id)).collect())
}

/// The owners that a name means, also by their aliases.
///
/// # Errors
/// If there is no such root, or if there are several.
pub fn owners_called(heap: &Heap<'_>, name: &str) -> Result<Vec<RootNodeId>, ApiError> {
    let named = labelled(heap, name)?;
    let rows = query::owners(heap, &named).rows;
    Ok(rows.iter().filter(|row| is_meant(row, &named)).map(|row| row.owner).collect())
}

/// True if an owner or one of its aliases is among some roots.
pub fn is_meant(row: &OwnerRow, named: &[RootNodeId]) -> bool {
    let mut roots = [row.root, row.owner].into_iter().chain(row.alias_roots.iter().copied());
    roots.any(|root| named.contains(&root))
}
