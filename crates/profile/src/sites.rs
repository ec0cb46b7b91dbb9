//! Totals of a selection by the place that allocated: call site, function, module or file.
//!
//! The place of a block is that of the innermost site of its backtrace, inlined functions
//! included; [`allocating`] has the frames that are passed over.

use memtrail_order::SortRows as _;
use memtrail_trace::{FileId, FrameId, FunctionId, Locations, Site, StackId};
use rustc_hash::FxHashMap;

use crate::allocating_frame::allocating;
use crate::blocks::Row;
use crate::estimate::Sum;
use crate::names;
use crate::profile::Profile;
use crate::select::Selection;
use crate::time::Elapsed;

/// What blocks are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Function, file and line.
    #[default]
    Site,
    /// Function.
    Function,
    /// Module, see [`names::module`].
    Module,
    /// Source file.
    File,
}

/// A module, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u32);

/// A place that allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// No frame has a name, or there is no backtrace.
    Unknown,
    /// A line of a function.
    Site(FunctionId, FileId, u32),
    /// A function.
    Function(FunctionId),
    /// A module.
    Module(ModuleId),
    /// A source file.
    File(FileId),
}

/// The places of a trace: which frame belongs to which.
#[derive(Debug)]
pub struct Places<'a> {
    by: By,
    locations: &'a Locations,
    keys: Vec<Key>,
    /// Index in `keys` of the innermost site of each frame.
    of_frame: Vec<u32>,
    modules: Vec<String>,
    module_of: Vec<ModuleId>,
}

/// What a place has allocated, of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// How much.
    pub sum: Sum,
    /// Samples in blocks that were never collected.
    pub never_collected: u64,
    /// Σ samples · age, in sample-microseconds; see [`Total::mean_age`].
    age: u128,
}

impl Total {
    /// Adds another set of blocks.
    pub fn add(&mut self, other: &Self) {
        self.sum.add(&other.sum);
        self.never_collected += other.never_collected;
        self.age += other.age;
    }

    /// Mean age of a byte: at the moment of the selection if it has one, else at its collection,
    /// or the trace's end.
    pub fn mean_age(&self) -> Elapsed {
        Elapsed(self.age.checked_div(self.sum.samples.into()).unwrap_or(0) as u64)
    }

    /// Adds a block.
    pub fn add_row(&mut self, profile: &Profile, selection: &Selection, row: Row) {
        let blocks = &profile.blocks;
        let samples = blocks.samples(row);
        profile.estimator.add_row(&mut self.sum, blocks, row);
        let collected = blocks.collected(row);
        let until = selection.live_at.or(collected).unwrap_or(profile.end);
        self.age += u128::from(samples) * u128::from(until.since(blocks.allocated(row)).0);
        if collected.is_none() {
            self.never_collected += samples;
        }
    }
}

impl<'a> Places<'a> {
    /// Sorts out the frames of a trace.
    pub fn new(locations: &'a Locations, by: By) -> Self {
        let mut places = Self {
            by,
            locations,
            keys: vec![],
            of_frame: vec![],
            modules: vec![],
            module_of: vec![],
        };
        places.name_modules();
        let mut ids = FxHashMap::from_iter([(Key::Unknown, 0)]);
        places.keys.push(Key::Unknown);
        for frame in 0..locations.frames() as u32 {
            let site = locations.at(FrameId(frame)).last();
            let key = site.map_or(Key::Unknown, |&site| places.key(site));
            let id = *ids.entry(key).or_insert_with(|| {
                places.keys.push(key);
                places.keys.len() as u32 - 1
            });
            places.of_frame.push(id);
        }
        places
    }

    fn name_modules(&mut self) {
        let mut ids: FxHashMap<String, ModuleId> = FxHashMap::default();
        for (_, function) in self.locations.functions().iter() {
            let function = String::from_utf8_lossy(function);
            let module = names::module(&function).to_owned();
            let id = *ids.entry(module).or_insert_with_key(|module| {
                self.modules.push(module.clone());
                ModuleId(self.modules.len() as u32 - 1)
            });
            self.module_of.push(id);
        }
    }

    /// The place that a site belongs to.
    pub fn key(&self, site: Site) -> Key {
        match self.by {
            By::Site => Key::Site(site.function, site.file, site.line),
            By::Function => Key::Function(site.function),
            By::File => Key::File(site.file),
            By::Module => self.module(site.function).map_or(Key::Unknown, Key::Module),
        }
    }

    /// The module of a function.
    pub fn module(&self, function: FunctionId) -> Option<ModuleId> {
        self.module_of.get(function.0 as usize).copied()
    }

    /// The name of a module, as in the trace; empty for what is in no module.
    pub fn module_name(&self, module: ModuleId) -> &str {
        self.modules.get(module.0 as usize).map_or("", String::as_str)
    }

    /// All places there may be, by the index that [`of_stack`](Self::of_stack) gives.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The place, as an index, of blocks allocated with a backtrace.
    pub fn of_stack(&self, profile: &Profile, stack: StackId) -> usize {
        let stack = allocating(&profile.locations, &profile.stacks, stack);
        if stack == StackId::ROOT {
            return 0;
        }
        self.of_frame.get(profile.stacks.frame(stack).0 as usize).map_or(0, |&place| place as usize)
    }

    /// Totals of each place that has any, the largest first; those of equal size in the order
    /// in which the trace defines them. The index goes with [`keys`](Self::keys).
    pub fn totals(&self, profile: &Profile, selection: &Selection) -> Vec<(usize, Total)> {
        let mut totals = vec![Total::default(); self.keys.len()];
        for row in selection.rows(&profile.blocks) {
            let place = self.of_stack(profile, profile.blocks.stack(row));
            totals[place].add_row(profile, selection, row);
        }
        let mut totals: Vec<_> =
            totals.into_iter().enumerate().filter(|(_, total)| total.sum.recorded > 0).collect();
        totals.sort_rows_by_key(|&(place, total)| (std::cmp::Reverse(total.sum.samples), place));
        totals
    }
}
