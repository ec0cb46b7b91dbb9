//! Roots by what they own: every reachable byte once.

use std::cmp::Reverse;
use std::ops::AddAssign;

use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, Everything, OwnedBlocks, OwnerDetails, OwnerRow};
use memtrail_heap::{Bytes, RootKind};
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::{Member, Sizes};
use super::histogram::{KindHistogram, allocated_parts};
use super::info::sizes;
use super::merge::{FamilyForm, Merge, Question};
use super::named;
use super::selection::Selection;
use super::summed::{SumRow, merge_rows, name_rows, order_parts};
use super::unanswered::Unanswered;
use super::view::View;
use crate::heap::Part;

/// How much does each root own?
#[derive(Clone, Debug)]
pub struct OwnersQuestion {
    /// Roots with this name, or with this in their names.
    pub name: Option<String>,
    /// Roots of this kind.
    pub kind: Option<RootKind>,
    /// The least that a root owns, unless it is named.
    pub min: Bytes,
    /// Count blocks, too.
    pub count_blocks: bool,
    /// Describe variables without a name by what they hold, and a root that is the only one of its name by its contents.
    pub describe: bool,
    /// Maximum number of rows.
    pub limit: usize,
}

/// Roots by what they own.
#[derive(Clone, Debug, Serialize)]
pub struct RootOwners {
    /// All that is reachable.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
    /// Roots, that of most first; of a family, those of the same kind, name and type are one.
    pub rows: Vec<OwnerFigures>,
    /// Rows that are left out.
    pub left_out: usize,
    /// Bytes that these own.
    pub left_out_owned: Bytes,
    /// Parts that a root shares with others, if it is the only one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<OwnerDetails>,
    /// Blocks that it owns, by type or kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contents: Option<KindHistogram>,
    /// The least that a row owns.
    #[serde(skip)]
    min: Bytes,
}

/// A root and what it owns.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerFigures {
    /// Blocks that it owns, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// The root.
    #[serde(flatten)]
    pub owner: OwnerRow,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Part<OwnerPart>>,
}

/// A root in one process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OwnerPart {
    /// Blocks that it owns, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Their size.
    pub owned: Bytes,
    /// Bytes outside the heap that go with them.
    pub owned_external: Bytes,
}

impl Question for OwnersQuestion {
    type Response = RootOwners;

    fn needs_types(&self) -> bool {
        self.name.is_some() && self.describe
    }

    fn selection(&self) -> Selection {
        Selection::first((), self.limit)
    }

    fn answer(&self, view: &View<'_>) -> Result<RootOwners, Unanswered> {
        let heap = view.heap;
        let named = self.name.as_deref().map(|name| named::labelled(heap, name)).transpose()?;
        let mut rows = self.owners(view, named.as_deref().unwrap_or_default())?;
        rows.retain(|row| {
            named.as_ref().is_none_or(|named| named::is_meant(&row.owner, named))
                && self.kind.is_none_or(|kind| kind.name() == row.owner.kind)
        });
        let min = if named.is_some() { Bytes(0) } else { self.min };
        let (mut details, mut contents) = (None, None);
        if self.describe {
            let shown = rows.iter().take_while(|row| row.size() >= min).count().min(self.limit);
            add_held_values(view, &mut rows[..shown])?;
            if let ([row], true) = (rows.as_slice(), named.is_some()) {
                details = Some(query::owner_details(heap, &row.owner));
                contents = Some(contents_of(view, &row.owner)?);
            }
        }
        let Everything { retained, retained_external, .. } = query::everything(heap);
        Ok(RootOwners {
            owned: retained,
            owned_external: retained_external,
            rows,
            left_out: 0,
            left_out_owned: Bytes(0),
            details,
            contents,
            min,
        })
    }
}

impl OwnersQuestion {
    /// All roots that own something, and those that are named.
    fn owners(
        &self,
        view: &View<'_>,
        named: &[RootNodeId],
    ) -> Result<Vec<OwnerFigures>, Unanswered> {
        let heap = view.heap;
        view.work("adding up what each root owns", || {
            if !self.count_blocks {
                let rows = query::owners(heap, named).rows.into_iter();
                return Ok(rows.map(|owner| OwnerFigures::new(None, owner)).collect());
            }
            let rows = query::owned_blocks(heap)?.into_iter();
            let figures = |of: OwnedBlocks| OwnerFigures::new(Some(of.blocks), of.owner);
            Ok(rows.map(figures).collect())
        })
    }
}

/// Blocks of an owner, by type or kind.
fn contents_of(view: &View<'_>, row: &OwnerRow) -> Result<KindHistogram, Unanswered> {
    let owners = [row.owner];
    let counted = view.work("counting blocks", || query::owned_histogram(view.heap, &owners));
    let mut histogram = counted?;
    allocated_parts(view, &mut histogram, Some(&owners))?;
    Ok(histogram.into())
}

/// Adds what variables without a name hold, for which types are looked for.
fn add_held_values(view: &View<'_>, rows: &mut [OwnerFigures]) -> Result<(), Unanswered> {
    let is_unnamed = |row: &OwnerRow| row.kind == RootKind::Global.name() && row.variable.is_none();
    if !rows.iter().any(|row| is_unnamed(&row.owner)) {
        return Ok(());
    }
    let mut owners: Vec<OwnerRow> = rows.iter().map(|row| row.owner.clone()).collect();
    if view.heap.types.is_empty() {
        query::add_held_values(&view.host.heap(true)?, &mut owners)?;
    } else {
        query::add_held_values(view.heap, &mut owners)?;
    }
    for (row, owner) in rows.iter_mut().zip(owners) {
        row.owner = owner;
    }
    Ok(())
}

impl Merge for RootOwners {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.rows, process);
    }

    fn merge(&mut self, other: Self) {
        self.owned += other.owned;
        self.owned_external += other.owned_external;
        merge_rows(&mut self.rows, other.rows);
        (self.details, self.contents) = (None, None);
    }

    fn finish(&mut self, selection: &Selection) {
        let rows = &mut self.rows;
        rows.retain(|row| row.size() >= self.min);
        rows.sort_rows_by_key(|row| Reverse((row.size(), row.owner.owned)));
        let owned =
            |rows: &[OwnerFigures]| -> Bytes { rows.iter().map(|row| row.owner.owned).sum() };
        let all = owned(rows);
        self.left_out = selection.cut(rows);
        self.left_out_owned = Bytes(all.0 - owned(rows).0);
        order_parts(rows);
        for row in rows {
            row.owner.share = row.owner.owned.share_of(self.owned);
        }
    }

    fn sizes(&self, view: &View<'_>) -> Result<Option<Sizes>, Unanswered> {
        Ok(Some(sizes(view, query::info(view.heap)?.reachable_blocks)))
    }
}

impl OwnerFigures {
    const fn new(blocks: Option<u64>, owner: OwnerRow) -> Self {
        Self { blocks, owner, processes: Vec::new() }
    }

    /// Bytes that it owns, off-heap memory included.
    pub fn size(&self) -> Bytes {
        self.owner.owned + self.owner.owned_external
    }
}

impl SumRow for OwnerFigures {
    type Key = (&'static str, String, Option<String>);
    type Figures = OwnerPart;

    fn key(&self) -> Self::Key {
        (self.owner.kind, self.owner.name(), self.owner.r#type.clone())
    }

    fn figures(&self) -> OwnerPart {
        let OwnerRow { owned, owned_external, .. } = self.owner;
        OwnerPart { blocks: self.blocks, owned, owned_external }
    }

    fn size(figures: &OwnerPart) -> u64 {
        (figures.owned + figures.owned_external).0
    }

    fn add(&mut self, other: Self) {
        self.blocks = add(self.blocks, other.blocks);
        self.owner.owned += other.owner.owned;
        self.owner.owned_external += other.owner.owned_external;
        self.owner.retained += other.owner.retained;
        self.owner.retained_external += other.owner.retained_external;
    }

    fn parts(&mut self) -> &mut Vec<Part<OwnerPart>> {
        &mut self.processes
    }
}

impl AddAssign for OwnerPart {
    fn add_assign(&mut self, more: Self) {
        self.blocks = add(self.blocks, more.blocks);
        self.owned += more.owned;
        self.owned_external += more.owned_external;
    }
}

/// Adds numbers of blocks, if they were counted.
fn add(blocks: Option<u64>, more: Option<u64>) -> Option<u64> {
    blocks.zip(more).map(|(blocks, more)| blocks + more)
}
