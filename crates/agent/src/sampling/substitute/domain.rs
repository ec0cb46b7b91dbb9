//! Where the next samples of each domain are.
//!
//! Each word is sampled with the same probability, so the distance to the next sample is drawn from the
//! geometric distribution; as that has no memory, it may be drawn anew at any time: when a minor heap has
//! been emptied, or when the rate changes.

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};

use memtrail_ocaml::Memory as _;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Source, Words};

use super::installed::Substitute;
use super::tracked::{self, DOMAINS};
use crate::context::halvings::Halvings;
use crate::random::splitmix::{self, SplitMix};
use crate::recording::active::active;
use crate::recording::installed;
use crate::sampling::rate;
use crate::sampling::switch::is_on;
use crate::sampling::write::{domain_of, write_sampled};

/// Where a domain's next samples are. Only who holds the domain's lock uses it.
struct Next {
    /// In the minor heap: the block that reaches below this address is sampled. 0 if none is.
    trigger: AtomicU64,
    /// Where the minor heap began and ended when that was drawn: `Gc.set` moves it.
    drawn_in: [AtomicU64; 2],
    /// True once the numbers are this place's own.
    is_seeded: AtomicBool,
    /// Words of the major heap up to the next sample.
    large: AtomicI64,
    /// Words outside the heap up to the next sample.
    external: AtomicI64,
    /// The rate of the distances.
    halvings: AtomicU8,
    numbers: AtomicU64,
}

static NEXT: [Next; DOMAINS] = [const {
    Next {
        trigger: AtomicU64::new(0),
        drawn_in: [const { AtomicU64::new(0) }; 2],
        is_seeded: AtomicBool::new(false),
        large: AtomicI64::new(0),
        external: AtomicI64::new(0),
        halvings: AtomicU8::new(0),
        numbers: AtomicU64::new(0),
    }
}; DOMAINS];

impl Next {
    fn distance(&self, rate: f64) -> u64 {
        let number = SplitMix(self.numbers.fetch_add(SplitMix::STEP, Relaxed)).next();
        splitmix::distance(number, rate)
    }

    /// From here on samples count by this rate. The distances outside of the minor heap are drawn anew: kept from a
    /// higher rate they would be too short for what their samples stand for.
    fn begin_rate(&self, halvings: Halvings, rate: f64) {
        self.halvings.store(halvings.0, Relaxed);
        self.large.store(self.distance(rate) as i64, Relaxed);
        self.external.store(self.distance(rate) as i64, Relaxed);
    }

    /// How many samples fall into so many words.
    fn samples(&self, ahead: &AtomicI64, words: u64, rate: f64) -> u64 {
        let mut left = ahead.load(Relaxed).saturating_sub_unsigned(words);
        let mut samples = 0;
        while left <= 0 {
            samples += 1;
            left = left.saturating_add_unsigned(self.distance(rate));
        }
        ahead.store(left, Relaxed);
        samples
    }
}

impl Substitute {
    /// The part of the domain with this state. Domains that follow each other in its place go on with its numbers.
    fn next(&self, state: u64) -> &'static Next {
        let place = domain_of(self.target, state).0;
        let next = &NEXT[usize::from(place) % DOMAINS];
        if !next.is_seeded.swap(true, Relaxed) {
            let seed = self.target.seed ^ (u64::from(place) + 1) << 40;
            next.numbers.store(SplitMix(seed).next(), Relaxed);
            let (halvings, rate) = rate::to_draw_with(self.target);
            next.begin_rate(halvings, rate);
            self.draw(next, state);
        }
        next
    }

    fn field(&self, state: u64, offset: u64) -> u64 {
        self.target.memory.field(state, offset).unwrap_or(0)
    }

    /// The first and the last address of the minor heap.
    fn minor_heap(&self, state: u64) -> [u64; 2] {
        let fields = &self.target.runtime.layout.state;
        [self.field(state, fields.young_start), self.field(state, fields.young_end)]
    }

    /// The address of the next sample, which is drawn anew where the minor heap has moved: distances have no memory.
    fn trigger(&self, next: &Next, state: u64) -> u64 {
        let heap = self.minor_heap(state);
        if next.drawn_in.each_ref().map(|at| at.load(Relaxed)) != heap {
            self.draw(next, state);
        }
        next.trigger.load(Relaxed)
    }

    fn rate(&self, next: &Next) -> f64 {
        Halvings(next.halvings.load(Relaxed)).of(self.target.options.rate)
    }

    /// Draws the distance to the next sample in the minor heap from where allocation stands.
    fn draw(&self, next: &Next, state: u64) {
        let (halvings, rate) = rate::to_draw_with(self.target);
        if next.halvings.load(Relaxed) != halvings.0 {
            next.begin_rate(halvings, rate);
        }
        let at = self.field(state, self.target.runtime.layout.state.young_ptr);
        let [start, end] = self.minor_heap(state);
        next.drawn_in[0].store(start, Relaxed);
        next.drawn_in[1].store(end, Relaxed);
        // The next word to be allocated stands right below.
        let below = (next.distance(rate) - 1).saturating_mul(8);
        let trigger = at.checked_sub(below).filter(|&trigger| trigger > start);
        next.trigger.store(trigger.unwrap_or(0), Relaxed);
    }

    /// Draws anew, and sees to it that the domain comes by.
    pub(super) fn renew(&self, state: u64) {
        self.draw(self.next(state), state);
        // SAFETY: the runtime's function, for a domain whose lock this thread holds.
        unsafe { (self.functions.reset_limit)(state) };
        self.raise_limit(state);
    }

    /// Raises the domain's limit to the next sample, unless it is interrupted. Where nothing was allocated in the minor heap
    /// yet, the distance is drawn anew: a domain may have begun, in the place of another one that left a distance behind.
    pub(super) fn raise_limit(&self, state: u64) {
        let next = self.next(state);
        if self.field(state, self.target.runtime.layout.state.young_ptr)
            == self.minor_heap(state)[1]
        {
            self.draw(next, state);
        }
        let trigger = self.trigger(next, state);
        let limit = (state + self.target.runtime.layout.state.young_limit) as *mut u64;
        // SAFETY: the runtime's own variable, which other domains change likewise.
        let limit = unsafe { AtomicU64::from_ptr(limit) };
        let now = limit.load(Relaxed);
        if now != u64::MAX && now < trigger {
            // Who has changed it meanwhile wants the domain's attention: then it is set again.
            let _ = limit.compare_exchange(now, trigger, AcqRel, Relaxed);
        }
    }

    /// Whether the block that was allocated last is sampled.
    pub(super) fn is_reached(&self, state: u64) -> bool {
        self.field(state, self.target.runtime.layout.state.young_ptr)
            < self.trigger(self.next(state), state)
    }

    /// Blocks were allocated at once in the minor heap; `encoded` are their sizes less one, if OCaml code
    /// allocated, otherwise it is one block.
    pub(super) fn allocated_small(&self, state: u64, words: u64, encoded: Option<&[u8]>) {
        let next = self.next(state);
        let at = self.field(state, self.target.runtime.layout.state.young_ptr);
        let rate = self.rate(next);
        let mut below = (self.trigger(next, state).saturating_sub(at) / 8) as i64;
        let mut offset = words as i64 + 1;
        let count = encoded.map_or(1, <[u8]>::len);
        // The last stands highest.
        for index in (0..count).rev() {
            let size = encoded.map_or(words, |encoded| u64::from(encoded[index]) + 1);
            offset -= size as i64 + 1;
            let mut samples = 0;
            while offset < below {
                samples += 1;
                below = below.saturating_sub_unsigned(next.distance(rate));
            }
            if samples > 0 && offset >= 0 {
                let block = at + 8 * offset as u64 + 8;
                let index = encoded.map(|_| index as isize);
                self.sampled(state, block, size, samples, Source::Minor, index);
            }
        }
        self.renew(state);
    }

    /// How many samples fall into so many words that were allocated in the major heap.
    pub(super) fn drawn_large(&self, state: u64, words: u64) -> u64 {
        let next = self.next(state);
        next.samples(&next.large, words, self.rate(next))
    }

    /// The same of memory outside the heap.
    pub(super) fn drawn_external(&self, state: u64, words: u64) -> u64 {
        let next = self.next(state);
        next.samples(&next.external, words, self.rate(next))
    }

    /// Records a sampled block, and tracks it. `index` tells which of several it is, if OCaml code
    /// allocated.
    pub(super) fn sampled(
        &self,
        state: u64,
        block: u64,
        words: u64,
        samples: u64,
        source: Source,
        index: Option<isize>,
    ) {
        if !is_on() || active().is_none() {
            installed::missed();
            return;
        }
        let next = self.next(state);
        let halvings = Halvings(next.halvings.load(Relaxed));
        let event = AllocEvent { length: Words(words), samples, source };
        let key = rate::metered(|| write_sampled(&event, halvings, index));
        if let Some(key) = key {
            let [start, end] = self.minor_heap(state);
            let domain = (start..end).contains(&block).then(|| domain_of(self.target, state));
            tracked::add(domain, tracked::Entry { block, samples, key });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distance that was drawn at a higher rate counted by the lower: of blocks that a program allocates right
    /// after the rate changes, too many were estimated.
    #[test]
    fn blocks_right_after_the_rate_changes_are_not_counted_too_often() {
        const BASE: f64 = 1e-2;
        const ROUNDS: u64 = 100_000;
        let next = &NEXT[DOMAINS - 1];
        let (mut first, mut others) = (0, 0);
        for round in 0..ROUNDS {
            // Half a mean distance at one rate, then at the other.
            let halvings = Halvings(if round % 2 == 0 { 0 } else { 3 });
            let rate = halvings.of(BASE);
            next.begin_rate(halvings, rate);
            first += next.samples(&next.large, 20, rate) * halvings.weight();
            others += next.samples(&next.large, 100, rate) * halvings.weight();
        }
        for (what, found, words) in [("first", first, 20), ("other", others, 100)] {
            let expected = (ROUNDS * words) as f64 * BASE;
            // Each sample stands for its weight: variances of both halves of the rounds.
            let stderr = (expected / 2.0 * (1.0 + 8.0)).sqrt();
            let off = (found as f64 - expected) / stderr;
            assert!(
                off.abs() < 5.0,
                "{what}: {found} samples, {expected} expected, {off} standard errors"
            );
        }
    }
}
