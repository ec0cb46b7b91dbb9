//! Memory that several roots retain jointly.

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, JointLimits, JointShare};
use serde::Serialize;

use super::allocated::name_joint;
use super::merge::{Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// Roots that reach a block, at most.
const MAX_ROOTS: usize = 100;
/// References to cut: with more, a cut is not looked for.
pub const MAX_CUT: usize = 64;
/// Shares below this part of all that is retained are left out.
const LEAST: u64 = 100;

/// What do several roots retain jointly?
#[derive(Clone, Debug)]
pub struct JointQuestion {
    /// The root of whose parts is asked, by name or number.
    pub root: Option<String>,
    /// The least that is listed.
    pub min: Option<Bytes>,
    /// Maximum number of blocks of each share.
    pub blocks: usize,
}

/// Memory that several roots retain jointly.
#[derive(Clone, Debug, Serialize)]
pub struct JointShares {
    /// All that is retained.
    pub retained: Bytes,
    /// Parts of it that are retained jointly.
    pub rows: Vec<JointShare>,
    /// The least that is listed.
    #[serde(skip)]
    pub min: Bytes,
}

impl Question for JointQuestion {
    type Response = JointShares;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<JointShares, Unanswered> {
        let heap = view.heap;
        let retained = query::everything(heap).retained;
        let of = self.root.as_deref().map(|root| named::root(heap, root)).transpose()?;
        let least = if of.is_some() { Bytes(1) } else { Bytes(retained.0.div_ceil(LEAST)) };
        let min = self.min.unwrap_or(least);
        let limits = JointLimits { of, min, blocks: self.blocks, roots: MAX_ROOTS, cut: MAX_CUT };
        let mut rows = view.work("looking for what has to be cut", || {
            query::joint_shares_in(view.place, heap, limits)
        })?;
        name_joint(view, &mut rows)?;
        Ok(JointShares { retained, rows, min })
    }
}

impl Merge for JointShares {
    type Order = ();

    fn size(&self) -> Bytes {
        self.rows.iter().map(|share| share.retained + share.retained_external).sum()
    }
}
