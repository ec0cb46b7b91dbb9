//! Words of registers and stacks that may be values.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::Address;

use super::frozen::{StoppedProcess, View};
use super::regions;
use super::roots::RootList;

/// Name of the label of such roots.
const NAME: &[u8] = b"registers";

/// Adds the words of a domain that ran OCaml code, of which nobody says if they are values. Each retains the block that
/// it points to or into.
pub(super) fn add(
    view: &View<'_, impl StoppedProcess>,
    list: &mut RootList,
    parent: Option<LabelId>,
    state: Address,
) {
    let words = StoppedProcess::uncertain(view, state);
    if words.is_empty() {
        return;
    }
    // Static data are there in any case, and a word that points into the midst of a static block is no pointer to one.
    let statics = regions::statics(view);
    let is_static = |word: &u64| {
        statics.iter().any(|region| word.wrapping_sub(region.start) < 8 * region.words.len() as u64)
    };
    let label = list.named(parent, RootKind::Stack, LabelRole::Other, NAME);
    for word in words.into_iter().filter(|word| word.is_multiple_of(8) && !is_static(word)) {
        list.add(0, word, label);
    }
}
