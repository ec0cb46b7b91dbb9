//! Types, carried along pointers until none says more.
//!
//! A pointer with a type is checked against the tag and the size of the block that it leads to, when the section
//! with that block is at hand: pointers wait for that, by section. Sections are gone through in rounds, so the order
//! of things does not depend on how many of them fit into memory.

use std::io;

use hashbrown::{HashMap, HashSet};
use memtrail_heap::graph::{Column, Place};
use memtrail_heap::read::{Columns, Error};
use memtrail_heap::{BlockIndex, Derivation, tag};
use rustc_hash::FxBuildHasher;

use crate::instances::{NO_TYPE, Type, TypeId};
use crate::map_nodes;
use crate::sections::Sections;
use crate::shape::{Check, Fields, Role, ShapeId};
use crate::shapes::Shapes;
use crate::state::{Packed, State};
use crate::units::predefined_exceptions;

/// Instead of a type: what a block's fields hold is to be carried on again.
const AGAIN: TypeId = TypeId(NO_TYPE);
/// Pointers against their type that are distinguished.
const MAX_CONTRADICTIONS: usize = 100_000;
/// Pairs of types that are compared.
const MAX_DIFFERENCES: usize = 100_000;

/// A pointer whose block cannot be of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contradiction {
    pub(crate) block: BlockIndex,
    pub(crate) ty: TypeId,
    pub(crate) tag: u8,
    pub(crate) wosize: u64,
}

/// Types on their way.
pub(crate) struct Flow<'t> {
    pub(crate) shapes: Shapes<'t>,
    /// What is known of each block.
    pub(crate) states: Column<Packed>,
    /// For each section the blocks in it that a pointer leads to, and its type.
    waiting: Vec<Vec<(u32, TypeId)>>,
    /// How blocks are reached now.
    derivation: Derivation,
    /// Whether only modules and constructors of extensible types are gone through.
    modules_only: bool,
    modules: Vec<u32>,
    /// Blocks of extensible types' constructors: places in the table.
    constructors: HashMap<u32, u32, FxBuildHasher>,
    /// Blocks of extensible types whose constructor was not known when they were reached.
    unresolved: Vec<u32>,
    /// Closures whose environment was not looked at yet.
    pub(crate) closures: Vec<u32>,
    ephemerons: HashMap<u32, u32, FxBuildHasher>,
    /// The blocks of units.
    units: HashSet<u32, FxBuildHasher>,
    /// Pointers that were rejected.
    pub(crate) contradictions: HashSet<Contradiction, FxBuildHasher>,
    pub(crate) contradiction_count: u64,
    /// Types of pointers that differ from those of the blocks that they lead to, which stayed: how many pointers, and
    /// one of the blocks. None where both mean the same.
    pub(crate) differences: HashMap<(TypeId, TypeId), Option<(u64, u32)>, FxBuildHasher>,
}

impl<'t> Flow<'t> {
    pub(crate) fn new(
        place: &Place,
        shapes: Shapes<'t>,
        sections: &Sections<'_, '_>,
    ) -> io::Result<Self> {
        let snapshot = sections.snapshot;
        let ephemerons = (0..).zip(&snapshot.ephemerons);
        let units = shapes.units.iter().map(|unit| unit.block.0).collect();
        Ok(Self {
            shapes,
            states: place.zeros(snapshot.blocks() as usize)?,
            waiting: vec![Vec::new(); snapshot.sections()],
            derivation: Derivation::Variable,
            modules_only: false,
            modules: Vec::new(),
            constructors: HashMap::default(),
            unresolved: Vec::new(),
            closures: Vec::new(),
            ephemerons: ephemerons.map(|(place, found)| (found.block.0, place)).collect(),
            units,
            contradictions: HashSet::default(),
            contradiction_count: 0,
            differences: HashMap::default(),
        })
    }

    /// Carries types from the blocks of units as far as typed fields lead.
    pub(crate) fn start(&mut self, sections: &mut Sections<'_, '_>) -> Result<(), Error> {
        for (number, unit) in (0..).zip(self.shapes.units) {
            if (unit.block.0 as usize) < self.states.len() {
                let ty = self.shapes.instances.id(Type::Unit(number));
                self.want(sections, unit.block.0, ty);
            }
        }
        let table = self.shapes.instances.table;
        for (block, extension) in predefined_exceptions(sections.snapshot, table) {
            let ty = self.shapes.instances.id(Type::Extension(extension));
            self.want(sections, block.0, ty);
        }
        // Values of extensible types are understood once their constructors are known.
        self.modules_only = true;
        self.settle(sections)?;
        self.modules_only = false;
        for module in std::mem::take(&mut self.modules) {
            self.want(sections, module, AGAIN);
        }
        self.settle(sections)
    }

    /// From now on, what is reached is reached through closures.
    pub(crate) fn through_closures(&mut self) {
        self.derivation = Derivation::Closure;
    }

    /// Lets a pointer of a type lead to a block.
    pub(crate) fn want(&mut self, sections: &Sections<'_, '_>, block: u32, ty: TypeId) {
        if let Some(waiting) = self.waiting.get_mut(sections.of(block)) {
            waiting.push((block, ty));
        }
    }

    /// Goes on until nothing waits.
    pub(crate) fn settle(&mut self, sections: &mut Sections<'_, '_>) -> Result<(), Error> {
        loop {
            let known = self.constructors.len();
            while self.waiting.iter().any(|waiting| !waiting.is_empty()) {
                for section in 0..self.waiting.len() {
                    if !self.waiting[section].is_empty() {
                        let was_kept = sections.is_kept(section);
                        let columns = sections.take(section)?;
                        self.section(sections, section, &columns);
                        sections.put(section, columns, was_kept);
                    }
                }
            }
            if self.constructors.len() == known || self.unresolved.is_empty() {
                return Ok(());
            }
            for block in std::mem::take(&mut self.unresolved) {
                self.want(sections, block, AGAIN);
            }
        }
    }

    /// Lets all pointers into a section arrive, and those that leave from there and stay inside.
    fn section(&mut self, sections: &Sections<'_, '_>, section: usize, columns: &Columns) {
        let mut waiting = std::mem::take(&mut self.waiting[section]);
        while let Some((block, ty)) = waiting.pop() {
            let shape = match ty {
                AGAIN => match self.states[block as usize].get() {
                    State::Typed(shape, _) => Some(shape),
                    _ => None,
                },
                ty => self.arrive(columns, block, ty),
            };
            if let Some(shape) = shape {
                self.carry_on(sections, columns, block, shape, &mut waiting);
            }
        }
        waiting.append(&mut self.waiting[section]);
        self.waiting[section] = waiting;
    }

    /// A pointer of a type leads to a block: the block's shape, if that is new.
    fn arrive(&mut self, columns: &Columns, block: u32, ty: TypeId) -> Option<ShapeId> {
        let found = columns.get((block - columns.first.0) as usize)?;
        // One block without fields serves all types; and memory outside the heap is no value.
        if found.wosize.0 == 0 {
            return None;
        }
        let state = self.states[block as usize].get();
        match self.shapes.check(ty, found.tag, found.wosize.0) {
            // A module that is a whole unit is its block, which may have fields that the module's type does not have.
            Check::Contradiction
                if self.units.contains(&block) && self.shapes.role(ty) == Role::Module =>
            {
                None
            }
            Check::Contradiction => {
                self.contradict(Contradiction {
                    block: BlockIndex(block),
                    ty,
                    tag: found.tag,
                    wosize: found.wosize.0,
                });
                if state == State::Untouched {
                    let reason = self.shapes.instances.texts.id("contradicts its type");
                    self.states[block as usize] = State::Unknown(reason).into();
                }
                None
            }
            Check::Unknown(reason) => {
                if state == State::Untouched {
                    self.states[block as usize] = State::Unknown(reason).into();
                }
                None
            }
            Check::Is(shape) => {
                // Of an unknown type, only that of functions is known.
                let by_contents = found.tag == tag::CLOSURE && {
                    let head = self.shapes.instances.head(ty);
                    matches!(self.shapes.instances.get(head), Type::Unknown(_))
                };
                let how = if by_contents { Derivation::Contents } else { self.derivation };
                if let State::Typed(old, _) = state
                    && old != shape
                    && self.shapes.get(shape).role == Role::Module
                    && self.units.contains(&block)
                {
                    // The unit says more than the module's type in another one.
                    return None;
                }
                if let State::Typed(old, old_how) = state
                    && !self.is_better(block, old, shape)
                {
                    // The same type, found in a better way.
                    if old == shape && how < old_how {
                        self.states[block as usize] = State::Typed(shape, how).into();
                    }
                    return None;
                }
                self.states[block as usize] = State::Typed(shape, how).into();
                if let Role::Extension(extension) = self.shapes.get(shape).role {
                    self.constructors.insert(block, extension);
                }
                Some(shape)
            }
        }
    }

    fn contradict(&mut self, contradiction: Contradiction) {
        let is_full = self.contradictions.len() >= MAX_CONTRADICTIONS;
        if is_full || self.contradictions.insert(contradiction) {
            self.contradiction_count += 1;
        }
    }

    /// Whether a block's new shape says more than the old one.
    fn is_better(&mut self, block: u32, old: ShapeId, new: ShapeId) -> bool {
        let (old, new) = (self.shapes.get(old), self.shapes.get(new));
        if old.ty == new.ty {
            return false;
        }
        let is_better = new.unknowns < old.unknowns;
        let pair = if is_better { (new.ty, old.ty) } else { (old.ty, new.ty) };
        if let Some(known) = self.differences.get_mut(&pair) {
            if let Some((count, _)) = known {
                *count += 1;
            }
        } else if self.differences.len() < MAX_DIFFERENCES {
            let differs = !self.shapes.instances.same(pair.0, pair.1);
            self.differences.insert(pair, differs.then_some((1, block)));
        }
        is_better
    }

    /// Carries types on along a block's pointers. Those inside its section are put into `waiting`.
    fn carry_on(
        &mut self,
        sections: &Sections<'_, '_>,
        columns: &Columns,
        block: u32,
        shape: ShapeId,
        waiting: &mut Vec<(u32, TypeId)>,
    ) {
        let place = (block - columns.first.0) as usize;
        let inside = columns.first.0..columns.first.0 + columns.len() as u32;
        let mut resolved = None;
        let shape = match &self.shapes.get(shape).fields {
            Fields::Extensible => {
                let Some(shape) = self.resolve(sections, columns, block, shape) else { return };
                resolved = Some(shape);
                shape
            }
            _ => shape,
        };
        if let Some(shape) = resolved {
            let State::Typed(_, derivation) = self.states[block as usize].get() else { return };
            self.states[block as usize] = State::Typed(shape, derivation).into();
        }
        let Self { shapes, states, waiting: elsewhere, .. } = self;
        let shape = shapes.get(shape);
        let modules_only = self.modules_only;
        let derivation = self.derivation;
        let mut send = |target: u32, ty: TypeId| {
            if let State::Typed(known, how) = states[target as usize].get()
                && how <= derivation
            {
                let known = shapes.get(known).ty;
                if known == ty || known.0 == shapes.instances.heads[ty.0 as usize] {
                    return;
                }
            }
            if inside.contains(&target) {
                waiting.push((target, ty));
            } else if let Some(elsewhere) = elsewhere.get_mut(sections.of(target)) {
                elsewhere.push((target, ty));
            }
        };
        match &shape.fields {
            Fields::None | Fields::Extensible => {}
            Fields::Each(types) => sections.edges(columns, place, |field, target| {
                let ty = usize::try_from(field).ok().and_then(|field| types.get(field));
                if let Some(ty) = ty
                    && (!modules_only || shapes.role(*ty) != Role::Value)
                {
                    send(target, *ty);
                }
            }),
            Fields::All(ty) => sections.edges(columns, place, |_, target| send(target, *ty)),
            Fields::Argument { by_hash, of_others, otherwise } => {
                let hash = sections.snapshot.immediate(BlockIndex(block));
                let ty = hash.map_or(otherwise, |hash| {
                    let found = by_hash.iter().find(|(of, _)| *of == hash);
                    found.map_or(of_others, |(_, ty)| ty)
                });
                sections.edges(columns, place, |field, target| {
                    if field == 1 {
                        send(target, *ty);
                    }
                });
            }
            Fields::Dynamic { tag, by_tag, otherwise } => {
                let hash = sections.snapshot.immediate(BlockIndex(block));
                let found = |hash| by_tag.binary_search_by_key(&hash, |(of, _)| *of).ok();
                let ty = hash.and_then(found).map_or(*otherwise, |place| by_tag[place].1);
                sections.edges(columns, place, |field, target| match field {
                    0 => send(target, *tag),
                    1 => send(target, ty),
                    _ => {}
                });
            }
            Fields::ByTag { by_tag, otherwise } => {
                let key = sections.snapshot.immediate(BlockIndex(block));
                let found = |key| by_tag.binary_search_by_key(&key, |(of, _)| *of).ok();
                let value = key.and_then(found).map(|place| by_tag[place].1);
                sections.edges(columns, place, |field, target| {
                    let field = usize::try_from(field).ok();
                    let of_tag = value.filter(|_| field == Some(map_nodes::VALUE));
                    let declared = || otherwise.get(field?).copied();
                    if let Some(ty) = of_tag.or_else(declared) {
                        send(target, ty);
                    }
                });
            }
            Fields::Environment => self.closures.push(block),
            Fields::Weak { keys, data } => {
                let place = self.ephemerons.get(&block);
                let ephemeron =
                    place.and_then(|place| sections.snapshot.ephemerons.get(*place as usize));
                if let Some(ephemeron) = ephemeron {
                    for key in &ephemeron.keys {
                        send(key.0, *keys);
                    }
                    if let (Some(block), Some(ty)) = (ephemeron.data, data) {
                        send(block.0, *ty);
                    }
                }
            }
            Fields::Unknown(reason) => {
                let reason = State::Unknown(*reason).into();
                sections.edges(columns, place, |_, target| {
                    let state = &mut states[target as usize];
                    if state.get() == State::Untouched {
                        *state = reason;
                    }
                });
            }
        }
        if modules_only && shape.role != Role::Value {
            self.modules.push(block);
        }
    }

    /// What a block of an extensible type is, by its constructor.
    fn resolve(
        &mut self,
        sections: &Sections<'_, '_>,
        columns: &Columns,
        block: u32,
        shape: ShapeId,
    ) -> Option<ShapeId> {
        let place = (block - columns.first.0) as usize;
        let ty = self.shapes.get(shape).ty;
        let mut constructor = None;
        sections.edges(columns, place, |field, target| {
            if field == 0 {
                constructor = Some(target);
            }
        });
        let known = constructor.and_then(|block| self.constructors.get(&block)).copied();
        let found = if let Some(extension) = known {
            let wosize = columns.get(place)?.wosize.0;
            self.shapes.extension(ty, extension, wosize)
        } else {
            self.unresolved.push(block);
            None
        };
        if found.is_none() {
            let reason = self.shapes.instances.texts.id("unknown extension constructor");
            let reason: Packed = State::Unknown(reason).into();
            let states = &mut self.states;
            sections.edges(columns, place, |_, target| {
                let state = &mut states[target as usize];
                if state.get() == State::Untouched {
                    *state = reason;
                }
            });
        }
        found
    }
}
