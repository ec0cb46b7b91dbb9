//! Variables that C code registered as roots, by the name they were given, the symbol they are in,
//! or where in a file that is loaded they are: `static` variables have no symbol in a stripped program,
//! and in others only in the file.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::heap::threads;
use memtrail_ocaml::symbols::heap as names;

use super::frozen::{Slots, StoppedProcess, View};
use super::object_files::ObjectFiles;
use super::roots::RootList;

const MAX_NAME_LEN: usize = 512;
/// The state of OCaml 4 and of a domain is not larger than this.
const STATE_BYTES: u64 = 1024;

/// Adds the slots of `scanned` that have no label yet.
pub(super) fn add(
    view: &View<'_, impl StoppedProcess>,
    list: &mut RootList,
    scanned: Slots,
    states: &[u64],
) {
    let mut by_name = StoppedProcess::named_values(view);
    by_name.sort_unstable();
    // The last label is mostly the next one, too.
    let mut last: Option<(Vec<u8>, LabelId)> = None;
    let mut files = None;
    let mut place = Vec::new();
    for (slot, value) in scanned {
        let mut text = [0; MAX_NAME_LEN];
        let found = by_name.binary_search_by_key(&slot, |&(slot, _)| slot);
        let name: &[u8] = match found {
            Ok(at) => view.memory.c_string(by_name[at].1, &mut text).unwrap_or_default(),
            Err(_) if states.iter().any(|state| slot.wrapping_sub(*state) < STATE_BYTES) => {
                b"Caml_state"
            }
            Err(_) => view.symbols.name_at(slot, &mut text).unwrap_or_else(|| {
                place.clear();
                files.get_or_insert_with(|| ObjectFiles::new(view)).describe(slot, &mut place);
                &place
            }),
        };
        let known = last.as_ref().filter(|(known, _)| known == name).map(|&(_, label)| label);
        let label = known.unwrap_or_else(|| {
            let label = list.named(None, RootKind::GlobalC, LabelRole::Symbol, name);
            last = Some((name.to_vec(), label));
            label
        });
        list.add(slot, value, label);
    }
}

/// Adds what the hook scans that libraries put before the runtime's own roots, without what has a
/// label: systhreads' stacks.
pub(super) fn add_hooked(list: &mut RootList, scanned: Slots) {
    let rest = list.unlabelled(scanned);
    if rest.is_empty() {
        return;
    }
    let name = names::SCAN_ROOTS_HOOK.as_bytes();
    let label = list.named(None, RootKind::Hook, LabelRole::Symbol, name);
    for (slot, value) in rest {
        list.add(slot, value, label);
    }
}

/// Adds the variables that C code registered for the time of a call: a list with this head.
pub(super) fn add_local(
    view: &View<'_, impl StoppedProcess>,
    list: &mut RootList,
    thread: u64,
    head: u64,
) {
    if head == 0 {
        return;
    }
    let label = list.numbered(None, RootKind::LocalC, LabelRole::Thread, thread);
    let memory = &view.memory;
    threads::each_local_root(memory, head, |slot| {
        list.add(slot, memory.u64(slot).unwrap_or(0), label);
    });
}
