//! What memory from `malloc` is in use for at a moment: estimates from samples, made to fit what the allocator counts.
//!
//! The allocator's figure is of resident memory, the samples are of what the program asked for. Memory that was never
//! written to is not resident, so the estimates may be larger: all are then made smaller in proportion. What they do not reach
//! is the rest: what was not recorded, such as the runtime's own tables, and what blocks take beyond their sizes.

use std::cmp::Reverse;

use memtrail_order::SortRows as _;
use memtrail_trace::malloc::{DOMAIN, native_address};
use memtrail_trace::{Site, Source, StackId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::allocating_frame::{allocating, is_passed_over};
use crate::estimate::Sum;
use crate::names;
use crate::profile::Profile;
use crate::select::Selection;
use crate::time::Elapsed;

/// Whose call sites they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Allocator {
    /// Functions of OCaml: for bigarrays and other custom blocks.
    Ocaml,
    /// The OCaml runtime, by functions of its own.
    Runtime,
    /// Functions of other native code.
    Native,
}

impl Allocator {
    /// What people read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ocaml => "data of bigarrays and other custom blocks",
            Self::Runtime => "the OCaml runtime",
            Self::Native => "native code",
        }
    }
}

/// Which blocks of a trace `malloc` gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MallocBlocks {
    /// All but external ones, which it mapped itself: it is a native program's.
    All,
    /// Those of the part that the calls of `malloc` have beside OCaml's heap.
    BesideHeap,
}

/// What memory from `malloc` is in use for. `allocators` and `rest` add up to what the allocator counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MallocUse {
    /// The largest first.
    pub allocators: Vec<AllocatorUse>,
    /// Bytes that samples do not explain.
    pub rest: u64,
    /// Estimated bytes that the program asked for, of all call sites.
    pub asked: f64,
    /// Standard error of `asked`.
    pub asked_stderr: f64,
}

/// What one kind of code has in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AllocatorUse {
    /// Which.
    pub allocator: Allocator,
    /// The same in words.
    pub name: String,
    /// Bytes of what the allocator counts.
    pub bytes: u64,
    /// The largest call sites, the largest first.
    pub sites: Vec<SiteUse>,
    /// How many there are besides.
    pub other_sites: usize,
}

/// What a call site has in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SiteUse {
    /// Function, file and line, as far as they are known.
    pub site: String,
    /// Bytes of what the allocator counts.
    pub bytes: u64,
    /// Estimated bytes that it asked for.
    pub asked: f64,
    /// Standard error of `asked`.
    pub asked_stderr: f64,
}

impl MallocUse {
    /// What `in_use` bytes were used for at a moment; `sites` is the maximum number of call sites of each kind that are
    /// named. `None` if no block from `malloc` was live.
    pub fn new(
        profile: &Profile,
        blocks: MallocBlocks,
        at: Elapsed,
        in_use: u64,
        sites: usize,
    ) -> Option<Self> {
        let places = by_place(profile, blocks, at);
        let mut all = Sum::default();
        for sum in places.values() {
            all.add(sum);
        }
        let asked = profile.estimator.bytes(&all);
        if asked.value <= 0.0 {
            return None;
        }
        // In memory: rounded down, so that there is a rest, or none.
        let fitting = (in_use as f64 / asked.value).min(1.0);
        let fitted = |sum: &Sum| (profile.estimator.bytes(sum).value * fitting) as u64;
        let mut found: Vec<AllocatorUse> = Vec::new();
        for allocator in [Allocator::Ocaml, Allocator::Runtime, Allocator::Native] {
            let mut own: Vec<_> =
                places.iter().filter(|((known, _), _)| *known == allocator).collect();
            own.sort_rows_by_key(|((_, site), sum)| {
                (Reverse(sum.samples), site.map(|site| (site.function.0, site.file.0, site.line)))
            });
            let named = own.iter().take(sites).map(|((_, site), sum)| {
                let asked = profile.estimator.bytes(sum);
                SiteUse {
                    site: site.map_or_else(
                        || "(no debug information)".into(),
                        |site| spell(profile, site),
                    ),
                    bytes: fitted(sum),
                    asked: asked.value,
                    asked_stderr: asked.stderr,
                }
            });
            let named: Vec<SiteUse> = named.collect();
            let mut whole = Sum::default();
            for (_, sum) in &own {
                whole.add(sum);
            }
            if whole.samples > 0 {
                found.push(AllocatorUse {
                    allocator,
                    name: allocator.name().into(),
                    bytes: fitted(&whole),
                    other_sites: own.len() - named.len(),
                    sites: named,
                });
            }
        }
        found.sort_rows_by_key(|part| Reverse(part.bytes));
        let explained = found.iter().fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
        Some(Self {
            allocators: found,
            rest: in_use.saturating_sub(explained),
            asked: asked.value,
            asked_stderr: asked.stderr,
        })
    }

    /// False if the program has an allocator of its own, such as jemalloc. Its blocks are in `other` mappings, and not in the
    /// `in_use` bytes that the system's allocator counts.
    pub fn fits(&self, in_use: u64, other: u64) -> bool {
        self.asked <= ELSEWHERE * in_use as f64 || self.asked / 2.0 > other as f64
    }
}

/// Blocks that are so many times larger than what the system's allocator has in use may be in other mappings.
const ELSEWHERE: f64 = 4.0;

type Place = (Allocator, Option<Site>);

/// The live blocks of each call site.
fn by_place(profile: &Profile, which: MallocBlocks, at: Elapsed) -> FxHashMap<Place, Sum> {
    let blocks = &profile.blocks;
    let mut of_stack: FxHashMap<StackId, Place> = FxHashMap::default();
    let mut places: FxHashMap<Place, Sum> = FxHashMap::default();
    for row in Selection::live_at(at).rows(blocks) {
        let is_from_malloc = match which {
            MallocBlocks::All => blocks.source(row) != Source::External,
            MallocBlocks::BesideHeap => blocks.domain(row) == DOMAIN,
        };
        if !is_from_malloc {
            continue;
        }
        let stack = blocks.stack(row);
        let place = *of_stack.entry(stack).or_insert_with(|| place(profile, which, stack));
        profile.estimator.add_row(places.entry(place).or_default(), blocks, row);
    }
    places
}

fn place(profile: &Profile, which: MallocBlocks, stack: StackId) -> Place {
    let locations = &profile.locations;
    let stack = allocating(locations, &profile.stacks, stack);
    if stack == StackId::ROOT {
        return (Allocator::Native, None);
    }
    let frame = profile.stacks.frame(stack);
    let mut site = locations.at(frame).last().copied();
    let is_native = which == MallocBlocks::All || native_address(locations.code(frame)).is_some();
    if !is_native {
        site = beyond_standard_library(profile, stack).or(site);
    }
    let function = site.map_or(&b""[..], |site| locations.functions().get(site.function));
    let allocator = if !is_native || function.starts_with(b"caml_ba_") {
        Allocator::Ocaml
    } else if which == MallocBlocks::BesideHeap && function.starts_with(b"caml_") {
        Allocator::Runtime
    } else {
        Allocator::Native
    };
    // Without the column, which is not shown.
    (allocator, site.map(Site::line))
}

/// The innermost call site of OCaml's that is not in its standard library, which allocates for others.
fn beyond_standard_library(profile: &Profile, stack: StackId) -> Option<Site> {
    let (locations, stacks) = (&profile.locations, &profile.stacks);
    let is_own = |site: &&Site| {
        let function = locations.functions().get(site.function);
        !function.starts_with(b"Stdlib.") && !function.starts_with(b"Stdlib__")
    };
    let mut at = stack;
    while at != StackId::ROOT {
        let frame = stacks.frame(at);
        if native_address(locations.code(frame)).is_none()
            && !is_passed_over(locations, frame)
            && let Some(site) = locations.at(frame).iter().rev().find(is_own)
        {
            return Some(*site);
        }
        at = stacks.parent(at);
    }
    None
}

/// Function, file and line.
fn spell(profile: &Profile, site: Site) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let function = names::readable(&text(profile.locations.functions().get(site.function)));
    let file = text(profile.locations.files().get(site.file));
    let file = file.rsplit('/').next().unwrap_or_default();
    match (file, site.line) {
        ("", _) => function,
        (file, 0) => format!("{function} ({file})"),
        (file, line) => format!("{function} ({file}:{line})"),
    }
}
