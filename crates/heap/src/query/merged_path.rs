//! Ways to many blocks of a kind, those of the same shape as one.

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::allocated_by::AllocatedBy;
use super::folded::without_insides;
use super::heap::Heap;
use super::kind::{self, Kind};
use super::path::{Path, RetainingPath, Step, details_of, retaining_path};
use crate::contents::Structures;
use crate::read::{Columns, Error};
use crate::units::{BlockIndex, Bytes};

/// Ways of the same shape to several blocks.
#[derive(Clone, Debug, Serialize)]
pub struct MergedPath {
    /// The shape: names from the root to the block, with fields.
    pub shape: Vec<String>,
    /// For each of these what allocated most of its blocks, where they have no type and that is known; empty if it is not
    /// known of any. For those to say who have the samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocated: Vec<Option<AllocatedBy>>,
    /// How many of the blocks are retained this way.
    pub blocks: u64,
    /// The sum of what they retain one by one.
    pub retained: Bytes,
    /// One of them.
    pub example: BlockIndex,
    /// The sum of their weights.
    #[serde(skip)]
    pub weight: u64,
    /// Which of the blocks that were given.
    #[serde(skip)]
    pub members: Vec<u32>,
    /// For each part of the shape the blocks there, one of each path.
    #[serde(skip)]
    pub(super) blocks_of_steps: Vec<Vec<BlockIndex>>,
}

impl MergedPath {
    /// The blocks that have to be asked for, to name its steps.
    pub fn blocks_of_steps(&self) -> impl Iterator<Item = BlockIndex> {
        self.blocks_of_steps.iter().flatten().copied()
    }

    /// Adds to steps what allocated most of their blocks.
    pub fn name_steps(&mut self, allocated: impl Fn(BlockIndex) -> Option<AllocatedBy>) {
        let name = |blocks: &Vec<BlockIndex>| {
            let names = blocks.iter().filter_map(|block| allocated(*block)).collect();
            AllocatedBy::most(names, blocks.len())
        };
        self.allocated = self.blocks_of_steps.iter().map(name).collect();
        if self.allocated.iter().all(Option::is_none) {
            self.allocated.clear();
        }
    }
}

/// Ways to several blocks, those of the same shape as one; the most frequent first. Repetitions are
/// part of the shape once, whatever their number, and so are elements of arrays.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn merged_paths(heap: &Heap<'_>, blocks: &[BlockIndex]) -> Result<Vec<MergedPath>, Error> {
    let blocks: Vec<(BlockIndex, u64)> = blocks.iter().map(|block| (*block, 1)).collect();
    weighted_paths(heap, &blocks, None)
}

/// The same of blocks that count by a weight; those of the largest sum first. With `structures`, steps inside a
/// container are one step.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn weighted_paths(
    heap: &Heap<'_>,
    blocks: &[(BlockIndex, u64)],
    structures: Option<&Structures>,
) -> Result<Vec<MergedPath>, Error> {
    let found: Vec<((u32, BlockIndex, u64), RetainingPath)> = (0..)
        .zip(blocks)
        .filter_map(|(number, (block, weight))| {
            Some(((number, *block, *weight), retaining_path(heap, *block)?))
        })
        .collect();
    let (blocks, paths): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let details = details_of(heap, &paths)?;
    let mut merged: HashMap<Vec<String>, Alike, FxBuildHasher> = HashMap::default();
    for ((number, block, weight), path) in blocks.into_iter().zip(paths) {
        let mut steps = Path::new(heap, block, &path, &details).steps;
        if let Some(structures) = structures {
            steps = without_insides(structures, &steps);
        }
        let retained = steps.last().and_then(|step| step.retained).unwrap_or_default();
        let shape = shape(&steps);
        let blocks: Vec<Option<BlockIndex>> = shape.iter().map(|(step, _)| step.block).collect();
        let repeated: Vec<bool> = shape.iter().map(|(_, many)| *many).collect();
        let shape = shape.into_iter().map(|(step, _)| step_text(step)).collect();
        let alike = merged.entry(shape).or_insert_with(|| Alike {
            blocks: 0,
            weight: 0,
            retained: Bytes(0),
            example: block,
            repeated: vec![false; repeated.len()],
            members: Vec::new(),
            blocks_of_steps: vec![Vec::new(); repeated.len()],
        });
        for (all, this) in alike.blocks_of_steps.iter_mut().zip(blocks) {
            all.extend(this);
        }
        alike.members.push(number);
        alike.blocks += 1;
        alike.weight += weight;
        alike.retained += retained;
        for (all, this) in alike.repeated.iter_mut().zip(repeated) {
            *all |= this;
        }
    }
    let mut merged: Vec<MergedPath> = merged
        .into_iter()
        .map(|(mut shape, alike)| {
            for (step, _) in shape.iter_mut().zip(&alike.repeated).filter(|(_, many)| **many) {
                step.push_str(" …");
            }
            let Alike { blocks, weight, retained, example, members, blocks_of_steps, .. } = alike;
            let allocated = Vec::new();
            MergedPath {
                shape,
                allocated,
                blocks,
                retained,
                example,
                weight,
                members,
                blocks_of_steps,
            }
        })
        .collect();
    merged.sort_rows_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.shape.cmp(&b.shape)));
    Ok(merged)
}

/// Ways that have the same shape.
struct Alike {
    blocks: u64,
    weight: u64,
    retained: Bytes,
    example: BlockIndex,
    /// Which steps are several in one of the ways at least.
    repeated: Vec<bool>,
    members: Vec<u32>,
    blocks_of_steps: Vec<Vec<BlockIndex>>,
}

/// The shape of a way, and which of its steps are several. Blocks of a kind that follow each other
/// are one step, whatever fields lead on from one to the next: a search tree goes left and right.
/// That of the last one counts. The target stays alone.
fn shape(steps: &[Step]) -> Vec<(&Step, bool)> {
    let mut shape: Vec<(&Step, bool)> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let is_target = place + 1 == steps.len();
        match shape.last_mut() {
            Some((last, many))
                if !is_target
                    && last.block.is_some()
                    && step.block.is_some()
                    && last.name == step.name =>
            {
                (*last, *many) = (step, true);
            }
            _ => shape.push((step, step.times > 1)),
        }
    }
    shape
}

/// A step of a shape: its name, with the field that leads on.
fn step_text(step: &Step) -> String {
    match step.field {
        Some(_) if step.elements => format!("{} .(…)", step.name),
        Some(field) => match &step.field_name {
            Some(name) => format!("{} {name}", step.name),
            None => format!("{} .{field}", step.name),
        },
        None => step.name.clone(),
    }
}

/// At most `most` reachable blocks of a kind, from all over the heap; the kind is
/// given by its name.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn sample(heap: &Heap<'_>, kind: &str, most: usize) -> Result<(u64, Vec<BlockIndex>), Error> {
    sample_where(heap, most, |of| of.is_called(&heap.snapshot, &heap.types, kind))
}

/// The same for all constructors of a type, whose name is without `~`.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn sample_of_type(
    heap: &Heap<'_>,
    name: &str,
    most: usize,
) -> Result<(u64, Vec<BlockIndex>), Error> {
    sample_where(heap, most, |of| match of {
        Kind::Typed(id) => heap.types.get(id).is_some_and(|known| known.name == name),
        _ => false,
    })
}

fn sample_where(
    heap: &Heap<'_>,
    most: usize,
    is_wanted: impl Fn(Kind) -> bool,
) -> Result<(u64, Vec<BlockIndex>), Error> {
    let mut known: HashMap<Kind, bool, FxBuildHasher> = HashMap::default();
    let mut columns = Columns::new();
    let mut taken: Vec<BlockIndex> = Vec::new();
    let (mut seen, mut every) = (0u64, 1u64);
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns)?;
        kind::each(heap, &columns, |block, of, _| {
            let is = *known.entry(of).or_insert_with(|| is_wanted(of));
            if !is || !heap.graph.is_reachable(block.index) {
                return;
            }
            if seen.is_multiple_of(every) {
                if taken.len() == most.max(1) {
                    // Too many: every other one, here and from now on.
                    let mut keep = false;
                    taken.retain(|_| {
                        keep = !keep;
                        keep
                    });
                    every *= 2;
                }
                if seen.is_multiple_of(every) {
                    taken.push(block.index);
                }
            }
            seen += 1;
        });
    }
    Ok((seen, taken))
}
