//! Blocks that the sampler tracks: what joins a snapshot with the trace.

use memtrail_heap::write::{LabelRole, RootKind, Sample};
use memtrail_ocaml::heap::tracked::Tracked;
use memtrail_ocaml::memprof;

use super::roots::{RootList, is_pointer};
use super::scan::Scanned;
use super::view::ForkedView;
use crate::sampling::key::id_of;
use crate::sampling::start::OUR_PROFILE;
use crate::sampling::substitute;

/// Adds the blocks that we track ourselves, where the runtime has no sampler.
pub(super) fn add_ours(view: &ForkedView<'_>, list: &mut RootList) {
    substitute::tracked::each(|entry| {
        if let Some(id) = id_of(entry.key, view.epoch) {
            list.samples.push(Sample { block: entry.block, id: id.0, samples: entry.samples });
        }
    });
}

/// Adds the sampler's entries, whose user data stand at the slots of `scanned`.
pub(super) fn add(view: &ForkedView<'_>, list: &mut RootList, scanned: Scanned) {
    let family = view.target.runtime.version.family();
    let mut label = None;
    for (slot, value) in scanned {
        if is_pointer(value) {
            // Our own profile is no block of the program's.
            let ours = OUR_PROFILE.get().copied().unwrap_or(0);
            if memprof::is_profile_of(&view.memory, value, ours) {
                continue;
            }
            let label = *label
                .get_or_insert_with(|| list.named(None, RootKind::Memprof, LabelRole::Other, b""));
            list.add(slot, value, label);
            continue;
        }
        let Some(tracked) = Tracked::read(&view.memory, family, slot) else { continue };
        if let Some(id) = id_of(tracked.user_data, view.epoch) {
            let Tracked { block, samples, .. } = tracked;
            list.samples.push(Sample { block, id: id.0, samples });
        }
    }
}
