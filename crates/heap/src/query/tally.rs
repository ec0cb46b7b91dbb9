//! The histogram again, from columns that are there already: nothing of the snapshot is read.

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;

use super::catalogue::{Catalogue, KindId};
use super::heap::Heap;
use super::histogram::{Histogram, KindRow};
use super::kind;
use super::shapes::{ShapeOf, Shapes};
use crate::units::{BlockIndex, Bytes, Words};

/// Numbers that kinds may have.
const KINDS: usize = 1 << 16;

#[derive(Clone, Copy, Default)]
struct Sum {
    blocks: u64,
    words: u64,
    external: u64,
}

/// Counts blocks by kind, as [`histogram`](super::histogram()) does, and tells of every kind what it
/// retains. `shapes` are those of everything; `None` if there are so many that some are not
/// distinguished.
pub fn tally(heap: &Heap<'_>, catalogue: &Catalogue, shapes: &Shapes) -> Option<Histogram> {
    let retained = outermost(shapes)?;
    let is_whole = heap.snapshot.damage.is_none();
    let mut sums = vec![Sum::default(); KINDS];
    let (mut all, mut unreachable) = (Sum::default(), Sum::default());
    for block in (0..catalogue.len() as u32).map(BlockIndex) {
        let words = catalogue.size(block).0;
        let sum = if heap.graph.is_reachable(block) {
            all.blocks += 1;
            all.words += words;
            &mut sums[usize::from(catalogue.kind(block).0)]
        } else {
            &mut unreachable
        };
        sum.blocks += 1;
        sum.words += words;
    }
    for (block, bytes) in catalogue.externals() {
        if heap.graph.is_reachable(block) {
            sums[usize::from(catalogue.kind(block).0)].external += bytes.0;
        }
    }
    let derivations: HashMap<String, &'static str, FxBuildHasher> =
        heap.types.iter().map(|(_, known)| (known.text(), known.derivation.name())).collect();
    let functions = kind::function_places(heap);
    let mut rows: Vec<KindRow> = (0..=u16::MAX)
        .zip(sums)
        .filter(|(_, sum)| sum.blocks > 0)
        .map(|(kind, sum)| KindRow {
            kind: catalogue.name(KindId(kind)).to_owned(),
            derivation: derivations.get(catalogue.name(KindId(kind))).copied(),
            identifier: kind::identifier_of(catalogue.name(KindId(kind))),
            function: functions.get(catalogue.name(KindId(kind))).cloned(),
            blocks: sum.blocks,
            bytes: Words(sum.words).bytes(),
            external: Bytes(sum.external),
            shared_by: None,
            retained: Some(retained[usize::from(kind)].bytes()),
            allocated: Vec::new(),
        })
        .collect();
    rows.sort_rows_by(KindRow::largest_first);
    Some(Histogram {
        rows,
        blocks: all.blocks,
        bytes: Words(all.words).bytes(),
        unreachable_blocks: is_whole.then_some(unreachable.blocks),
        unreachable_bytes: is_whole.then_some(Words(unreachable.words).bytes()),
    })
}

/// For each kind the sum of what its shapes retain that are below no other of the kind.
fn outermost(shapes: &Shapes) -> Option<Vec<Words>> {
    let mut retained = vec![Words(0); KINDS];
    // How many shapes of each kind the one that is looked at is in.
    let mut inside = vec![0u32; KINDS];
    // Each is met twice: going in, and coming out.
    let mut todo = vec![(shapes.root(), false)];
    while let Some((shape, is_done)) = todo.pop() {
        let here = shapes.get(shape);
        match here.form {
            ShapeOf::Rest => return None,
            ShapeOf::Kind(kind) => {
                let kind = usize::from(kind.0);
                if is_done {
                    inside[kind] -= 1;
                    continue;
                }
                if inside[kind] == 0 {
                    retained[kind].0 += here.retained.0;
                }
                inside[kind] += 1;
                todo.push((shape, true));
            }
            ShapeOf::RootNode(_) | ShapeOf::Block(_) => {}
        }
        todo.extend(shapes.children(shape).iter().map(|child| (*child, false)));
    }
    Some(retained)
}
