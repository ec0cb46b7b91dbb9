//! All roots, as they are found, with their labels.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::{LabelId, LabelRole, Labels, Root, RootKind, Sample, Strength};

/// The roots, and what else is found on the way.
pub struct RootList {
    pub(super) labels: Labels,
    pub(super) roots: Vec<Root>,
    pub(super) ephemerons: Vec<u64>,
    pub(super) samples: Vec<Sample>,
    /// Slots that have a label.
    slots: Vec<u64>,
    /// Names of functions that have no symbols, by their code.
    pub(super) function_names: HashMap<u64, Vec<u8>, BuildHasherDefault<DefaultHasher>>,
    /// Those of global variables, with their labels.
    pub(super) variables: Vec<(u64, LabelId)>,
}

impl RootList {
    pub(super) fn new() -> Self {
        Self {
            labels: Labels::new(),
            roots: Vec::new(),
            ephemerons: Vec::new(),
            samples: Vec::new(),
            slots: Vec::new(),
            function_names: HashMap::default(),
            variables: Vec::new(),
        }
    }

    /// A label with a name.
    pub(super) fn named(
        &mut self,
        parent: Option<LabelId>,
        kind: RootKind,
        part: LabelRole,
        name: &[u8],
    ) -> LabelId {
        self.labels.add(parent, kind, part, name, b"", 0)
    }

    /// A label with a number.
    pub(super) fn numbered(
        &mut self,
        parent: Option<LabelId>,
        kind: RootKind,
        part: LabelRole,
        number: u64,
    ) -> LabelId {
        self.labels.add(parent, kind, part, b"", b"", number)
    }

    /// A root that retains its value. `slot` is its address.
    pub(super) fn add(&mut self, slot: u64, value: u64, label: LabelId) {
        self.held(slot, value, label, Strength::Strong);
    }

    /// A block that is there whether or not anything holds it, such as a module's own.
    pub(super) fn note(&mut self, block: u64, label: LabelId) {
        self.roots.push(Root { value: block, slot: 0, label, strength: Strength::Weak });
    }

    /// A root that holds its value in some way.
    pub(super) fn held(&mut self, slot: u64, value: u64, label: LabelId, strength: Strength) {
        self.slots.push(slot);
        if is_pointer(value) {
            self.roots.push(Root { value, slot, label, strength });
        }
    }

    /// Of the slots that the runtime scans, those that have no label yet.
    pub(super) fn unlabelled(&mut self, scanned: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        self.slots.sort_unstable();
        let known = &self.slots;
        scanned
            .into_iter()
            .filter(|(slot, value)| is_pointer(*value) && known.binary_search(slot).is_err())
            .collect()
    }
}

/// Whether a value is an address.
pub(super) fn is_pointer(value: u64) -> bool {
    value & 1 == 0 && value != 0
}
