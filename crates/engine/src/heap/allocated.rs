//! Blocks without a type, named by the calls that allocated the sampled ones in the same place of the graph: the
//! rule is [`SampledSites`]'.

use std::collections::HashMap;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{
    AllocatedBy, AllocatedPart, Allocator, Catalogue, Heap, KindId, PlaceName, SampledSites,
    UntypedPlaces,
};
use memtrail_profile::calls::Label;
use memtrail_trace::BlockId;

use super::loaded::LoadedSnapshot;
use super::samples::{allocating_site, label};
use crate::names::{row, shown};
use crate::query::By;
use crate::recording::Recording;

/// What the sampled blocks of a snapshot tell of the others.
pub(crate) struct Allocated<'r> {
    recording: &'r Recording,
    /// What numbers mean.
    labels: Vec<Label>,
    sites: SampledSites,
}

impl<'r> Allocated<'r> {
    pub(crate) fn new(heap: &Heap<'_>, catalogue: &Catalogue, recording: &'r Recording) -> Self {
        let mut numbers: HashMap<Label, u32> = HashMap::new();
        let mut labels = Vec::new();
        let mut number = |label: Label| {
            *numbers.entry(label).or_insert_with(|| {
                labels.push(label);
                labels.len() as u32 - 1
            })
        };
        let blocks = heap.snapshot.samples.iter().filter_map(|sample| {
            let row = recording.profile().find(BlockId(sample.id))?;
            let site = allocating_site(recording, row);
            let numbers = [By::Site, By::Function, By::Module]
                .map(|by| site.and_then(|site| label(recording, by, site)).map(&mut number));
            Some((sample.block, Allocator { numbers }))
        });
        let sites = SampledSites::new(heap, catalogue, blocks);
        Self { recording, labels, sites }
    }

    /// Whether nothing is known: no block without a type was sampled.
    pub(crate) const fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What allocated most blocks that are where this one is; none if it has a type, or that is not known.
    pub(crate) fn of_block(
        &self,
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        block: BlockIndex,
    ) -> Option<AllocatedBy> {
        self.shown(&self.sites.of_block(heap, catalogue, block)?)
    }

    /// As a function of blocks, for what has steps that are blocks.
    pub(crate) fn of_blocks(
        &self,
        loaded: &LoadedSnapshot,
    ) -> impl Fn(BlockIndex) -> Option<AllocatedBy> {
        |block| self.of_block(loaded.heap(), &loaded.catalogue, block)
    }

    /// The parts of each kind that have a name, the largest of each first; of what these owners have alone, if some are
    /// given.
    pub(crate) fn parts(
        &self,
        untyped: &UntypedPlaces,
        owners: Option<&[RootNodeId]>,
    ) -> HashMap<KindId, Vec<AllocatedPart>> {
        let mut parts: HashMap<KindId, Vec<AllocatedPart>> = HashMap::new();
        for part in self.sites.parts(untyped, owners) {
            if let Some(by) = self.shown(&part.name) {
                let shown = AllocatedPart { blocks: part.blocks, bytes: part.bytes, by };
                parts.entry(part.kind).or_default().push(shown);
            }
        }
        parts
    }

    fn shown(&self, name: &PlaceName) -> Option<AllocatedBy> {
        let label = self.labels.get(name.number as usize)?;
        let row = row(&self.recording.entities, *label);
        Some(AllocatedBy {
            precision: name.precision,
            name: shown(&row.label),
            file: row.file,
            line: row.line,
            samples: name.samples,
            of: name.of,
        })
    }
}
