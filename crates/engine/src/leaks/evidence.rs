//! What is known of an owner that grows: what rules decide by.

use memtrail_heap::query::OwnerRow;

use super::contents::{Contents, KindSum};
use super::owned::Owner;
use super::response::Place;

/// What is known of an owner that grows.
pub(super) struct Evidence<'e> {
    pub(super) owner: &'e Owner<'e>,
    pub(super) contents: &'e Contents,
    /// Where entries are added, if that is known.
    pub(super) added_at: Option<Place>,
    /// Sampled cells of its container from before the last tenth of the work that are alive …
    pub(super) alive: u64,
    /// … and those that were freed.
    pub(super) freed: u64,
}

/// If there are more blocks for each value of a container, what its values are does not tell what is in it.
const MAX_OF_VALUE: u64 = 1000;
/// With fewer sampled blocks nothing is said of what never happens.
const MIN_SAMPLED: u64 = 10;

/// Bytes that a value retains from which on a few values may be all of the growth.
pub(super) const LARGE_VALUE: u64 = 16 << 10;
/// Part of an owner that its values are by themselves, below which most of it is what they retain.
const RETAINED: u64 = 10;

impl Evidence<'_> {
    /// True if most of an owner is what so few values retain that these may have been there from the beginning.
    pub(super) fn retained_by_few(&self, values: &KindSum) -> bool {
        let owned = self.owner.owned;
        values.bytes.0.saturating_mul(RETAINED) < owned
            && values.blocks.saturating_mul(LARGE_VALUE) <= owned
    }

    /// The root that owns most.
    pub(super) fn row(&self) -> Option<&OwnerRow> {
        self.owner.rows.first().copied()
    }

    /// True if no sampled cell was freed, of so many that this says something.
    pub(super) const fn is_never_freed(&self) -> bool {
        self.freed == 0 && self.alive >= MIN_SAMPLED
    }

    /// The kind of what is in its container, or else the kind of most blocks.
    pub(super) fn values(&self) -> Option<&KindSum> {
        let of_container = self.contents.container.as_ref().and_then(|found| found.values.as_ref());
        let (_, all) = self.blocks_of(|_| false);
        let is_telling = |values: &&KindSum| values.blocks.saturating_mul(MAX_OF_VALUE) >= all;
        of_container.filter(is_telling).or_else(|| self.contents.kinds.first())
    }

    /// Blocks of kinds that a rule is about, and all.
    pub(super) fn blocks_of(&self, is_meant: impl Fn(&str) -> bool) -> (u64, u64) {
        let sum = |kinds: &mut dyn Iterator<Item = &KindSum>| kinds.map(|kind| kind.blocks).sum();
        let meant = sum(&mut self.contents.kinds.iter().filter(|kind| is_meant(&kind.name)));
        (meant, sum(&mut self.contents.kinds.iter()))
    }

    /// `entries are added in Cache.find (cache.ml:43) and never removed`.
    pub(super) fn added(&self, what: &str) -> String {
        let place = self.added_at.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
        if self.is_never_freed() {
            format!("{what} are added{place} and never removed")
        } else if self.freed > 0 {
            format!("{what} are added{place} faster than they are removed")
        } else {
            format!("{what} are added{place}")
        }
    }
}
