//! Memory that two roots have in common.

use memtrail_heap::query::{self, Shared};

use super::merge::{Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// How much do two roots have in common?
#[derive(Clone, Debug)]
pub struct SharedQuestion {
    /// The roots, by names or numbers.
    pub roots: [String; 2],
}

impl Question for SharedQuestion {
    type Response = Shared;

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<Shared, Unanswered> {
        let [a, b] = self.roots.each_ref().map(|name| named::root(view.heap, name));
        Ok(query::shared(view.heap, a?, b?))
    }
}

impl Merge for Shared {
    type Order = ();
}
