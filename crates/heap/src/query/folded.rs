//! Paths in which the steps inside one container are one step: the buckets of a hash table, the nodes of a map or
//! set, the cells of a list or queue.

use super::catalogue::Catalogue;
use super::contained::FoldedContainer;
use super::containers::measured;
use super::heap::Heap;
use super::path::{Path, Step};
use super::path_text::Part;
use crate::contents::{Structure, Structures};
use crate::units::BlockIndex;

/// Whether paths may lead through containers: their blocks have types, of which none is known otherwise.
pub fn may_fold(heap: &Heap<'_>, paths: &[Path]) -> bool {
    let is_known = |step: &Step| step.block.is_some_and(|block| heap.types.of(block).is_some());
    paths.iter().any(|path| path.steps.iter().any(is_known))
}

/// Makes one step of the steps inside each container of the snapshot's structures. The block that a path leads to
/// stays a step.
pub fn fold_containers(
    heap: &Heap<'_>,
    structures: &Structures,
    catalogue: &Catalogue,
    paths: &mut [Path],
) {
    for path in paths {
        let steps = folded(structures, &path.steps, |step, of, blocks| {
            container(heap, (structures, catalogue), step, of, blocks)
        });
        *path = Path::of_steps(heap, steps);
    }
}

/// Steps with one for each container between them, of which nothing is said but that they have elements.
pub(super) fn without_insides(structures: &Structures, steps: &[Step]) -> Vec<Step> {
    folded(structures, steps, |step, _, _| Step {
        field: Some(0),
        field_name: None,
        elements: true,
        times: 1,
        ..step.clone()
    })
}

/// Steps from a root to a block, with one for each container between them: what `container` makes of its first step,
/// first block and structure, and number of blocks.
fn folded(
    structures: &Structures,
    steps: &[Step],
    container: impl Fn(&Step, (BlockIndex, Structure), u64) -> Step,
) -> Vec<Step> {
    let mut folded = Vec::with_capacity(steps.len());
    let mut rest = steps;
    while let [step, behind @ ..] = rest {
        rest = behind;
        let block = step.block.filter(|_| !behind.is_empty());
        let start = block.and_then(|block| Some((block, structures.starts(block)?)));
        let Some((block, structure)) = start else {
            folded.push(step.clone());
            continue;
        };
        let (mut last, mut blocks) = (step, step.times);
        while let [next, target @ ..] = rest
            && !target.is_empty()
            && let Some((from, to)) = last.block.zip(next.block)
            && structures.is_inside(from, last.field, to)
        {
            (last, blocks, rest) = (next, blocks + next.times, target);
        }
        folded.push(container(step, (block, structure), blocks));
    }
    folded
}

/// The step of a container, from that of its first block.
fn container(
    heap: &Heap<'_>,
    (structures, catalogue): (&Structures, &Catalogue),
    step: &Step,
    (block, structure): (BlockIndex, Structure),
    blocks: u64,
) -> Step {
    let (entries, keys, values) = measured(heap, catalogue, structures, block, structure);
    let structure = structure.name();
    Step {
        field: None,
        field_name: None,
        part: heap.types.of(block).map(Part::whole),
        times: 1,
        container: Some(FoldedContainer { structure, entries, keys, values, blocks }),
        ..step.clone()
    }
}
