//! What the blocks hang from: one root above all, the kinds of roots below it, then the labels.

use crate::label::{Labels, RootKind};
use crate::units::LabelId;

/// A node that is no block: a place among [`Holders`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct HolderId(pub u32);

/// The node above all.
pub const EVERYTHING: HolderId = HolderId(0);

/// The nodes above the blocks, parents before children: first the one above all, then a node for
/// each kind of root, then the labels.
#[derive(Clone, Copy, Debug)]
pub struct Holders {
    labels: u32,
}

impl Holders {
    pub(crate) fn new(labels: &Labels) -> Self {
        Self { labels: labels.len() as u32 }
    }

    const KINDS: u32 = RootKind::ALL.len() as u32;

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "the one above all is always there")]
    pub fn len(&self) -> usize {
        (1 + Self::KINDS + self.labels) as usize
    }

    /// The node of a kind of root.
    pub fn kind(&self, kind: RootKind) -> HolderId {
        let place = RootKind::ALL.iter().position(|known| *known == kind).unwrap_or(0);
        HolderId(1 + place as u32)
    }

    /// The node of a label.
    pub fn label(&self, label: LabelId) -> HolderId {
        HolderId(1 + Self::KINDS + label.0)
    }

    /// What a node is.
    pub fn get(&self, holder: HolderId) -> Holder {
        match holder.0 {
            0 => Holder::Everything,
            kind if kind <= Self::KINDS => Holder::Kind(
                RootKind::ALL.get(kind as usize - 1).copied().unwrap_or(RootKind::Other),
            ),
            label => Holder::Label(LabelId(label - 1 - Self::KINDS)),
        }
    }

    /// The node above.
    pub(crate) fn parent(self, holder: HolderId, labels: &Labels) -> Option<HolderId> {
        match self.get(holder) {
            Holder::Everything => None,
            Holder::Kind(_) => Some(EVERYTHING),
            Holder::Label(id) => {
                let label = labels.get(id)?;
                Some(
                    label.parent.map_or_else(|| self.kind(label.kind), |parent| self.label(parent)),
                )
            }
        }
    }
}

/// What a node above the blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The one above all.
    Everything,
    /// All roots of a kind.
    Kind(RootKind),
    /// A label.
    Label(LabelId),
}
