//! Names for readers of an export: as the page shows them.

use std::borrow::Cow;

use memtrail_profile::filter::names::{FunctionSet, displayed};
use memtrail_profile::names;
use memtrail_trace::{FileId, FunctionId, Locations};
use rustc_hash::FxHashMap;

/// What paths without a known function are called.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// The file of what is in none.
pub(crate) const NO_FILE: FileId = FileId(u32::MAX);

/// The names of a recording.
pub(crate) struct Naming<'a> {
    locations: &'a Locations,
    functions: Vec<String>,
    /// Modules that stand for their functions, with what they are called in paths. Their ids follow those of functions.
    modules: Vec<(String, String)>,
    /// The id of the module that stands for a function.
    collapsed: FxHashMap<FunctionId, FunctionId>,
}

impl<'a> Naming<'a> {
    /// Modules stand for the functions of theirs that `collapsed` has.
    pub(crate) fn new(locations: &'a Locations, collapsed: &FunctionSet) -> Self {
        let functions = displayed(locations);
        let mut naming =
            Self { locations, functions, modules: Vec::new(), collapsed: FxHashMap::default() };
        let mut ids: FxHashMap<String, FunctionId> = FxHashMap::default();
        let all = naming.functions.len() as u32;
        for function in (0..all).map(FunctionId).filter(|id| collapsed.contains(*id)) {
            let module = naming.module(function).to_owned();
            let next = FunctionId(all + naming.modules.len() as u32);
            let id = *ids.entry(module).or_insert_with_key(|module| {
                naming.modules.push((module.clone(), format!("{module} (module)")));
                next
            });
            naming.collapsed.insert(function, id);
        }
        naming
    }

    /// The module that stands for a function in paths, as if it were a function.
    pub(crate) fn collapsed(&self, function: FunctionId) -> Option<FunctionId> {
        self.collapsed.get(&function).copied()
    }

    /// Whether modules stand for any functions.
    pub(crate) fn collapses(&self) -> bool {
        !self.collapsed.is_empty()
    }

    /// A module that stands for its functions: what it is, and what it is called in paths.
    fn collapsed_module(&self, id: FunctionId) -> Option<&(String, String)> {
        self.modules.get((id.0 as usize).checked_sub(self.functions.len())?)
    }

    /// A function as the page shows it.
    pub(crate) fn function(&self, function: FunctionId) -> &str {
        let known = self.functions.get(function.0 as usize);
        known.or_else(|| Some(&self.collapsed_module(function)?.1)).map_or("", String::as_str)
    }

    /// A function as the trace spells it.
    pub(crate) fn raw(&self, function: FunctionId) -> Cow<'_, str> {
        if let Some((_, name)) = self.collapsed_module(function) {
            return Cow::Borrowed(name);
        }
        String::from_utf8_lossy(self.locations.functions().get(function))
    }

    /// The module of a function; empty if it has none.
    pub(crate) fn module(&self, function: FunctionId) -> &str {
        match self.collapsed_module(function) {
            Some((module, _)) => module,
            None => names::module(self.function(function)),
        }
    }

    /// A source file; empty if it is none.
    pub(crate) fn file(&self, file: FileId) -> Cow<'a, str> {
        if file == NO_FILE {
            return Cow::Borrowed("");
        }
        String::from_utf8_lossy(self.locations.files().get(file))
    }
}
