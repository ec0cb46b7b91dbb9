//! The rate at which the runtime samples: the base rate, halved as often as CPU time requires.
//!
//! The runtime draws the distance to the next sample in advance. So a new rate takes effect in three
//! places at once: what later distances are drawn with, distances that were drawn already, which are
//! thrown away, and the distance under way, which is drawn anew. The last is right because a geometric
//! distribution has no memory: what was passed over does not change what is to come. In the minor heap
//! the runtime draws anew after each callback, in blocks from C we do.
//!
//! A block that was sampled at base/2^k counts as 2^k times as many samples. Its k is noted when the
//! callstack is captured, which the runtime does as it samples: the callback may come much later.
//! Estimates stay unbiased because the rate depends on the past only.
//!
//! Where OCaml 4's variables are not found, its rate stays, and samples are declined ([`thinning`]).

mod control;
pub(crate) mod statics;
mod thinning;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use memtrail_recording::session::Pace;

use crate::context::halvings::Halvings;
use crate::context::target::Target;
use crate::os::clock;
use crate::os::replaceable::Replaceable;
use crate::random::splitmix::{self, SplitMix};
use crate::recording::notes::note;
use crate::sampling::drawn::Drawn;
use crate::sampling::static_profile::Profiles;
use statics::Statics;

/// Where the runtime keeps what the rate is made of.
pub(crate) enum RateControl {
    /// OCaml 4: variables of its own.
    Single(Statics),
    /// OCaml 4, where these were not found: samples are declined.
    Thinned,
    /// OCaml 5: a profile for each rate, of ours.
    Multicore(Profiles),
    /// OCaml 5.0 to 5.2: distances are drawn by us.
    Substitute,
}

struct Changing {
    base: f64,
    varying: bool,
    control: RateControl,
    /// Random numbers: of distances under way.
    numbers: AtomicU64,
}

/// The rate of this process.
struct Rate {
    /// There if it changes.
    changing: Replaceable<Changing>,
    /// Whether it changes, so that time is measured.
    metered: AtomicBool,
    /// Whether samples are declined.
    thinned: AtomicBool,
    /// What it is to be, in halvings; domains take it over when they can.
    wanted: AtomicU8,
    /// What it is, in OCaml 4.
    current: AtomicU8,
}

static RATE: Rate = Rate {
    changing: Replaceable::new(),
    metered: AtomicBool::new(false),
    thinned: AtomicBool::new(false),
    wanted: AtomicU8::new(0),
    current: AtomicU8::new(0),
};

/// Keeps the numbers apart from those that the runtime gets.
const STREAM: u64 = 0x7261_7465_2061_6e65;
const NOTE: &str = "the sampling rate could not be adapted to the program, and stayed as it was: the \
     runtime's sampler is not as expected";

/// Lets the rate change from now on, if it may. Called once sampling has begun.
pub(crate) fn begin(target: &Target, control: Option<RateControl>) {
    let pace = target.options.pace;
    if pace == Pace::Constant {
        return;
    }
    let Some(control) = control.filter(|_| target.incremental.load(Relaxed)) else {
        note(NOTE.into());
        return;
    };
    let thinned = matches!(control, RateControl::Thinned);
    let changing = Changing {
        base: target.options.rate,
        varying: pace == Pace::Varying,
        control,
        numbers: AtomicU64::new(target.seed ^ STREAM),
    };
    if RATE.changing.set(changing) {
        control::begin();
        RATE.metered.store(true, Relaxed);
        RATE.thinned.store(thinned, Relaxed);
    }
}

/// Forgets the rate: nothing is sampled any more, and another recording may have another one.
pub(crate) fn forget() {
    RATE.metered.store(false, Relaxed);
    RATE.thinned.store(false, Relaxed);
    RATE.wanted.store(0, Relaxed);
    RATE.current.store(0, Relaxed);
    RATE.changing.clear();
}

/// How the block that is being sampled came to be. `index` tells which of several allocated at once.
#[inline]
pub(crate) fn drawn(target: &Target, index: isize) -> Drawn {
    if !RATE.metered.load(Relaxed) {
        return Drawn::default();
    }
    // OCaml 4 goes on with the distances it drew, down to the block at index 0; OCaml 5 runs the
    // callbacks after all of them.
    Drawn { halvings: current(target, target.runtime.state()), last: index <= 0 }
}

/// The rate at which the domain with this state samples.
pub(crate) fn current(target: &Target, state: u64) -> Halvings {
    match RATE.changing.get().map(|changing| &changing.control) {
        Some(RateControl::Multicore(profiles)) => profiles.current(target, state),
        Some(RateControl::Single(_)) => Halvings(RATE.current.load(Relaxed)),
        Some(RateControl::Thinned | RateControl::Substitute) => Halvings(RATE.wanted.load(Relaxed)),
        None => Halvings::default(),
    }
}

/// The rate with which the next distance is drawn, where we draw it.
pub(crate) fn to_draw_with(target: &Target) -> (Halvings, f64) {
    let Some(changing) = RATE.changing.get() else {
        return (Halvings::default(), target.options.rate);
    };
    if changing.varying {
        changing.vary();
    }
    let wanted = Halvings(RATE.wanted.load(Relaxed));
    (wanted, wanted.of(changing.base))
}

/// Takes the wanted rate over for the domain with this state. Only in a callback after which the
/// runtime draws the distance in the minor heap anew.
///
/// # Safety
/// `state` is that of this thread's domain, on whose behalf the runtime has called back.
#[inline]
pub(crate) unsafe fn adjust(target: &Target, state: u64) {
    if RATE.metered.load(Relaxed) && !RATE.thinned.load(Relaxed) {
        // SAFETY: as the caller promises.
        unsafe { take_over(target, state) };
    }
}

/// # Safety
/// As [`adjust`].
unsafe fn take_over(target: &Target, state: u64) {
    let Some(changing) = RATE.changing.get() else { return };
    if changing.varying {
        changing.vary();
    }
    let wanted = Halvings(RATE.wanted.load(Relaxed));
    if current(target, state) == wanted {
        return;
    }
    let rate = wanted.of(changing.base);
    let ahead = changing.distance(rate) - 1;
    match &changing.control {
        // SAFETY: as the caller promises.
        RateControl::Multicore(profiles) => unsafe {
            profiles.choose(target, state, wanted, ahead);
        },
        RateControl::Single(statics) => {
            RATE.current.store(wanted.0, Relaxed);
            // SAFETY: as the caller promises.
            unsafe { statics.set(rate, ahead) };
        }
        RateControl::Thinned | RateControl::Substitute => {}
    }
}

/// Whether samples are declined in OCaml 4's callbacks: then captures cost the same at every rate.
#[inline]
pub(crate) fn is_thinned() -> bool {
    RATE.thinned.load(Relaxed)
}

/// A block is being sampled: whether its callstack is to be captured in its callback, if at all.
#[inline]
pub(crate) fn defers(index: isize) -> bool {
    is_thinned() && thinning::defer(index)
}

/// In the callback of a block, once: which it is of several allocated at once, if its callstack is to
/// be captured now.
#[inline]
pub(crate) fn take_deferred() -> Option<isize> {
    if is_thinned() { thinning::take_deferred() } else { None }
}

/// What is kept of a block's samples.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) samples: u64,
    /// The rate that they amount to, unless it is the one that they were drawn with.
    pub(crate) halvings: Option<Halvings>,
}

/// Declines samples, if that is how the rate is lowered.
#[inline]
pub(crate) fn keep(samples: u64) -> Kept {
    if is_thinned() { thin(samples) } else { Kept { samples, halvings: None } }
}

fn thin(samples: u64) -> Kept {
    let Some(changing) = RATE.changing.get() else { return Kept { samples, halvings: None } };
    let halvings = Halvings(RATE.wanted.load(Relaxed));
    let samples = thinning::keep(samples, halvings, || changing.number());
    if changing.varying && samples > 0 {
        // For the next block.
        changing.vary();
    }
    Kept { samples, halvings: Some(halvings) }
}

impl Changing {
    fn number(&self) -> u64 {
        SplitMix(self.numbers.fetch_add(SplitMix::STEP, Relaxed)).next()
    }

    /// Words up to and with the next that is sampled.
    fn distance(&self, rate: f64) -> u64 {
        splitmix::distance(self.number(), rate)
    }

    /// Another rate every few samples.
    fn vary(&self) {
        let number = self.number();
        if number.is_multiple_of(8) {
            RATE.wanted.store((number >> 32) as u8 % 5, Relaxed);
        }
    }
}

/// Runs `work`, and counts the time it takes to what samples cost.
#[inline]
pub(crate) fn metered<T>(work: impl FnOnce() -> T) -> T {
    if !RATE.metered.load(Relaxed) {
        return work();
    }
    let before = clock::monotonic();
    let result = work();
    let after = clock::monotonic();
    if let Some(wanted) = control::spent(before, after, Halvings(RATE.wanted.load(Relaxed)))
        && RATE.changing.get().is_some_and(|changing| !changing.varying)
    {
        RATE.wanted.store(wanted.0, Relaxed);
    }
    result
}
