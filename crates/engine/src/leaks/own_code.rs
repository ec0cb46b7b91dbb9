//! Which code is the program's own, and which is a library's: what reports name is the place in the program.
//!
//! A unit is a library's if the recording's types say that its files are installed (`memtrail types`), or if its name
//! is that of a unit of OCaml's distribution, or of a library that runs the program's code from a loop of its own.
//! All other OCaml code is the program's.

use std::collections::HashSet;

use memtrail_trace::Site;

use super::response::Place;
use crate::heap::join::Live;
use crate::heap::samples::sites;
use crate::names::shown;
use crate::recording::Recording;

/// Units of OCaml's distribution, and libraries whose first name is one of these.
const LIBRARIES: [&str; 29] = [
    "Stdlib",
    "Unix",
    "UnixLabels",
    "Str",
    "Thread",
    "Mutex",
    "Condition",
    "Event",
    "Semaphore",
    "Dynlink",
    "Std_exit",
    "Pervasives",
    "Bigarray",
    "Lwt",
    "Lwt_unix",
    "Lwt_main",
    "Lwt_engine",
    "Async",
    "Async_kernel",
    "Async_unix",
    "Core",
    "Core_kernel",
    "Base",
    "Eio",
    "Eio_main",
    "Eio_linux",
    "Eio_posix",
    "Miou",
    "Picos",
];
/// How names of other units of these begin.
const PREFIXES: [&str; 3] = ["Camlinternal", "Lwt_", "Eio_"];
/// Callers of a place that are named at most.
const MAX_CALLERS: usize = 2;

/// What distinguishes the program's own code.
pub(super) struct OwnCode<'r> {
    recording: &'r Recording,
    installed: HashSet<&'r str>,
}

impl<'r> OwnCode<'r> {
    pub(super) fn new(recording: &'r Recording) -> Self {
        let installed = recording.description.library_units.iter().map(String::as_str).collect();
        Self { recording, installed }
    }

    /// Whether a function is of the program's own, by its name: `Cache.remember`.
    pub(super) fn is_own_name(&self, name: &str) -> bool {
        if !name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            return false;
        }
        let first = name.split('.').next().unwrap_or(name);
        if LIBRARIES.contains(&first) || PREFIXES.iter().any(|prefix| first.starts_with(prefix)) {
            return false;
        }
        // A unit's name may have several parts: `Yojson.Basic`.
        let ends = name.match_indices('.').map(|(end, _)| end).chain([name.len()]);
        !ends.into_iter().any(|end| self.installed.contains(&name[..end]))
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

    /// The nearest call site of the program's own to the allocation of a block, and its callers of the program's own.
    pub(super) fn own_places(&self, block: Live) -> Vec<Place> {
        let own = sites(self.recording, block.row).filter(|site| self.is_own(*site));
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
