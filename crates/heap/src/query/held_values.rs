//! What global variables without a name hold. `Cache / field 3` says little; that it is a class, a closure or a block with
//! closures says which: their functions have names and lines, also in programs without `.cmt` files. Of others it is
//! shown what they are made of ([`made_of`]).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::heap::Heap;
use super::kind::{self, Kind};
use super::made_of::{self, Part};
use super::owners::{Names, OwnerRow};
use super::summary::stored_owner;
use crate::contents::class_of;
use crate::graph::{RootNode, RootNodeId};
use crate::label::RootKind;
use crate::read::{Columns, Error, Function, Snapshot};
use crate::tag;
use crate::units::BlockIndex;

/// So many fields of a block are looked at, and so many of those that its fields point to.
const MAX_FIELDS: usize = 256;
/// Closures are looked for behind so many blocks.
const MAX_STEPS: usize = 2;
/// What a class is made of (`lambda/translclass.ml`): the function that makes objects, the one that sets up the class,
/// and at most two more fields.
const CLASS_FIELDS: std::ops::RangeInclusive<u64> = 3..=4;
/// How the compiler's function is called that makes objects of a class.
const MAKES_OBJECTS: &[u8] = b".(object initializer)";

/// Adds to rows of global variables without a name what these hold.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn add_held_values(heap: &Heap<'_>, rows: &mut [OwnerRow]) -> Result<(), Error> {
    let is_unnamed = |row: &&mut OwnerRow| row.kind == "global" && row.variable.is_none();
    let unnamed: BTreeSet<BlockIndex> =
        rows.iter_mut().filter(is_unnamed).filter_map(|row| row.block).collect();
    let held = held_values(heap, &unnamed)?;
    for row in rows.iter_mut().filter(is_unnamed) {
        row.holds = row.block.and_then(|block| held.get(&block).cloned());
    }
    Ok(())
}

/// What those of some roots hold that are global variables without a name.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn held_by_roots(heap: &Heap<'_>, roots: &[RootNodeId]) -> Result<HeldByRoots, Error> {
    let names = Names::new(heap);
    held_by(heap, roots.iter().filter_map(|root| Some((*root, names.unnamed(*root)?))))
}

/// The same by the names that summaries have of global variables, which know no others.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn held_by_stored(heap: &Heap<'_>, wanted: &BTreeSet<&str>) -> Result<HeldByStored, Error> {
    if wanted.is_empty() {
        return Ok(HeldByStored::default());
    }
    let (names, labels) = (Names::new(heap), &heap.snapshot.labels);
    let globals = labels.iter().filter(|(_, label)| label.kind == RootKind::Global);
    let unnamed = globals.filter_map(|(id, _)| {
        let name = stored_owner(heap, RootNode::Label(id)).1;
        let is_wanted = wanted.contains(name.as_str());
        let block = is_wanted.then(|| names.unnamed(heap.graph.root_nodes().label(id)))??;
        Some((name, block))
    });
    held_by(heap, unnamed)
}

/// What variables hold, by their roots.
pub type HeldByRoots = HashMap<RootNodeId, String, FxBuildHasher>;

/// The same by the names that summaries have.
pub type HeldByStored = HashMap<String, String, FxBuildHasher>;

fn held_by<K: Hash + Eq>(
    heap: &Heap<'_>,
    roots: impl Iterator<Item = (K, BlockIndex)>,
) -> Result<HashMap<K, String, FxBuildHasher>, Error> {
    let roots: Vec<(K, BlockIndex)> = roots.collect();
    let held = held_values(heap, &roots.iter().map(|(_, block)| *block).collect())?;
    let text = |(root, block)| Some((root, held.get(&block)?.clone()));
    Ok(roots.into_iter().filter_map(text).collect())
}

/// A root's name with what it holds, where that is known: `Cache / field 0 (holds ~ Hashtbl.t)`.
pub fn with_held(name: &str, holds: Option<&str>) -> String {
    holds.map_or_else(|| name.to_owned(), |holds| format!("{name} (holds {holds})"))
}

/// Numbers of fields, and what they point to.
type Fields = Vec<(u64, BlockIndex)>;

type Texts = HashMap<BlockIndex, String, FxBuildHasher>;

/// What is said of each of these blocks, if it has a name or leads to functions that have one.
fn held_values(heap: &Heap<'_>, blocks: &BTreeSet<BlockIndex>) -> Result<Texts, Error> {
    let snapshot = &heap.snapshot;
    let mut texts = Texts::default();
    let mut parts: BTreeMap<BlockIndex, Parts> = BTreeMap::new();
    each(snapshot, blocks, |columns, place| {
        let Some(block) = columns.get(place) else { return };
        let kind = kind::at(heap, columns, place).filter(|kind| is_telling(*kind, snapshot));
        if let Some(kind) = kind {
            texts.insert(block.index, kind.name(snapshot, &heap.types));
        } else if is_followed(block.tag) {
            let size = block.wosize.0;
            let parts_of = Parts { size, fields: fields(columns, place), made_of: None };
            parts.insert(block.index, parts_of);
        }
    })?;
    for step in 0..=MAX_STEPS {
        let wanted = parts.values().flat_map(|parts| &parts.fields).map(|(_, to)| *to).collect();
        let mut closures: HashMap<BlockIndex, u32, FxBuildHasher> = HashMap::default();
        let mut inner: HashMap<BlockIndex, Fields, FxBuildHasher> = HashMap::default();
        let mut named: HashMap<BlockIndex, Part, FxBuildHasher> = HashMap::default();
        each(snapshot, &wanted, |columns, place| {
            let Some(block) = columns.get(place) else { return };
            if let Some(function) = columns.function(place) {
                closures.insert(block.index, function);
                return;
            }
            let kind = kind::at(heap, columns, place).filter(|kind| is_telling(*kind, snapshot));
            if let Some(kind) = kind {
                named.insert(block.index, Part { kind, size: block.wosize.0 });
            }
            if is_followed(block.tag) {
                inner.insert(block.index, fields(columns, place));
            }
        })?;
        let function =
            |closure: BlockIndex| snapshot.functions.get(*closures.get(&closure)? as usize);
        parts.retain(|block, parts| {
            let class = if step == 0 { parts.class(function) } else { None };
            let text = class.or_else(|| parts.closures(step, function));
            if let Some(text) = text {
                texts.insert(*block, text);
                return false;
            }
            if parts.made_of.is_none() {
                let of = parts.fields.iter().filter_map(|(_, to)| named.get(to).copied());
                parts.made_of = made_of::text(heap, parts.size, step, of);
            }
            let next = parts.fields.iter().filter_map(|(_, to)| inner.get(to)).flatten();
            parts.fields = next.copied().take(MAX_FIELDS).collect();
            true
        });
    }
    texts.extend(parts.into_iter().filter_map(|(block, parts)| Some((block, parts.made_of?))));
    Ok(texts)
}

/// What the first fields of a block point to.
fn fields(columns: &Columns, place: usize) -> Fields {
    let targets = columns.get(place).map_or(&[][..], |block| block.targets);
    let fields = columns.fields(place).zip(targets).take(MAX_FIELDS);
    fields.map(|(field, to)| (field, BlockIndex(*to))).collect()
}

/// Calls `of` with the section and the place of each of these blocks.
fn each(
    snapshot: &Snapshot<'_>,
    blocks: &BTreeSet<BlockIndex>,
    mut of: impl FnMut(&Columns, usize),
) -> Result<(), Error> {
    let mut columns = Columns::new();
    let mut decoded = None;
    for block in blocks {
        let Some(section) = snapshot.section_of(*block) else { continue };
        if decoded != Some(section) {
            snapshot.decode(section, &mut columns)?;
            decoded = Some(section);
        }
        of(&columns, (block.0 - columns.first.0) as usize);
    }
    Ok(())
}

/// Whether the name of a kind tells more than how large its blocks are.
fn is_telling(kind: Kind, snapshot: &Snapshot<'_>) -> bool {
    match kind {
        Kind::Closure(number) => snapshot
            .functions
            .get(number as usize)
            .is_some_and(|function| !function.name.is_empty()),
        Kind::Object(_) | Kind::Fields(..) | Kind::Lazy | Kind::Forward => false,
        _ => true,
    }
}

/// Tuples, records, constructors, arrays and lazy values.
const fn is_followed(of: u8) -> bool {
    of < tag::CONTINUATION || matches!(of, tag::LAZY | tag::FORWARD)
}

/// A block whose kind tells nothing.
struct Parts {
    size: u64,
    /// What its first fields point to; in later steps, what these do.
    fields: Fields,
    /// What it or these are made of.
    made_of: Option<String>,
}

impl Parts {
    /// The class that it is.
    fn class<'f>(&self, function: impl Fn(BlockIndex) -> Option<&'f Function>) -> Option<String> {
        let [(0, new), (1, setup), ..] = *self.fields.as_slice() else { return None };
        let setup = function(setup).filter(|_| CLASS_FIELDS.contains(&self.size))?;
        let made = || function(new)?.name.strip_suffix(MAKES_OBJECTS).map(<[u8]>::to_vec);
        let class = class_of(setup).or_else(made)?;
        Some(format!("class {}", String::from_utf8_lossy(&class)))
    }

    /// The closures in it, or behind so many of its blocks.
    fn closures<'f>(
        &self,
        steps: usize,
        function: impl Fn(BlockIndex) -> Option<&'f Function>,
    ) -> Option<String> {
        let functions = self.fields.iter().filter_map(|(_, to)| function(*to));
        let named: Vec<_> = functions.filter(|function| !function.name.is_empty()).collect();
        let first = named.iter().find(|one| !one.is_anonymous()).or(named.first())?;
        let first = kind::closure(first);
        if steps > 0 {
            return Some(format!("a block that leads to {first}"));
        }
        Some(match named.len() - 1 {
            0 => format!("a block with {first}"),
            1 => format!("a block with {first} and another"),
            more => format!("a block with {first} and {more} others"),
        })
    }
}
