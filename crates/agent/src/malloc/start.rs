//! Decides whether calls of `malloc` are recorded, and at which rate, and starts that.

use std::sync::OnceLock;

use memtrail_recording::session::{Options, Pace};
use memtrail_sampler::{MAX_FRAMES, Rate, start_in_words, walk_only_by_rules};
use memtrail_trace::Code;

use crate::context::halvings::Halvings;
use crate::context::target::Target;
use crate::malloc::state;
use crate::malloc::tracked;
use crate::malloc::tracker::BlockWriter;
use crate::recording::hooks::{Symbolise, UseLocations};
use crate::recording::installed::installed;
use crate::recording::recorder::Recorder;
use crate::references;

/// Samples a word where the user has not given a rate, at most: one for 512 KiB.
const DEFAULT_RATE: f64 = 8.0 / (512 << 10) as f64;
const BYPASSED: &str =
    "its calls of malloc are not recorded: it has an allocator of its own in its executable";
const ABSENT: &str =
    "its calls of malloc are not recorded: the agent has no functions before malloc";

/// What the library does whose functions are before the allocator's. Others have none of it.
struct Functions {
    start: fn(&'static Target, Halvings),
    began: fn(&'static Recorder),
    symbolise: Symbolise,
    tracked: tracked::Functions,
    /// The program calls an allocator that is not behind the library's functions.
    is_bypassed: bool,
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// This library has functions before those of the allocator. `is_bypassed`: the program calls an allocator that is not
/// behind them.
pub fn prepare(is_bypassed: bool) {
    FUNCTIONS.get_or_init(|| Functions {
        start: start_sampling,
        began: state::began,
        symbolise: state::with_locations,
        tracked: tracked::FUNCTIONS,
        is_bypassed,
    });
}

/// How much lower than the base rate memory from `malloc` is sampled, if it is; or a note of why it is not.
pub(crate) fn rate(options: &Options) -> Result<Option<Halvings>, &'static str> {
    if !options.malloc {
        return Ok(None);
    }
    match FUNCTIONS.get() {
        None => Err(ABSENT),
        Some(functions) if functions.is_bypassed => Err(BYPASSED),
        Some(_) => Ok(Some(halvings(options))),
    }
}

/// A rate that the user has given is that of all memory.
fn halvings(options: &Options) -> Halvings {
    let mut halvings = Halvings(0);
    if options.pace != Pace::Constant {
        while halvings.of(options.rate) > DEFAULT_RATE
            && halvings.0 < memtrail_recording::rates::MAX_HALVINGS
        {
            halvings.0 += 1;
        }
    }
    halvings
}

/// Starts to sample, if that is wanted.
pub(crate) fn start(target: &'static Target) {
    if let Some((halvings, functions)) = target.malloc.zip(FUNCTIONS.get()) {
        (functions.start)(target, halvings);
    }
}

fn start_sampling(target: &'static Target, halvings: Halvings) {
    let rate = halvings.of(target.options.rate);
    // The trace's rate is per word. At one sample a word all blocks are recorded as they are.
    let per_byte = if rate >= 1.0 { Ok(Rate::EXACT) } else { Rate::per_byte(rate / 8.0) };
    walk_only_by_rules();
    if target.options.snapshots.is_some() {
        references::prepare();
    }
    let depth = MAX_FRAMES.min(target.options.callstack_depth as usize);
    if let Ok(per_byte) = per_byte
        && let Ok(profile) = start_in_words(per_byte, depth, BlockWriter, target.seed)
    {
        // Until the process ends: blocks are freed late.
        profile.keep();
    }
}

/// A recording has begun: the one that is installed.
pub(crate) fn began() {
    if let Some((functions, recorder)) = FUNCTIONS.get().zip(installed())
        && recorder.files.target.malloc.is_some()
    {
        (functions.began)(recorder);
    }
}

/// How the sampled blocks are found in a frozen copy, if calls of `malloc` are recorded.
pub(super) fn tracked(target: &Target) -> Option<&'static tracked::Functions> {
    target.malloc.and_then(|_| FUNCTIONS.get()).map(|functions| &functions.tracked)
}

/// Gives the functions at a call site of a callstack of `malloc` to a function, the caller first.
pub(crate) fn with_locations(target: &Target, code: Code, use_it: UseLocations<'_>) {
    match FUNCTIONS.get() {
        Some(functions) => (functions.symbolise)(target, code, use_it),
        None => use_it(&[]),
    }
}
