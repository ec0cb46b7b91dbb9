//! Memory of the process that was not recorded, and grows: parts of its resident memory, judged as owners are.
//!
//! Of an OCaml program whose calls of `malloc` are not recorded, that is memory from `malloc`, beyond the off-heap memory of
//! blocks, which snapshots count; and mappings of its own.

use memtrail_heap::Bytes;
use memtrail_text::rounded::{bytes, percent};
use memtrail_trace::Source;
use serde::Serialize;

use super::clock::Clock;
use super::verdict::{BySizes, by_sizes};
use crate::process::{MemoryPart, ResidentMemory};
use crate::recording::Recording;

/// Smallest growth that is worth a word, as a part of resident memory …
const SHARE: f64 = 0.2;
/// … and the smallest number of bytes.
const LEAST: u64 = 8 << 20;
/// Smallest part of resident memory that is worth a word if its growth is unknown.
const MIN_UNKNOWN: f64 = 0.5;
/// Steps of the work at which sizes are compared: as many as there are snapshots at most.
const STEPS: usize = 24;

/// Memory that grows and that the recording tells nothing of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unrecorded {
    /// What it is, in words.
    pub part: String,
    /// How much there is at the end.
    pub bytes: Bytes,
    /// Of resident memory at the end.
    pub share: f64,
    /// False if it was measured too seldom to judge if it grows.
    pub grows: bool,
    /// The option of `memtrail run` that records it.
    pub option: &'static str,
    /// All of that, in a sentence.
    pub description: String,
}

/// The largest part, one that grows first, of those that were not recorded; `external` is the off-heap memory of blocks, garbage as well.
pub(super) fn unrecorded(
    recording: &Recording,
    clock: &Clock,
    external: Bytes,
) -> Option<Unrecorded> {
    let known = &recording.description;
    if known.is_native || known.has_malloc {
        return None;
    }
    let memory = known.process.memory.as_ref()?;
    let of = |kind: &str, name, option, external| {
        let part = memory.parts.iter().find(|part| part.kind == kind)?;
        judge((memory, known.is_attached), part, (name, option), external, clock)
    };
    let malloc = of("malloc-used", "memory from malloc", "--native=also", external);
    let mapped = of("other", "memory that the program mapped", "--native=also --mmap", Bytes(0));
    [malloc, mapped].into_iter().flatten().max_by_key(|found| (found.grows, found.bytes))
}

/// Mappings of a native program that grow or are most of its memory, unless the recording has mappings. `alive` are the bytes that were sampled and not
/// freed: an allocator other than the system's has its memory there.
pub(super) fn of_native(recording: &Recording, clock: &Clock, alive: f64) -> Option<Unrecorded> {
    let (known, blocks) = (&recording.description, &recording.profile().blocks);
    if !known.is_native || blocks.rows().any(|row| blocks.source(row) == Source::External) {
        return None;
    }
    let memory = known.process.memory.as_ref()?;
    let part = |kind: &str| memory.parts.iter().find(|part| part.kind == kind);
    let malloc = part("malloc-used").and_then(|part| part.bytes.last()).copied().unwrap_or(0);
    let elsewhere = Bytes((alive as u64).saturating_sub(malloc));
    let judged = |kind: &str, named, elsewhere| {
        judge((memory, known.is_attached), part(kind)?, named, elsewhere, clock)
    };
    let named = ("memory that the program mapped", "--native --mmap");
    let mapped = judged("other", named, elsewhere);
    let stacks = judged("stacks", (STACKS, ""), Bytes(0)).filter(|stacks| stacks.grows);
    [mapped, stacks].into_iter().flatten().max_by_key(|found| (found.grows, found.bytes))
}

/// Memory that no option records: the number of threads tells what it is.
const STACKS: &str = "memory for stacks of threads";

fn judge(
    (memory, is_attached): (&ResidentMemory, bool),
    part: &MemoryPart,
    (name, option): (&str, &'static str),
    external: Bytes,
    clock: &Clock,
) -> Option<Unrecorded> {
    let (last, rss) = (*memory.seconds.last()?, *memory.rss.last()?);
    let work = |at: f64| if clock.stands() { at / last } else { clock.at(at) / clock.at(last) };
    let all: Vec<(f64, u64)> =
        memory.seconds.iter().map(|at| work(*at)).zip(part.bytes.iter().copied()).collect();
    let (work, sizes) = at_even_steps(&all);
    let (verdict, shape) = by_sizes(&work, &sizes, rss as f64, is_attached);
    let left = |size: u64| size.saturating_sub(external.0);
    let size = left(*part.bytes.last()?);
    let is_large = |size: u64, share: f64| size >= LEAST.max((share * rss as f64) as u64);
    let grown = shape.filter(|_| verdict == BySizes::Grows).map(|shape| left(shape.grown as u64));
    let growth = grown.filter(|grown| is_large(*grown, SHARE));
    let is_unknown =
        matches!(verdict, BySizes::Unknown | BySizes::Maybe) && is_large(size, MIN_UNKNOWN);
    if growth.is_none() && !is_unknown {
        return None;
    }
    let share = Bytes(size).share_of(Bytes(rss));
    let part = format!(
        "{} of {} of resident memory ({})",
        bytes(size as f64),
        bytes(rss as f64),
        percent(share)
    );
    let description = match growth {
        Some(grown) if name == STACKS => format!(
            "{name} grows: {part}, by {}; threads that have ended keep theirs until they are joined or detached",
            bytes(grown as f64)
        ),
        Some(grown) => format!(
            "{name} grows, and was not recorded: {part}, by {}; memtrail run {option} records it",
            bytes(grown as f64)
        ),
        None => format!(
            "{name} was not recorded, and it was measured too seldom to judge if it grows: {part}; memtrail run \
             {option} records it"
        ),
    };
    Some(Unrecorded {
        part: name.to_owned(),
        bytes: Bytes(size),
        share,
        grows: growth.is_some(),
        option,
        description,
    })
}

/// The last size in each of so many steps of the work.
fn at_even_steps(all: &[(f64, u64)]) -> (Vec<f64>, Vec<f64>) {
    let step = |at: f64| ((at * STEPS as f64).ceil() as usize).clamp(1, STEPS);
    let is_last =
        |place: usize| all.get(place + 1).is_none_or(|(next, _)| step(*next) != step(all[place].0));
    let selected = all.iter().enumerate().filter(|(place, _)| is_last(*place));
    selected.map(|(_, (at, size))| (*at, *size as f64)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(size: impl Fn(u64) -> u64) -> ResidentMemory {
        let moments: Vec<u64> = (1..=60).collect();
        let sizes: Vec<u64> = moments.iter().map(|at| size(*at)).collect();
        ResidentMemory {
            seconds: moments.iter().map(|at| *at as f64).collect(),
            rss: sizes.iter().map(|size| size + (20 << 20)).collect(),
            parts: vec![MemoryPart {
                name: "malloc, in use".into(),
                kind: "malloc-used".into(),
                bytes: sizes,
            }],
            ..ResidentMemory::default()
        }
    }

    fn found(memory: &ResidentMemory, external: u64) -> Option<Unrecorded> {
        let named = ("memory from malloc", "--native=also");
        judge((memory, false), &memory.parts[0], named, Bytes(external), &Clock::default())
    }

    #[test]
    fn memory_from_malloc_that_grows_is_named_with_what_records_it() {
        let found = found(&series(|at| at << 20), 0).unwrap();
        assert_eq!((found.bytes, found.grows), (Bytes(60 << 20), true));
        assert!((found.share - 0.75).abs() < 0.01, "{found:?}");
        assert!(found.description.contains("memtrail run --native=also"), "{found:?}");
    }

    #[test]
    fn what_was_measured_seldom_is_not_said_to_grow_or_not() {
        let mut memory = series(|at| at << 20);
        for column in [&mut memory.rss, &mut memory.parts[0].bytes] {
            column.drain(1..59);
        }
        memory.seconds.drain(1..59);
        let found = found(&memory, 0).unwrap();
        assert!(!found.grows && found.description.contains("too seldom"), "{found:?}");
    }

    #[test]
    fn what_is_filled_once_or_counted_by_snapshots_is_not() {
        assert_eq!(found(&series(|_| 60 << 20), 0), None);
        assert_eq!(found(&series(|at| (at << 20).min(12 << 20)), 0), None);
        assert_eq!(found(&series(|at| at << 20), 58 << 20), None);
    }
}
