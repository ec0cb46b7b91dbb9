//! A step down the dominator tree.

use memtrail_heap::Bytes;
use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{self, Dominated};
use serde::Serialize;

use super::merge::{Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// What does a root or block dominate?
#[derive(Clone, Debug)]
pub struct DominatorsQuestion {
    /// The root, by name or number; without a root or block, all roots.
    pub root: Option<String>,
    /// The block.
    pub block: Option<u32>,
    /// Maximum number of rows of each sort.
    pub limit: usize,
}

/// Roots and kinds of blocks below a root or block.
#[derive(Clone, Debug, Serialize)]
pub struct BelowDominator {
    /// Roots and kinds of blocks.
    #[serde(flatten)]
    pub dominated: Dominated,
    /// Rows of both sorts that are left out.
    pub left_out: usize,
}

impl DominatorsQuestion {
    /// True if it has a number, which is that of one snapshot.
    pub fn is_of_one_snapshot(&self) -> bool {
        self.block.is_some() || self.root.as_deref().is_some_and(named::is_number)
    }
}

impl Question for DominatorsQuestion {
    type Response = BelowDominator;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::first((), self.limit)
    }

    fn answer(&self, view: &View<'_>) -> Result<BelowDominator, Unanswered> {
        let heap = view.heap;
        let node = match (self.block, &self.root) {
            (Some(block), _) => Node::Block(named::block(heap, block)?),
            (None, Some(root)) => Node::RootNode(named::root(heap, root)?),
            (None, None) => Node::RootNode(SUPER_ROOT),
        };
        Ok(BelowDominator { dominated: query::dominated(heap, node)?, left_out: 0 })
    }
}

impl Merge for BelowDominator {
    type Order = ();

    fn finish(&mut self, selection: &Selection) {
        let Dominated { root_nodes, groups, .. } = &mut self.dominated;
        self.left_out = selection.cut(root_nodes) + selection.cut(groups);
    }

    /// Sizes of all that is below.
    fn size(&self) -> Bytes {
        let Dominated { root_nodes, groups, .. } = &self.dominated;
        let roots = root_nodes.iter().map(|row| row.retained + row.retained_external);
        let groups = groups.iter().map(|group| group.retained + group.retained_external);
        roots.chain(groups).sum()
    }
}
