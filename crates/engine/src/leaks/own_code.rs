//! Which code is the program's own, and which is a library's: what reports name is the place in the program.

use std::collections::{HashMap, HashSet};

use memtrail_profile::blocks::Row;
use memtrail_trace::{FunctionId, Site, StackId};

use super::response::Place;
use crate::heap::join::Live;
use crate::heap::samples::sites;
use crate::library_units::{installed_units, is_own_name};
use crate::names::shown;
use crate::recording::Recording;

/// Functions of event loops: what is beyond them on a stack started the loop, and has nothing to do with what it runs.
const EVENT_LOOPS: [&str; 3] = ["Lwt_main.", "Async_unix.", "Async_kernel.Scheduler"];
/// Containers of the standard library: what their functions allocate is what these are made of, and no value in them.
const CONTAINERS: [&str; 8] = [
    "Stdlib.Hashtbl.",
    "Stdlib.Map.",
    "Stdlib.Set.",
    "Stdlib.Queue.",
    "Stdlib.Stack.",
    "Stdlib.Dynarray.",
    "Stdlib.Weak.",
    "Stdlib.Ephemeron.",
];
/// Callers of a place that are named at most.
const MAX_CALLERS: usize = 2;

/// What distinguishes the program's own code.
pub(super) struct OwnCode<'r> {
    recording: &'r Recording,
    installed: HashSet<&'r str>,
}

impl<'r> OwnCode<'r> {
    pub(super) fn new(recording: &'r Recording) -> Self {
        Self { recording, installed: installed_units(recording) }
    }

    /// Whether a function is of the program's own, by its name: `Cache.remember`.
    pub(super) fn is_own_name(&self, name: &str) -> bool {
        is_own_name(name, |unit| self.installed.contains(unit))
    }

    /// Whether a call site is in the program's own code.
    pub(super) fn is_own(&self, site: Site) -> bool {
        let entities = &self.recording.entities;
        entities
            .of_function(site.function)
            .is_some_and(|entity| self.is_own_name(entities.name(entity)))
    }

    /// A call site, to be shown.
    pub(super) fn place(&self, site: Site) -> Option<Place> {
        let entities = &self.recording.entities;
        let entity = entities.of_function(site.function)?;
        let line = self.recording.profile().locations.resolve(site).line;
        let file = shown(entities.file_name(site.file));
        Some(Place {
            function: shown(entities.name(entity)),
            file: (line > 0).then_some(file),
            line: (line > 0).then_some(line),
        })
    }

    /// The nearest call site of the program's own to the allocation of a block, and its callers of the program's own;
    /// nothing if a library allocated it from its event loop.
    pub(super) fn own_places(&self, block: Live) -> Vec<Place> {
        self.places(sites(self.recording, block.row).take_while(|site| !self.is_event_loop(*site)))
    }

    /// The same of those that started the event loop.
    pub(super) fn places_beyond_loop(&self, block: Live) -> Vec<Place> {
        self.places(sites(self.recording, block.row))
    }

    /// True if a container of the standard library allocated a block, for itself.
    pub(super) fn is_by_container(&self, block: Live) -> bool {
        let innermost = sites(self.recording, block.row).next();
        innermost.is_some_and(|site| self.is_named(site, &CONTAINERS))
    }

    fn is_event_loop(&self, site: Site) -> bool {
        self.is_named(site, &EVENT_LOOPS)
    }

    fn is_named(&self, site: Site, starts: &[&str]) -> bool {
        let entities = &self.recording.entities;
        entities.of_function(site.function).is_some_and(|entity| {
            let name = entities.name(entity);
            starts.iter().any(|start| name.starts_with(start))
        })
    }

    /// The functions of the program's own that called the nearest one of a block, the innermost first; a recursive function
    /// is one caller.
    pub(super) fn callers(&self, row: Row) -> impl Iterator<Item = FunctionId> {
        let own = sites(self.recording, row)
            .take_while(|site| !self.is_event_loop(*site))
            .filter(|site| self.is_own(*site));
        let mut last = None;
        let functions = own.map(|site| site.function);
        functions.filter(move |function| last.replace(*function) != Some(*function)).skip(1)
    }

    fn places(&self, sites: impl Iterator<Item = Site>) -> Vec<Place> {
        let own = sites.filter(|site| self.is_own(*site));
        let mut places: Vec<Place> = Vec::new();
        for place in own.filter_map(|site| self.place(site)) {
            // A recursive function is one caller.
            if places.iter().all(|known| known.function != place.function) {
                places.push(place);
            }
            if places.len() > MAX_CALLERS {
                break;
            }
        }
        places
    }
}

/// The nearest call site of the program's own to each allocation; it is looked for once a callstack.
pub(super) struct NearestSites<'o, 'r> {
    own: &'o OwnCode<'r>,
    of_stack: HashMap<StackId, Option<Site>>,
}

impl<'o, 'r> NearestSites<'o, 'r> {
    pub(super) fn new(own: &'o OwnCode<'r>) -> Self {
        Self { own, of_stack: HashMap::new() }
    }

    pub(super) fn of(&mut self, row: Row) -> Option<Site> {
        let (own, recording) = (self.own, self.own.recording);
        let stack = recording.profile().blocks.stack(row);
        let nearest = || sites(recording, row).find(|site| own.is_own(*site));
        *self.of_stack.entry(stack).or_insert_with(nearest)
    }
}
