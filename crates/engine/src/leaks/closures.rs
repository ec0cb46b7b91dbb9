//! The program's own code where no call of its own allocated: blocks that a library allocates from its event loop are
//! retained by closures that the program gave to it, or have such closures in them.

use std::collections::HashMap;

use memtrail_heap::query;

use super::contents::Contents;
use super::own_code::OwnCode;
use super::owned::Owner;
use super::response::{NearestClosure, Place};
use crate::heap::loaded::LoadedSnapshot;
use crate::names::shown;
use crate::recording::Recording;

/// Blocks whose retaining paths are looked at, at most.
const MAX_PATHS: usize = 40;

/// The closures of the program's own that are nearest to most of an owner's blocks.
pub(super) fn nearest(
    owner: &Owner<'_>,
    contents: &Contents,
    own: &OwnCode<'_>,
    loaded: &LoadedSnapshot,
    recording: &Recording,
) -> Option<NearestClosure> {
    let of_library: Vec<_> =
        owner.live.iter().filter(|one| own.own_places(**one).is_empty()).collect();
    let every = of_library.len().div_ceil(MAX_PATHS).max(1);
    let mut places: HashMap<String, u64> = HashMap::new();
    for one in of_library.into_iter().step_by(every) {
        let Ok(Some(path)) = query::path(loaded.heap(), one.block) else { continue };
        let mut names = path.steps.iter().rev().map(|step| step.name.as_str());
        if let Some(name) = names.find(|name| own_closure(own, name).is_some()) {
            *places.entry(name.to_owned()).or_default() +=
                recording.profile().blocks.samples(one.row);
        }
    }
    let most = places.into_iter().max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0)));
    if let Some((name, _)) = most {
        return Some(NearestClosure { place: own_closure(own, &name)?, retains: true });
    }
    let mut kinds = contents.kinds.iter();
    let place = kinds.find_map(|kind| own_closure(own, &kind.name))?;
    Some(NearestClosure { place, retains: false })
}

/// The function of a kind of closures, if it is the program's own: `closure Server.handle server.ml:12`.
fn own_closure(own: &OwnCode<'_>, kind: &str) -> Option<Place> {
    let text = kind.strip_prefix("closure ")?;
    let (function, at) = text.split_once(' ').unwrap_or((text, ""));
    if !own.is_own_name(function) {
        return None;
    }
    // `file:line`, or `file:line:column` where a line has several functions.
    let mut parts = at.split(':');
    let file = parts.next().filter(|file| !file.is_empty()).map(shown);
    let line = parts.next().and_then(|line| line.parse().ok());
    Some(Place { function: shown(function), file, line })
}
