//! Facts about a snapshot, and how much is in it.

use memtrail_heap::query::{self, Info};
use serde::Serialize;

use super::family::Sizes;
use super::merge::{Merge, Question};
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// What is a snapshot of, and how much is in it?
#[derive(Clone, Copy, Debug)]
pub struct InfoQuestion;

/// Facts about a snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct SnapshotInfo {
    /// The facts.
    #[serde(flatten)]
    pub info: Info,
    /// Snapshots of the same recording that were asked for and not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub snapshots_missing: Vec<String>,
}

impl Question for InfoQuestion {
    type Response = SnapshotInfo;

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<SnapshotInfo, Unanswered> {
        let info = query::info(view.heap)?;
        Ok(SnapshotInfo { info, snapshots_missing: view.host.snapshots_missing() })
    }
}

/// Sizes of what is reachable.
pub(super) fn sizes(view: &View<'_>, blocks: u64) -> Sizes {
    let all = query::everything(view.heap);
    Sizes { blocks, owned: all.retained, owned_external: all.retained_external }
}

impl Merge for SnapshotInfo {
    type Order = ();

    fn sizes(&self, view: &View<'_>) -> Result<Option<Sizes>, Unanswered> {
        Ok(Some(sizes(view, self.info.reachable_blocks)))
    }
}
