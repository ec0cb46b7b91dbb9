//! Roots by what each retains alone, or reaches.

use memtrail_heap::graph::RootNodes;
use memtrail_heap::query::{self, Everything, ReachCache, RootOrder, RootQuery, RootRow};
use memtrail_heap::{Bytes, RootKind};
use serde::Serialize;

use super::merge::{Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// How much does each root retain alone, or reach?
#[derive(Clone, Debug)]
pub struct RootsQuestion {
    /// Roots with this name, or with this in their names.
    pub name: Option<String>,
    /// Roots of this kind.
    pub kind: Option<RootKind>,
    /// The least that a root retains, or reaches.
    pub min: Bytes,
    /// Put roots in order by what they reach.
    pub by_reach: bool,
    /// Maximum number of rows.
    pub limit: usize,
}

/// Roots by what each retains alone, or reaches.
#[derive(Clone, Debug, Serialize)]
pub struct RetainingRoots {
    /// All that is retained.
    #[serde(flatten)]
    pub everything: Everything,
    /// Roots.
    pub rows: Vec<RootRow>,
    /// Rows that are left out.
    pub left_out: usize,
    /// Meanings of the numbers of roots.
    #[serde(skip)]
    pub root_nodes: RootNodes,
}

impl Question for RootsQuestion {
    type Response = RetainingRoots;

    fn selection(&self) -> Selection {
        Selection::first((), self.limit)
    }

    fn answer(&self, view: &View<'_>) -> Result<RetainingRoots, Unanswered> {
        let heap = view.heap;
        let min = self.min.max(Bytes(1));
        // A root that is named is shown, however little it retains.
        let min = if self.name.is_some() && min == Bytes(1) { Bytes(0) } else { min };
        let known = self.name.as_deref().map(|name| named::matching(heap, name)).transpose()?;
        let is_wanted = known.as_ref().map(|known| |name: &str| known.contains(name));
        let name = is_wanted.as_ref().map(|is_wanted| is_wanted as &dyn Fn(&str) -> bool);
        let all = RootQuery { kind: self.kind, name, ..RootQuery::default() };
        let wanted = if self.by_reach {
            let (min_retained, order) = (Bytes(0), RootOrder::Reachable);
            RootQuery { min_retained, min_reachable: min, order, ..all }
        } else {
            RootQuery { min_retained: min, ..all }
        };
        let reach = ReachCache::default();
        let (rows, left_out) = view.work("looking at what each root reaches", || {
            let roots = query::roots(heap, &wanted, &reach);
            let shown = &roots[..roots.len().min(self.limit)];
            (query::root_rows(heap, shown, &reach), roots.len() - shown.len())
        });
        let root_nodes = *heap.graph.root_nodes();
        Ok(RetainingRoots { everything: query::everything(heap), rows, left_out, root_nodes })
    }
}

impl Merge for RetainingRoots {
    type Order = ();

    fn size(&self) -> Bytes {
        let Everything { retained, retained_external, .. } = self.everything;
        if self.rows.is_empty() { Bytes(0) } else { retained + retained_external }
    }
}
