//! What call paths are made of: functions and allocation sites, under one numbering.
//!
//! Functions are distinguished by their name alone, sites by function, file and position. Numbers
//! stay what they are while a recording grows; what is new gets the next ones. Only sites that
//! allocated are numbered. A module has a number, too, for paths in which it is collapsed.

use memtrail_trace::{FileId, FunctionId, Site, StackId};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::allocating_frame::allocating;
use crate::blocks::Row;
use crate::names;
use crate::profile::Profile;
use crate::sites::{By, ModuleId};

/// A function, an allocation site or a module of a recording, or one of two that stand for the ends
/// of all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entity(pub u32);

impl Entity {
    /// What calls the outermost function of every path.
    pub const TOPLEVEL: Self = Self(0);
    /// What ends every path.
    pub const ALLOCATIONS: Self = Self(1);
}

/// What an [`Entity`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "EntityKind"))]
pub enum Kind {
    /// An end of all paths.
    Root,
    /// A function.
    Function,
    /// A place in a function that allocated.
    Site,
    /// Functions of a module that call each other, where it is collapsed.
    Module,
}

/// A position in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Source file of the call site.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
    /// The first column, from 0.
    pub start: u32,
    /// The column after the last.
    pub end: u32,
}

/// What lines of tables are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// A function or a site.
    Entity(Entity),
    /// A module.
    Module(ModuleId),
    /// A source file.
    File(FileId),
}

/// No module, no file, no site: in columns.
pub(super) const NO_ENTITY: u32 = u32::MAX;

/// All entities of a recording.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    keys: Vec<Box<str>>,
    by_key: FxHashMap<Box<str>, u32>,
    /// The function of each entity: a site's, or itself.
    functions: Vec<u32>,
    positions: Vec<Option<Position>>,
    modules: Vec<u32>,
    /// The file of each entity, as in its position.
    files: Vec<u32>,
    of_function: Vec<u32>,
    /// The entity of each module.
    of_module: Vec<u32>,
    of_site: FxHashMap<Site, u32>,
    /// How many functions have been displayed alike.
    alike: FxHashMap<String, u32>,
    module_names: Names,
    file_names: Names,
    /// Whether a block was allocated with exactly this backtrace.
    allocating: Vec<bool>,
    rows: usize,
}

/// Names by number, each but once.
#[derive(Clone, Debug, Default)]
struct Names {
    names: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Names {
    fn intern(&mut self, name: String) -> u32 {
        *self.ids.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() as u32 - 1
        })
    }
}

impl Entities {
    /// The entities of a recording.
    pub fn new(profile: &Profile) -> Self {
        let mut entities = Self::default();
        for (root, key) in ["<toplevel>", "<allocations>"].into_iter().enumerate() {
            entities.add(key, root as u32, None, NO_ENTITY);
        }
        entities.grow(profile);
        entities
    }

    /// Takes in what is new in the same recording.
    pub fn grow(&mut self, profile: &Profile) {
        let locations = &profile.locations;
        for file in self.file_names.names.len()..locations.files().len() {
            let name = String::from_utf8_lossy(locations.files().get(FileId(file as u32)));
            // Two files can look alike only where their names are no UTF-8.
            let mut unique = name.clone().into_owned();
            while self.file_names.ids.contains_key(&unique) {
                unique.push('\u{fffd}');
            }
            self.file_names.intern(unique);
        }
        for function in self.of_function.len()..locations.functions().len() {
            let raw =
                String::from_utf8_lossy(locations.functions().get(FunctionId(function as u32)));
            let module = self.module_names.intern(names::readable(names::module(&raw)));
            if module as usize == self.of_module.len() {
                let id = self.keys.len() as u32;
                let key = format!("module:{}", self.module_names.names[module as usize]);
                self.add(&key, id, None, module);
                self.of_module.push(id);
            }
            let mut key = names::readable(&raw);
            let alike = self.alike.entry(key.clone()).or_default();
            *alike += 1;
            if *alike > 1 {
                key = format!("{key} [{alike}]");
            }
            let id = self.keys.len() as u32;
            self.add(&key, id, None, module);
            self.of_function.push(id);
        }
        for frame in 0..locations.frames() as u32 {
            for site in locations.at(memtrail_trace::FrameId(frame)) {
                let Some(&id) = self.of_function.get(site.function.0 as usize) else { continue };
                let position = &mut self.positions[id as usize];
                if position.is_none() {
                    *position = Some(Position::of(site));
                    self.files[id as usize] = site.file.0;
                }
            }
        }
        self.allocating.resize(profile.stacks.len(), false);
        for row in self.rows..profile.blocks.len() {
            let stack = profile.blocks.stack(Row(row as u32));
            let Some(seen) = self.allocating.get_mut(stack.0 as usize) else { continue };
            if !std::mem::replace(seen, true) && stack != StackId::ROOT {
                let stack = allocating(locations, &profile.stacks, stack);
                let innermost = locations.at(profile.stacks.frame(stack)).last();
                if let Some(site) = innermost {
                    self.add_site(*site);
                }
            }
        }
        self.rows = profile.blocks.len();
    }

    fn add_site(&mut self, site: Site) {
        if self.of_site.contains_key(&site) {
            return;
        }
        let Some(&function) = self.of_function.get(site.function.0 as usize) else { return };
        let Site { file, line, start_col, end_col, .. } = site;
        let name = &self.keys[function as usize];
        let key = format!("{name}@{}:{line}:{start_col}-{end_col}", self.file_name(file));
        self.of_site.insert(site, self.keys.len() as u32);
        let module = self.modules[function as usize];
        self.add(&key, function, Some(Position::of(&site)), module);
    }

    fn add(&mut self, key: &str, function: u32, position: Option<Position>, module: u32) {
        let id = self.keys.len() as u32;
        let mut unique = key.to_owned();
        let mut times = 1;
        while self.by_key.contains_key(unique.as_str()) {
            times += 1;
            unique = format!("{key} [{times}]");
        }
        self.by_key.insert(unique.as_str().into(), id);
        self.keys.push(unique.into());
        self.functions.push(function);
        self.files.push(position.map_or(NO_ENTITY, |position| position.file.0));
        self.positions.push(position);
        self.modules.push(module);
    }

    /// How many there are. Entities are below it.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Never: the two ends of paths are always there.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The entity that has a key.
    pub fn find(&self, key: &str) -> Option<Entity> {
        self.by_key.get(key).map(|&id| Entity(id))
    }

    /// What an entity is called in questions and links; no other entity of the recording has the
    /// same key. A function's is its name as people write it, the second of those that look alike
    /// with ` [2]`; a site's is `function@file:line:start-end`, a module's `module:name`.
    ///
    /// # Panics
    /// As all functions here, if the entity is of another recording.
    pub fn key(&self, entity: Entity) -> &str {
        &self.keys[entity.0 as usize]
    }

    /// What to show: the name of a function or module, or of a site's function.
    pub fn name(&self, entity: Entity) -> &str {
        match entity {
            Entity::TOPLEVEL => "all code",
            Entity::ALLOCATIONS => "Allocation sites",
            _ if self.is_module(entity.0) => {
                self.module_name(ModuleId(self.modules[entity.0 as usize]))
            }
            _ => &self.keys[self.functions[entity.0 as usize] as usize],
        }
    }

    /// What an entity is.
    pub fn kind(&self, entity: Entity) -> Kind {
        match entity {
            Entity::TOPLEVEL | Entity::ALLOCATIONS => Kind::Root,
            _ if self.is_site(entity.0) => Kind::Site,
            _ if self.is_module(entity.0) => Kind::Module,
            _ => Kind::Function,
        }
    }

    /// The function of a site, or a function itself.
    pub fn function(&self, entity: Entity) -> Option<Entity> {
        matches!(self.kind(entity), Kind::Function | Kind::Site)
            .then(|| Entity(self.functions[entity.0 as usize]))
    }

    /// Where an entity stands: a function at the first place of it that the recording met.
    pub fn position(&self, entity: Entity) -> Option<Position> {
        self.positions[entity.0 as usize]
    }

    /// The module of an entity; none for the ends of paths.
    pub fn module(&self, entity: Entity) -> Option<ModuleId> {
        Some(self.modules[entity.0 as usize]).filter(|&id| id != NO_ENTITY).map(ModuleId)
    }

    /// The name of a module as people write it; empty for what is in none.
    pub fn module_name(&self, module: ModuleId) -> &str {
        self.module_names.names.get(module.0 as usize).map_or("", String::as_str)
    }

    /// The name of a file.
    pub fn file_name(&self, file: FileId) -> &str {
        self.file_names.names.get(file.0 as usize).map_or("", String::as_str)
    }

    /// The entity of a function of the trace.
    pub fn of_function(&self, function: FunctionId) -> Option<Entity> {
        self.of_function.get(function.0 as usize).map(|&id| Entity(id))
    }

    /// The entity that the module of a function of the trace has where it is collapsed.
    pub fn of_module(&self, function: FunctionId) -> Option<Entity> {
        let function = self.of_function(function)?;
        let module = self.modules[function.0 as usize];
        self.of_module.get(module as usize).map(|&id| Entity(id))
    }

    /// The entity of a site that allocated.
    pub fn of_site(&self, site: Site) -> Option<Entity> {
        self.of_site.get(&site).map(|&id| Entity(id))
    }

    /// A key that no other label of its kind has.
    pub fn label_key(&self, label: Label) -> &str {
        match label {
            Label::Entity(entity) => self.key(entity),
            Label::Module(module) => self.module_name(module),
            Label::File(file) => self.file_name(file),
        }
    }

    /// The label that has a key, in tables by `by`.
    pub fn find_label(&self, by: By, key: &str) -> Option<Label> {
        match by {
            By::Function | By::Site => self.find(key).map(Label::Entity),
            By::Module => self.module_names.ids.get(key).map(|&id| Label::Module(ModuleId(id))),
            By::File => self.file_names.ids.get(key).map(|&id| Label::File(FileId(id))),
        }
    }

    /// The names of all modules, in the order of their ids.
    pub fn modules(&self) -> &[String] {
        &self.module_names.names
    }

    /// The names of all files, in the order of their ids.
    pub fn files(&self) -> &[String] {
        &self.file_names.names
    }

    /// Bytes that all of it occupies, roughly.
    pub fn memory(&self) -> usize {
        let keys: usize = self.keys.iter().map(|key| 2 * key.len()).sum();
        let each = 2 * size_of::<(Box<str>, u32)>() + 16 + size_of::<Option<Position>>();
        let sites = 2 * self.of_site.len() * size_of::<(Site, u32)>();
        keys + self.keys.len() * each + sites + self.allocating.len()
    }

    pub(super) fn is_site(&self, id: u32) -> bool {
        id > Entity::ALLOCATIONS.0 && self.functions[id as usize] != id
    }

    fn is_module(&self, id: u32) -> bool {
        let module = self.modules[id as usize];
        self.of_module.get(module as usize) == Some(&id)
    }

    /// The function of each entity: a site's, or itself.
    pub(super) fn function_column(&self) -> &[u32] {
        &self.functions
    }

    /// The module of each entity, or [`NO_ENTITY`].
    pub(super) fn module_column(&self) -> &[u32] {
        &self.modules
    }

    /// The file of each entity, or [`NO_ENTITY`].
    pub(super) fn file_column(&self) -> &[u32] {
        &self.files
    }

    /// Whether blocks were allocated with exactly this backtrace.
    pub(super) fn allocates(&self, stack: StackId) -> bool {
        self.allocating.get(stack.0 as usize).copied().unwrap_or(false)
    }
}

impl Position {
    fn of(site: &Site) -> Self {
        let Site { file, line, start_col, end_col, .. } = *site;
        Self { file, line, start: start_col.into(), end: end_col.into() }
    }
}
