//! Each block is put down to the thread that allocated it, also where the runtime tells of it later.

use std::collections::{BTreeMap, BTreeSet};

use memtrail_recording::threads::Threads;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Block, Contents, read};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// The threads that allocated the blocks for which `is` holds, and how many blocks each has.
fn authors(
    contents: &Contents,
    threads: &Threads,
    is: impl Fn(&Block) -> bool,
) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for block in contents.blocks.iter().filter(|block| is(block)) {
        let author = threads.of(block.domain, block.id).expect("each block has a thread");
        *found.entry(author).or_default() += 1;
    }
    found
}

on_each!(authors, |compiler| {
    let program = build(&named(compiler), "authors");
    let run = Case::new(&program, &[]).options(&["--rate", "1e-2"]).same();
    let bytes = std::fs::read(run.recording.join("threads")).expect("there were several threads");
    let (threads, error) = Threads::parse(&bytes);
    assert_eq!(error, None);
    let contents = read(&run.recording);
    let mut seen = BTreeSet::new();
    for function in ["Authors.first", "Authors.second", "Authors.third"] {
        let mine = authors(&contents, &threads, |b| b.stack.iter().any(|f| f == function));
        let blocks: usize = mine.values().sum();
        assert!(mine.len() == 1 && blocks > 1_000, "{function}: {mine:?}");
        let large = |b: &Block| b.words == 300 && b.stack.iter().any(|f| f == function);
        assert!(authors(&contents, &threads, large).values().sum::<usize>() > 1_000);
        seen.extend(mine.into_keys());
    }
    assert_eq!(seen.len(), 3, "three threads");
    let named = seen.iter().filter(|n| threads.threads[*n].name == "authors").count();
    assert_eq!(named, 3, "{:?}", threads.threads);
});

#[test]
fn programs_with_one_thread_have_no_list_of_threads() {
    let run = Case::new(&build(&named("system"), "steady"), &["2"]).same();
    assert!(!run.recording.join("threads").exists());
}

#[test]
fn domains_have_threads_of_their_own() {
    let program = build(&named("ocaml-5.3.0"), "domains");
    let run = Case::new(&program, &[]).options(&["--rate", "1e-2"]).same();
    let bytes = std::fs::read(run.recording.join("threads")).expect("there were several threads");
    let (threads, error) = Threads::parse(&bytes);
    assert_eq!(error, None);
    let contents = read(&run.recording);
    let domains: BTreeSet<u16> = contents.blocks.iter().map(|block| block.domain).collect();
    assert!(domains.len() > 1);
    let of = |domain| authors(&contents, &threads, |block| block.domain == domain);
    let main = of(0);
    for &domain in domains.iter().filter(|&&domain| domain != 0) {
        assert!(of(domain).keys().all(|thread| !main.contains_key(thread)), "domain {domain}");
    }
}
