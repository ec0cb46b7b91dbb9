//! Names for readers of an export: as the page shows them.

use std::borrow::Cow;

use memtrail_profile::filter::names::displayed;
use memtrail_profile::names;
use memtrail_trace::{FileId, FunctionId, Locations};

/// What paths without a known function are called.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// The names of a recording.
pub(crate) struct Naming<'a> {
    locations: &'a Locations,
    functions: Vec<String>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(locations: &'a Locations) -> Self {
        Self { locations, functions: displayed(locations) }
    }

    /// A function as the page shows it.
    pub(crate) fn function(&self, function: FunctionId) -> &str {
        self.functions.get(function.0 as usize).map_or("", String::as_str)
    }

    /// A function as the trace spells it.
    pub(crate) fn raw(&self, function: FunctionId) -> Cow<'a, str> {
        String::from_utf8_lossy(self.locations.functions().get(function))
    }

    /// The module of a function; empty if it has none.
    pub(crate) fn module(&self, function: FunctionId) -> &str {
        names::module(self.function(function))
    }

    /// A source file.
    pub(crate) fn file(&self, file: FileId) -> Cow<'a, str> {
        String::from_utf8_lossy(self.locations.files().get(file))
    }
}
