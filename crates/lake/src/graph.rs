//! Rows of a snapshot's graph: blocks, pointers, roots. They are written section by section.

use memtrail_heap::graph::{Failed, Node, Place};
use memtrail_heap::query::{Catalogue, Heap, root_name};
use memtrail_heap::read::{Columns, Strength};

use crate::error::Error;
use crate::files::RecordingFiles;
use crate::pseudonym::Names;
use crate::schema::Table;
use crate::snapshot::{SnapshotKey, type_id};
use crate::value::{Value, int};

/// The reason that a graph cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The snapshot is damaged, or there is no room for its analysis.
    #[error(transparent)]
    Snapshot(#[from] Failed),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] Error),
}

/// Writes the blocks, pointers and roots of a snapshot.
///
/// # Errors
/// If the snapshot is damaged, or a file cannot be written.
pub fn write(
    files: &mut RecordingFiles,
    snapshot: SnapshotKey,
    heap: &Heap<'_>,
    place: &Place,
    names: Names<'_>,
) -> Result<(), GraphError> {
    let id = Value::Int(snapshot.id(names.hasher()));
    let catalogue = Catalogue::new_in(place, heap)?;
    let owners = heap.graph.owners_of_blocks(heap.threads);
    let types: Vec<i64> = catalogue.names().map(|name| type_id(&names, name)).collect();
    let mut columns = Columns::new();
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns).map_err(Failed::from)?;
        for block in columns.iter() {
            let index = block.index;
            let kind = catalogue.kind(index);
            let kind = types.get(usize::from(kind.0)).copied();
            let is_reachable = heap.graph.is_reachable(index);
            let retained = is_reachable.then(|| catalogue.retained(heap, index).bytes());
            let dominator = heap.graph.dominator(Node::Block(index)).map(|node| match node {
                Node::Block(block) => i64::from(block.0),
                Node::RootNode(root) => -1 - i64::from(root.0),
            });
            let row = [
                id,
                int(index.0.into()),
                Value::Int(
                    kind.unwrap_or_else(|| type_id(&names, catalogue.name(catalogue.kind(index)))),
                ),
                int(block.size().bytes().0),
                retained.map_or(Value::Null, |bytes| int(bytes.0)),
                owners.get(index).map_or(Value::Null, |root| int(root.0.into())),
                dominator.into(),
            ];
            files.row(Table::HeapBlocks, &row)?;
            for target in block.targets {
                let row = [id, int(index.0.into()), int((*target).into())];
                files.row(Table::HeapEdges, &row)?;
            }
        }
    }
    write_roots(files, id, heap, names)
}

fn write_roots(
    files: &mut RecordingFiles,
    snapshot: Value<'_>,
    heap: &Heap<'_>,
    names: Names<'_>,
) -> Result<(), GraphError> {
    let (labels, nodes) = (&heap.snapshot.labels, heap.graph.root_nodes());
    for root in &heap.snapshot.roots {
        let node = nodes.label(root.label);
        let kind = labels.get(root.label).map_or("", |label| label.kind.name());
        let name = root_name(labels, nodes, node);
        let name = names.text(&name);
        let row = [
            snapshot,
            int(root.block.0.into()),
            int(node.0.into()),
            Value::Text(kind),
            Value::Text(&name),
            Value::Text(strength(root.strength)),
        ];
        files.row(Table::HeapRoots, &row)?;
    }
    Ok(())
}

const fn strength(strength: Strength) -> &'static str {
    match strength {
        Strength::Strong => "strong",
        Strength::Finaliser => "finaliser",
        Strength::Last => "last",
        Strength::Weak => "weak",
    }
}
