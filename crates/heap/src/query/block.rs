//! One block: what it is, what it points to, and what points to it.

use super::heap::Heap;
use super::kind;
use crate::graph::passes::sweep;
use crate::graph::{Node, RootNodeId};
use crate::read::{Columns, Detail, Error, Strength};
use crate::space::Space;
use crate::units::{Address, BlockIndex, Bytes, Words};
use memtrail_order::SortRows as _;

/// What a snapshot says of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// What sort of block.
    pub kind: String,
    /// Where its first field stood.
    pub address: Address,
    /// Its own size, header counted.
    pub size: Words,
    /// Bytes outside the heap that go with it; `None` if it is unknown how many.
    pub external: Option<Bytes>,
    /// Which part of memory it is in.
    pub space: Space,
    /// What it points to, in the order of fields; not all, if there are very many.
    pub references: Vec<Reference>,
    /// How many there are.
    pub reference_count: u64,
}

/// A pointer from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The field; of keys of ephemerons it is not known.
    pub field: Option<u64>,
    /// What it points to.
    pub to: BlockIndex,
    /// Whether it retains nothing.
    pub weak: bool,
}

/// A pointer to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// Where it stands.
    pub from: Node,
    /// The field of a block; of keys of ephemerons it is not known.
    pub field: Option<u64>,
    /// Whether it retains nothing.
    pub weak: bool,
}

/// Where ephemerons have their data.
const DATA_FIELD: u64 = 1;

/// Looks at a block, and at no more than `most` of what it points to. `None` if there is no such
/// block.
///
/// # Errors
/// If its section of the snapshot is damaged.
pub fn block(heap: &Heap<'_>, index: BlockIndex, most: usize) -> Result<Option<BlockFacts>, Error> {
    let snapshot = &heap.snapshot;
    let Some(section) = snapshot.section_of(index) else { return Ok(None) };
    let mut columns = Columns::new();
    snapshot.decode(section, &mut columns)?;
    let place = (index.0 - columns.first.0) as usize;
    let (Some(block), Some(kind)) = (columns.get(place), kind::at(heap, &columns, place)) else {
        return Ok(None);
    };
    let mut references: Vec<Reference> = columns
        .fields(place)
        .zip(block.targets)
        .map(|(field, to)| Reference { field: Some(field), to: BlockIndex(*to), weak: false })
        .take(most)
        .collect();
    let mut reference_count = block.targets.len() as u64;
    let mut more = |reference: Reference| {
        reference_count += 1;
        references.push(reference);
    };
    // Fields of static data that are roots stand among these.
    for root in &snapshot.roots {
        if let Some((block, field)) = root.field_of
            && block == index
        {
            more(Reference { field: Some(field), to: root.block, weak: is_weak(root.strength) });
        }
    }
    for ephemeron in snapshot.ephemerons.iter().filter(|ephemeron| ephemeron.block == index) {
        if let Some(to) = ephemeron.data {
            more(Reference { field: Some(DATA_FIELD), to, weak: false });
        }
        for to in &ephemeron.keys {
            more(Reference { field: None, to: *to, weak: true });
        }
    }
    references.sort_rows_by_key(|reference| reference.field.unwrap_or(u64::MAX));
    references.truncate(most);
    let space = columns.spaces().find(|(_, end)| place < *end);
    Ok(Some(BlockFacts {
        kind: kind.name(snapshot, &heap.types),
        address: columns.addresses().nth(place).unwrap_or_default(),
        size: block.size(),
        external: columns.unknown().all(|at| at != place).then(|| {
            let found = columns.customs().find(|(at, ..)| *at == place);
            Bytes(found.map_or(0, |(_, _, bytes)| bytes))
        }),
        space: space.map_or(Space::Major, |(space, _)| space),
        references,
        reference_count,
    }))
}

const fn is_weak(strength: Strength) -> bool {
    matches!(strength, Strength::Weak | Strength::Last)
}

/// What points to a block: how many pointers, and at most `most` of them: roots first, then blocks
/// in their order.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn referrers(
    heap: &Heap<'_>,
    to: BlockIndex,
    most: usize,
) -> Result<(u64, Vec<Referrer>), Error> {
    let snapshot = &heap.snapshot;
    let mut found: Vec<Referrer> = Vec::new();
    for root in snapshot.roots.iter().filter(|root| root.block == to) {
        found.push(Referrer {
            from: Node::RootNode(heap.graph.root_nodes().label(root.label)),
            field: root.field_of.map(|(_, field)| field),
            weak: is_weak(root.strength),
        });
    }
    for ephemeron in &snapshot.ephemerons {
        let from = Node::Block(ephemeron.block);
        if ephemeron.data == Some(to) {
            found.push(Referrer { from, field: Some(DATA_FIELD), weak: false });
        }
        for _ in ephemeron.keys.iter().filter(|key| **key == to) {
            found.push(Referrer { from, field: None, weak: true });
        }
    }
    let gathered = sweep(
        snapshot,
        heap.threads,
        Detail::Edges,
        || (0u64, Vec::new()),
        |(count, some), section, columns| {
            if !columns.edges().contains(&to.0) {
                return;
            }
            // What has just been decoded can be decoded again, with the numbers of fields.
            let mut columns = Columns::new();
            if snapshot.decode(section, &mut columns).is_err() {
                return;
            }
            let mut here: Vec<Referrer> = Vec::new();
            for (place, block) in columns.iter().enumerate() {
                if !block.targets.contains(&to.0) {
                    continue;
                }
                for (field, target) in columns.fields(place).zip(block.targets) {
                    if *target == to.0 {
                        *count += 1;
                        if here.len() < most {
                            let from = Node::Block(block.index);
                            here.push(Referrer { from, field: Some(field), weak: false });
                        }
                    }
                }
            }
            some.push((section, here));
        },
    )?;
    let mut count = found.len() as u64;
    let mut pieces = Vec::new();
    for (more, some) in gathered {
        count += more;
        pieces.extend(some);
    }
    pieces.sort_rows_by_key(|(section, _)| *section);
    found.sort_rows_by_key(|referrer| {
        (referrer.weak, matches!(referrer.from, Node::Block(_)), root_node(referrer.from))
    });
    found.extend(pieces.into_iter().flat_map(|(_, some)| some));
    found.truncate(most);
    Ok((count, found))
}

const fn root_node(node: Node) -> RootNodeId {
    match node {
        Node::RootNode(root_node) => root_node,
        Node::Block(block) => RootNodeId(block.0),
    }
}
