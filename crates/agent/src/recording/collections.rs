//! How often OCaml's garbage collector ran, and for how long ([`memtrail_recording::collections`]).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::heap::counters;
use memtrail_ocaml::symbols::heap;
use memtrail_recording::collections::{CollectionFigures, Figure};

use crate::context::target::Target;
use crate::os::symbol::symbol;

/// What the collector does, by its place in [`CollectionLog`] and in [`Slots::collecting`](crate::os::tls::Slots).
pub(crate) const MINOR: usize = 0;
pub(crate) const SLICE: usize = 1;

/// One kind of work of the collector's.
#[derive(Default)]
struct Work {
    count: AtomicU64,
    /// One more than the count as a hook of the program's was first seen in the place of ours; 0 before.
    hidden_at: AtomicU64,
    /// Nanoseconds.
    time: AtomicU64,
    /// The longest since it was last asked for: microseconds, and in the lower half when it ended, milliseconds
    /// since the recording began.
    longest: AtomicU64,
}

impl Work {
    /// Whether nothing was counted since hooks of the program's were first seen in the place of ours. Those of programs
    /// that call what was there before are no hindrance.
    fn is_hidden(&self, are_ours: bool) -> bool {
        if are_ours {
            return false;
        }
        let now = self.count.load(Relaxed) + 1;
        match self.hidden_at.compare_exchange(0, now, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(first) => first == now,
        }
    }
}

/// What was counted since the recording began.
#[derive(Default)]
pub(crate) struct CollectionLog {
    work: [Work; 2],
    /// Of both, in nanoseconds; what runs within another is counted once.
    time: AtomicU64,
    /// What the runtime had counted as the recording began: cycles and compactions.
    before: [Option<u64>; 2],
}

impl CollectionLog {
    pub(crate) fn new(target: &Target) -> Self {
        Self { before: counted(target), ..Self::default() }
    }

    /// Something has ended that took so many nanoseconds.
    pub(crate) fn add(&self, kind: usize, time: u64, is_outermost: bool, since_start: u64) {
        let Some(work) = self.work.get(kind) else { return };
        work.count.fetch_add(1, Relaxed);
        work.time.fetch_add(time, Relaxed);
        work.longest.fetch_max(packed(time, since_start), Relaxed);
        if is_outermost {
            self.time.fetch_add(time, Relaxed);
        }
    }

    /// The figures of now; the longest ones begin anew. `are_ours`: whether the hooks of a kind are ours.
    pub(super) fn figures(
        &self,
        target: &Target,
        elapsed: Duration,
        are_ours: impl Fn(usize) -> bool,
    ) -> CollectionFigures {
        let mut figures = CollectionFigures::new(elapsed);
        let names = [
            (Figure::Minor, Figure::MinorTime, Figure::MinorLongest, Figure::MinorLongestAt),
            (Figure::Slices, Figure::SlicesTime, Figure::SliceLongest, Figure::SliceLongestAt),
        ];
        for (work, (count, time, longest, longest_at)) in self.work.iter().zip(names) {
            figures.set(count, work.count.load(Relaxed));
            figures.set(time, work.time.load(Relaxed));
            let packed = work.longest.swap(0, Relaxed);
            if packed != 0 {
                figures.set(longest, packed >> 32);
                figures.set(longest_at, packed & u64::from(u32::MAX));
            }
        }
        figures.set(Figure::Time, self.time.load(Relaxed));
        let is_hidden = |(kind, work): (usize, &Work)| work.is_hidden(are_ours(kind));
        if self.work.iter().enumerate().any(is_hidden) {
            figures.set(Figure::Replaced, 1);
        }
        let since = |(now, before): (Option<u64>, Option<u64>)| Some(now?.saturating_sub(before?));
        let [cycles, compactions] = counted(target);
        figures.set(Figure::Cycles, since((cycles, self.before[0])));
        figures.set(Figure::Compactions, since((compactions, self.before[1])));
        figures
    }
}

/// Microseconds above, milliseconds below, each at most what 32 bits hold.
fn packed(time: u64, since_start: u64) -> u64 {
    let half = |number: u64| number.min(u64::from(u32::MAX));
    half(time / 1_000) << 32 | half(since_start / 1_000_000)
}

/// What the runtime counts by itself: cycles that have ended, and compactions.
fn counted(target: &Target) -> [Option<u64>; 2] {
    if target.runtime.layout.single().is_none() {
        return [heap::MAJOR_CYCLES, heap::COMPACTIONS].map(|name| {
            let at = symbol(name);
            (!at.is_null()).then(|| target.memory.u64(at as u64)).flatten()
        });
    }
    let mut found = [None; 2];
    counters::each(
        &target.memory,
        &target.runtime.layout,
        target.runtime.state(),
        |name, value| match name {
            "major_collections" => found[0] = Some(value),
            "compactions" => found[1] = Some(value),
            _ => {}
        },
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_two_is_kept_with_its_moment() {
        let second = 1_000_000_000;
        assert_eq!(packed(5_000_000, 2 * second), (5_000 << 32) + 2_000);
        assert!(packed(5_000_000, 0) > packed(4_999_000, 100 * second));
        assert_eq!(packed(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn hooks_of_the_program_s_hide_what_no_longer_counts() {
        let log = CollectionLog::default();
        let [minor, _] = &log.work;
        log.add(MINOR, 100, true, 20);
        assert!(!minor.is_hidden(true));
        assert!(minor.is_hidden(false));
        assert!(minor.is_hidden(false));
        // They call ours, or ours are back.
        log.add(MINOR, 100, true, 20);
        assert!(!minor.is_hidden(false));
        assert!(!minor.is_hidden(true));
    }

    #[test]
    fn what_runs_within_another_counts_once() {
        let log = CollectionLog::default();
        log.add(SLICE, 30, false, 10);
        log.add(MINOR, 100, true, 20);
        let [minor, slices] = &log.work;
        assert_eq!((minor.time.load(Relaxed), slices.time.load(Relaxed)), (100, 30));
        assert_eq!(log.time.load(Relaxed), 100);
    }
}
