//! The size of each tree of blocks: sums that threads add to.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::column::{Column, Place, into_plain};

/// Sums that many threads add to. Few of them do not fit into 32 bits.
pub(super) struct Weighing {
    low: Column<AtomicU32>,
    /// How often each ran over.
    over: Mutex<HashMap<u32, u64, FxBuildHasher>>,
}

impl Weighing {
    pub(super) fn new(place: &Place, count: usize) -> io::Result<Self> {
        Ok(Self {
            low: place.column(count, || AtomicU32::new(0))?,
            over: Mutex::new(HashMap::default()),
        })
    }

    #[inline]
    pub(super) fn add(&self, place: u32, words: u64) {
        let low = words as u32;
        let before = self.low[place as usize].fetch_add(low, Ordering::Relaxed);
        let over = (words >> 32) + u64::from(before.checked_add(low).is_none());
        if over > 0
            && let Ok(mut sums) = self.over.lock()
        {
            *sums.entry(place).or_insert(0) += over;
        }
    }

    pub(super) fn finish(self) -> Weights {
        Weights { low: into_plain(self.low), over: self.over.into_inner().unwrap_or_default() }
    }
}

/// Sums, by number.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// The lower half of each.
    pub(crate) low: Column<u32>,
    /// The upper half, where there is any.
    pub(crate) over: HashMap<u32, u64, FxBuildHasher>,
}

impl Weights {
    #[inline]
    pub(crate) fn get(&self, number: usize) -> u64 {
        let low = self.low.get(number).copied().unwrap_or(0);
        if self.over.is_empty() {
            return u64::from(low);
        }
        u64::from(low) + (self.over.get(&(number as u32)).copied().unwrap_or(0) << 32)
    }
}
