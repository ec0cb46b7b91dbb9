//! What memory from `malloc` is in use for, against loops over the blocks as the test made them.

use std::collections::HashMap;

use memtrail_profile::malloc_use::{Allocator, MallocBlocks, MallocUse};
use memtrail_profile::time::Elapsed;
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::Source;
use memtrail_trace::malloc::{DOMAIN, native_code};
use proptest::prelude::*;

const RATE: f64 = 0.25;
/// Bytes that a sample stands for.
const UNIT: u64 = 32;

/// OCaml's functions have odd codes.
fn code(function: u64) -> u64 {
    if function % 2 == 1 { function } else { native_code(function).0 }
}

fn sites(at: u64) -> Vec<Named> {
    match (1..=6).find(|&function| code(function) == at) {
        Some(1) => vec![("M.f", "src/m.ml", 1)],
        Some(2) => vec![("stub", "/build/stubs.c", 7)],
        Some(3) => vec![("Stdlib__List.g", "list.ml", 3)],
        Some(4) => vec![("caml_alloc_stack", "", 0)],
        Some(6) => vec![("caml_ba_map_file", "libx.so", 0)],
        _ => vec![],
    }
}

/// Who allocated, and where.
fn place(stack: &[u64]) -> (Allocator, &'static str) {
    match stack.iter().rev().find(|&&function| function != 5) {
        Some(1) => (Allocator::Ocaml, "M.f (m.ml:1)"),
        Some(2) => (Allocator::Native, "stub (stubs.c:7)"),
        Some(3) if stack.contains(&1) => (Allocator::Ocaml, "M.f (m.ml:1)"),
        Some(3) => (Allocator::Ocaml, "Stdlib.List.g (list.ml:3)"),
        Some(4) => (Allocator::Runtime, "caml_alloc_stack"),
        Some(_) => (Allocator::Ocaml, "caml_ba_map_file (libx.so)"),
        None if stack.is_empty() => (Allocator::Native, "(no debug information)"),
        // Without a name, but known to be OCaml's.
        None => (Allocator::Ocaml, "(no debug information)"),
    }
}

fn spec() -> impl Strategy<Value = Spec> {
    (
        0..30_u64,
        prop::option::of(0..20_u64),
        1..9_u64,
        prop::bool::ANY,
        prop::collection::vec(1..7_u64, 0..4),
    )
        .prop_map(|(allocated, collected, samples, is_malloc, stack)| Spec {
            collected: collected.map(|after| allocated + after),
            samples,
            length: 1000,
            source: if is_malloc { Source::External } else { Source::Major },
            domain: if is_malloc { DOMAIN.0 } else { 0 },
            ..Spec::at(allocated, &stack)
        })
}

proptest! {
    #[test]
    fn parts_are_those_of_the_live_blocks_and_add_up(
        blocks in prop::collection::vec(spec(), 0..40),
        at in 0..60_u64,
        in_use in prop::sample::select(vec![0_u64, 100, 3_000, 1_000_000]),
        named in 0..4_usize,
    ) {
        let written: Vec<Spec> = blocks.iter().map(|block| Spec {
            stack: block.stack.iter().map(|&function| code(function)).collect(),
            ..block.clone()
        }).collect();
        let profile = profile(RATE, &written, sites);
        let found = MallocUse::new(&profile, MallocBlocks::BesideHeap, Elapsed(at), in_use, named);
        let mut expected: HashMap<Allocator, HashMap<&str, u64>> = HashMap::new();
        let mut asked = 0;
        for block in &blocks {
            let is_live = block.allocated <= at && block.collected.is_none_or(|end| end > at);
            if is_live && block.source == Source::External {
                let (allocator, site) = place(&block.stack);
                *expected.entry(allocator).or_default().entry(site).or_default() += block.samples * UNIT;
                asked += block.samples * UNIT;
            }
        }
        prop_assert_eq!(found.is_some(), asked > 0);
        let Some(found) = found else { return Ok(()) };
        prop_assert_eq!(found.asked as u64, asked);
        let sum: u64 = found.allocators.iter().map(|part| part.bytes).sum();
        prop_assert_eq!(sum + found.rest, in_use);
        prop_assert_eq!(found.allocators.len(), expected.len());
        let fitted = |bytes: u64| bytes * in_use.min(asked) / asked;
        for part in &found.allocators {
            let sites = &expected[&part.allocator];
            let all: u64 = sites.values().sum();
            prop_assert!(part.bytes.abs_diff(fitted(all)) <= 1);
            prop_assert_eq!(part.sites.len(), named.min(sites.len()));
            prop_assert_eq!(part.sites.len() + part.other_sites, sites.len());
            let smallest = part.sites.last().map_or(u64::MAX, |site| site.asked as u64);
            for site in &part.sites {
                prop_assert_eq!(site.asked as u64, sites[&*site.site]);
                prop_assert!(site.bytes.abs_diff(fitted(site.asked as u64)) <= 1);
            }
            let larger = sites.values().filter(|&&bytes| bytes > smallest).count();
            prop_assert!(larger <= part.sites.len());
        }
        // Of a native program all blocks but what it maps itself are from malloc, and all code is native.
        let all = MallocUse::new(&profile, MallocBlocks::All, Elapsed(at), in_use, named);
        let live = blocks.iter().filter(|b| b.allocated <= at && b.collected.is_none_or(|end| end > at));
        let live = live.filter(|block| block.source != Source::External);
        let live: u64 = live.map(|block| block.samples * UNIT).sum();
        prop_assert_eq!(all.map_or(0, |all| all.asked as u64), live);
    }
}

/// jemalloc's blocks were made to fit the little that glibc had in use.
#[test]
fn blocks_of_another_allocator_are_not_in_what_malloc_counts() {
    let asked = |bytes: f64| MallocUse { asked: bytes, ..MallocUse::default() };
    let (mib, small) = (1_u64 << 20, 2_u64 << 20);
    assert!(!asked(30e6).fits(small, 40 * mib));
    // Never written to: nothing has it.
    assert!(asked(300e6).fits(small, 40 * mib));
    assert!(asked(7e6).fits(small, 40 * mib));
}
