//! A snapshot that has been analysed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memtrail_heap::contents::{Structure, Structures};
use memtrail_heap::graph::{Failed, Place, RootNodeId};
use memtrail_heap::query::{
    self, Catalogue, Containers, Example, Heap, Histogram, JointLimits, JointShare, KindId,
    OwnerRow, Owners, Path, ReachCache, Shapes, StoredNames, Strings, Summary, UntypedPlaces,
};
use memtrail_heap::read::{self, Snapshot};
use memtrail_heap::redact::file_name;
use memtrail_heap::{BlockIndex, BlockTypes, Bytes as Size, Variable};

use super::analysis::{Opening, Room, open_heap};
use super::file::{Bytes, SnapshotFacts, SnapshotFile};
use crate::api_error::ApiError;

self_cell::self_cell!(
    struct Analysed {
        owner: Bytes,
        #[covariant]
        dependent: OpenHeap,
    }
);

/// Owners of which it is kept what they hold.
const MAX_HELD: usize = 1000;
/// Maximum number of bytes of a string.
const MAX_TEXT: usize = 2000;
/// Strings that are there several times and are kept.
const MAX_STRINGS: usize = 100_000;
/// Containers that are kept.
const MAX_CONTAINERS: usize = 1000;
/// How far joint shares are opened; those of less than 1 % are left out.
const JOINT: JointLimits = JointLimits { of: None, min: Size(0), blocks: 20, roots: 100, cut: 64 };
/// Trees below single blocks that are kept.
const MAX_TREES: usize = 4;

/// A snapshot with its analysis, and what views ask of it again and again.
pub(crate) struct LoadedSnapshot {
    analysed: Analysed,
    pub(crate) catalogue: Catalogue,
    /// The dominator tree of everything.
    pub(crate) shapes: Arc<Shapes>,
    /// Those below blocks that were looked at last.
    below: Mutex<Vec<(BlockIndex, Arc<Shapes>)>>,
    /// What is known of all roots' reach.
    pub(crate) reach: ReachCache,
    histogram: OnceLock<Result<Histogram, ApiError>>,
    examples: OnceLock<HashMap<KindId, Example>>,
    strings: OnceLock<Result<Option<Strings>, ApiError>>,
    owners: OnceLock<Owners>,
    held: OnceLock<Result<HashMap<BlockIndex, String>, ApiError>>,
    names: OnceLock<StoredNames>,
    joint: OnceLock<Result<Vec<JointShare>, ApiError>>,
    structures: OnceLock<Result<Structures, ApiError>>,
    containers: OnceLock<Result<Containers, ApiError>>,
    untyped: OnceLock<UntypedPlaces>,
    /// How much there is of each kind that one owner has: that which was asked for last.
    owned: Mutex<Option<(RootNodeId, Arc<Histogram>)>>,
}

impl std::fmt::Debug for LoadedSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedSnapshot")
            .field("blocks", &self.catalogue.len())
            .finish_non_exhaustive()
    }
}

/// Why a snapshot cannot be asked.
pub(crate) fn unreadable(error: impl std::fmt::Display) -> ApiError {
    ApiError::bad(format_args!("cannot read the snapshot: {error}"))
}

/// A snapshot that is damaged further on.
pub(crate) fn damaged(error: read::Error) -> ApiError {
    unreadable(error)
}

/// A snapshot with its analysis, and the room that is bounded as long as it is open.
struct OpenHeap<'b> {
    heap: Heap<'b>,
    room: Room<'b>,
}

/// Analyses a snapshot, or reads what an earlier analysis has left. With `keep` the result is left beside the snapshot:
/// not where nobody looks into it again, as many of them would fill the disk.
fn analyse(file: &dyn SnapshotFile, keep: bool) -> Result<Analysed, ApiError> {
    let bytes = file.open().map_err(unreadable)?;
    let opening = Opening { typed: true, keep, strict: false };
    Analysed::try_new(bytes, |bytes| {
        let heap = open_heap(file, &**bytes, Snapshot::read(bytes)?, opening)?;
        Ok::<_, Failed>(OpenHeap { heap, room: Room::of(file, &**bytes)? })
    })
    .map_err(unreadable)
}

/// The summary that was left of a snapshot, if it is of this one.
pub(crate) fn left_summary(file: &dyn SnapshotFile, facts: &SnapshotFacts) -> Option<Summary> {
    let summary: Summary = serde_json::from_slice(&file.summary()?).ok()?;
    let fits = summary.version == Summary::VERSION
        && summary.checksum == facts.checksum
        && summary.types == file.types_source().0;
    fits.then_some(summary)
}

/// Leaves a summary.
pub(super) fn leave_summary(file: &dyn SnapshotFile, summary: &Summary) {
    let summary = Summary { types: file.types_source().0, ..summary.clone() };
    if let Ok(json) = serde_json::to_vec(&summary) {
        file.keep_summary(&json);
    }
}

/// The summary of a snapshot: the one that was left, or else it is analysed for it.
///
/// # Errors
/// If the snapshot cannot be read.
pub fn summary(file: &dyn SnapshotFile, facts: &SnapshotFacts) -> Result<Summary, ApiError> {
    if let Some(summary) = left_summary(file, facts) {
        return Ok(summary);
    }
    let analysed = analyse(file, false)?;
    let summary = Summary::new(&analysed.borrow_dependent().heap).map_err(damaged)?;
    leave_summary(file, &summary);
    Ok(summary)
}

/// The types of a snapshot's blocks, the names of its variables and lines of its functions, as a file that is read with a copy of the
/// snapshot. Of each variable `change` may make another before it is given away.
///
/// # Errors
/// If the snapshot or the copy cannot be read.
pub fn types_of_copy(
    file: &dyn SnapshotFile,
    copy: &[u8],
    change: impl Fn(Variable) -> Variable,
) -> Result<Vec<u8>, ApiError> {
    let source = file.types_source();
    let mut copy = Snapshot::read(copy).map_err(damaged)?;
    let mut write = |snapshot: &Snapshot<'_>, types: &BlockTypes| {
        for (label, variable) in snapshot.labels.variables() {
            copy.labels.set_variable(label, change(variable.clone()));
        }
        // The copy may be one without folders.
        let mut definitions = snapshot.definitions();
        for definition in &mut definitions {
            definition.file = file_name(&definition.file).to_vec();
        }
        copy.define(&definitions);
        let mut written = Vec::new();
        types.write_file(&copy, source, &mut written).map_err(unreadable)?;
        Ok(written)
    };
    // Where they are kept, nothing is to be analysed.
    let bytes = file.open().map_err(unreadable)?;
    let mut snapshot = Snapshot::read(&bytes).map_err(damaged)?;
    if let Some(types) = file.block_types(&mut snapshot, source, &Place::Memory) {
        return write(&snapshot, &types);
    }
    let analysed = analyse(file, false)?;
    let heap = &analysed.borrow_dependent().heap;
    write(&heap.snapshot, &heap.types)
}

impl LoadedSnapshot {
    pub(crate) fn new(file: &dyn SnapshotFile) -> Result<Self, ApiError> {
        let analysed = analyse(file, true)?;
        let OpenHeap { heap, room } = analysed.borrow_dependent();
        let catalogue = Catalogue::new_in(&room.place, heap).map_err(unreadable)?;
        let shapes = Arc::new(Shapes::new(heap, &catalogue));
        let (below, reach) = (Mutex::default(), ReachCache::default());
        let (histogram, examples, strings) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (owners, held, names) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self {
            analysed,
            catalogue,
            shapes,
            below,
            reach,
            histogram,
            examples,
            strings,
            owners,
            held,
            names,
            joint: OnceLock::new(),
            structures: OnceLock::new(),
            containers: OnceLock::new(),
            untyped: OnceLock::new(),
            owned: Mutex::default(),
        })
    }

    /// Whether questions can be asked: neither the snapshot nor its index was cut short.
    pub(crate) fn is_whole(&self) -> bool {
        self.heap().graph.is_whole() && self.analysed.borrow_owner().is_whole()
    }

    pub(crate) fn heap(&self) -> &Heap<'_> {
        &self.analysed.borrow_dependent().heap
    }

    /// The place of columns, within the memory limit if there is one.
    fn place(&self) -> &Place {
        &self.analysed.borrow_dependent().room.place
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.catalogue.len() as u64
    }

    pub(crate) fn summary(&self) -> Result<Summary, ApiError> {
        Summary::new(self.heap()).map_err(damaged)
    }

    /// The dominator tree below a block.
    pub(crate) fn below(&self, block: BlockIndex) -> Arc<Shapes> {
        let lock = || self.below.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == block) {
            return known.clone();
        }
        let shapes = Arc::new(Shapes::below(self.heap(), &self.catalogue, block));
        let mut below = lock();
        below.insert(0, (block, shapes.clone()));
        below.truncate(MAX_TREES);
        shapes
    }

    /// How much there is of each kind.
    pub(crate) fn histogram(&self) -> Result<&Histogram, ApiError> {
        let histogram = self.histogram.get_or_init(|| {
            match query::tally(self.heap(), &self.catalogue, &self.shapes) {
                Some(histogram) => Ok(histogram),
                None => query::histogram(self.heap()).map_err(damaged),
            }
        });
        histogram.as_ref().map_err(Clone::clone)
    }

    /// How much there is of each kind of what a root owns, or one that it is an alias of.
    pub(super) fn owned_histogram(&self, root: RootNodeId) -> Result<Arc<Histogram>, ApiError> {
        let owner = self.owner_called(root);
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, histogram)) = owned.as_ref()
            && *known == owner
        {
            return Ok(histogram.clone());
        }
        let histogram = query::owned_histogram(self.heap(), &[owner]).map_err(damaged)?;
        let histogram = Arc::new(histogram);
        *owned = Some((owner, histogram.clone()));
        Ok(histogram)
    }

    /// The owner that a root is, or is an alias of.
    pub(super) fn owner_called(&self, root: RootNodeId) -> RootNodeId {
        let is_meant = |row: &&OwnerRow| {
            row.root == root || row.owner == root || row.alias_roots.contains(&root)
        };
        self.owners().rows.iter().find(is_meant).map_or(root, |row| row.owner)
    }

    /// Where blocks without a type are.
    pub(crate) fn untyped_places(&self) -> &UntypedPlaces {
        self.untyped.get_or_init(|| UntypedPlaces::new(self.heap(), &self.catalogue))
    }

    /// What several roots retain jointly, as far as it is worth a row.
    pub(super) fn joint_shares(&self) -> Result<&[JointShare], ApiError> {
        let shares = self.joint.get_or_init(|| {
            let all = query::everything(self.heap()).retained;
            let limits = JointLimits { min: Size(all.0.div_ceil(100)), ..JOINT };
            query::joint_shares_in(self.place(), self.heap(), limits).map_err(unreadable)
        });
        shares.as_deref().map_err(Clone::clone)
    }

    /// Which blocks containers begin with, and what is inside of them.
    pub(crate) fn structures(&self) -> Result<&Structures, ApiError> {
        let structures = self.structures.get_or_init(|| {
            let Heap { snapshot, types, threads, .. } = self.heap();
            let mut structures =
                Structures::new_in(self.place(), snapshot, *threads).map_err(unreadable)?;
            structures.add_first_cells(types);
            Ok(structures)
        });
        structures.as_ref().map_err(Clone::clone)
    }

    /// The containers that retain most.
    pub(super) fn containers(&self) -> Result<&Containers, ApiError> {
        let containers = self.containers.get_or_init(|| {
            let (structures, catalogue) = (self.structures()?, &self.catalogue);
            query::containers(self.heap(), structures, catalogue, &Structure::ALL, MAX_CONTAINERS)
                .map_err(damaged)
        });
        containers.as_ref().map_err(Clone::clone)
    }

    /// Makes one step of the steps of a path inside each container.
    pub(super) fn fold(&self, paths: &mut [Path]) -> Result<(), ApiError> {
        let heap = self.heap();
        let mut steps = paths.iter().flat_map(|path| &path.steps);
        let is_known = |block| heap.types.of(block).is_some();
        // Structures are typed by their contents, if by nothing else.
        if steps.any(|step| step.block.is_some_and(is_known)) {
            query::fold_containers(heap, self.structures()?, &self.catalogue, paths);
        }
        Ok(())
    }

    /// Off-heap memory of all blocks. Those that nothing refers to have theirs until a collection.
    pub(crate) fn off_heap(&self) -> Size {
        let bytes = self.catalogue.externals().map(|(_, bytes)| bytes.0);
        Size(bytes.fold(0, u64::saturating_add))
    }

    /// All owners.
    pub(crate) fn owners(&self) -> &Owners {
        self.owners.get_or_init(|| query::owners(self.heap(), &[]))
    }

    /// What those of the largest owners hold that are global variables without a name, by their blocks.
    pub(super) fn held(&self) -> Result<&HashMap<BlockIndex, String>, ApiError> {
        let held = self.held.get_or_init(|| {
            let mut largest: Vec<OwnerRow> =
                self.owners().rows.iter().take(MAX_HELD).cloned().collect();
            query::add_held_values(self.heap(), &mut largest).map_err(damaged)?;
            Ok(largest.into_iter().filter_map(|row| Some((row.block?, row.holds?))).collect())
        });
        held.as_ref().map_err(Clone::clone)
    }

    /// Names of variables by those that summaries have.
    pub(crate) fn stored_names(&self) -> &StoredNames {
        self.names.get_or_init(|| query::stored_names(self.heap()))
    }

    /// Strings that are there several times, where the snapshot has contents.
    pub(crate) fn strings(&self) -> Result<Option<&Strings>, ApiError> {
        let strings =
            self.strings.get_or_init(|| query::strings(self.heap(), MAX_STRINGS).map_err(damaged));
        strings.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Where most of a kind is.
    pub(crate) fn most_of(&self, kind: &str) -> Option<Example> {
        let kind = self.catalogue.find(kind)?;
        let examples = self
            .examples
            .get_or_init(|| query::examples(self.heap(), &self.catalogue, &self.shapes));
        examples.get(&kind).copied()
    }

    /// That a block is there.
    pub(crate) fn check(&self, block: BlockIndex) -> Result<(), ApiError> {
        let is_there = (block.0 as usize) < self.catalogue.len();
        if is_there { Ok(()) } else { Err(self.no_block(block)) }
    }

    pub(crate) fn no_block(&self, block: BlockIndex) -> ApiError {
        let count = self.catalogue.len();
        ApiError::unknown(format_args!("no block {}, there are {count}", block.0))
    }

    /// How a string begins, where the snapshot has contents.
    pub(crate) fn text(&self, block: BlockIndex) -> Result<Option<Text>, ApiError> {
        let snapshot = &self.heap().snapshot;
        let (mut start, mut length, mut found) = (Vec::new(), 0, false);
        if !snapshot.has_contents() {
            return Ok(None);
        }
        snapshot
            .contents(|of, _, text| {
                if of == block {
                    found = true;
                    length += text.len() as u64;
                    let room = MAX_TEXT.saturating_sub(start.len()).min(text.len());
                    start.extend_from_slice(&text[..room]);
                }
            })
            .map_err(damaged)?;
        let is_cut = length > start.len() as u64;
        Ok(found.then(|| Text { start: query::escaped(&start, is_cut), length, is_cut }))
    }
}

/// A string.
pub(crate) struct Text {
    /// How it begins, as OCaml writes it.
    pub(crate) start: String,
    /// Bytes of all of it.
    pub(crate) length: u64,
    /// Whether there is more of it.
    pub(crate) is_cut: bool,
}
