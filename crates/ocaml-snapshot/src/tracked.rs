//! Blocks that the sampler tracks: what joins a snapshot with the trace.

use memtrail_heap::write::{LabelRole, RootKind, Sample};
use memtrail_ocaml::heap::tracked::Tracked;

use super::frozen::{Slots, StoppedProcess, View};
use super::roots::{RootList, is_pointer};

/// Adds the sampler's entries, whose user data stand at the slots of `scanned`.
pub(super) fn add(view: &View<'_, impl StoppedProcess>, list: &mut RootList, scanned: Slots) {
    let generation = view.layout.version.generation();
    let mut label = None;
    for (slot, value) in scanned {
        if is_pointer(value) {
            if view.memory.is_own_profile(value) {
                continue;
            }
            let label = *label
                .get_or_insert_with(|| list.named(None, RootKind::Memprof, LabelRole::Other, b""));
            list.add(slot, value, label);
            continue;
        }
        let Some(tracked) = Tracked::read(&view.memory, generation, slot) else { continue };
        if let Some(id) = view.memory.number_in_trace(tracked.user_data) {
            let Tracked { block, samples, .. } = tracked;
            list.samples.push(Sample { block, id, samples });
        }
    }
}
