//! Memory that a group of blocks and roots retains.

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Retained, RetainedGroup};

use super::merge::{FamilyForm, Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;
use crate::api_error::ApiError;

/// How much would be freed without a group of blocks and roots?
#[derive(Clone, Debug)]
pub struct RetainedQuestion {
    /// Kinds or types of blocks.
    pub kinds: Vec<String>,
    /// Roots, by names or numbers.
    pub roots: Vec<String>,
    /// Blocks, by numbers.
    pub blocks: Vec<u32>,
}

impl RetainedQuestion {
    /// True if it has numbers of blocks or roots, which are those of one snapshot.
    pub fn is_of_one_snapshot(&self) -> bool {
        !self.blocks.is_empty() || self.roots.iter().any(|root| named::is_number(root))
    }
}

impl Question for RetainedQuestion {
    type Response = Retained;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<Retained, Unanswered> {
        let heap = view.heap;
        let root_nodes = self.roots.iter().map(|root| named::root(heap, root));
        let blocks = self.blocks.iter().map(|number| named::block(heap, *number));
        let group = RetainedGroup {
            root_nodes: root_nodes.collect::<Result<_, ApiError>>()?,
            blocks: blocks.collect::<Result<_, ApiError>>()?,
            kinds: self.kinds.clone(),
        };
        let retained = view
            .work("looking what can be reached without them", || query::retained(heap, &group))?;
        if retained.blocks == 0 && group.root_nodes.is_empty() && group.blocks.is_empty() {
            return Err(named::no_kind(&self.kinds.join("`, `")).into());
        }
        Ok(retained)
    }
}

impl Merge for Retained {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::SumAndEach;

    fn merge(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.static_bytes += other.static_bytes;
        self.external += other.external;
        self.retained += other.retained;
        self.retained_external += other.retained_external;
    }

    fn size(&self) -> Bytes {
        self.retained + self.retained_external
    }
}
