//! The list of threads, which grows with each sample of another thread than the one before it.

use std::fs;

use memtrail_recording::threads::{THREADS_FILE, Threads};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

use super::watch::bytes_in;

/// It had a line for each turn, and no limit.
#[test]
fn the_list_of_threads_is_within_its_part() {
    const LIMIT: u64 = 4 << 20;
    let program = build(&named("system"), "alternating_threads");
    let options = ["--rate", "0.1", "--seed", "1", "--disk", "4MiB"];
    let recorded = Case::new(&program, &["15000"]).options(&options).same();
    let list = fs::read(recorded.recording.join(THREADS_FILE)).expect("a list");
    assert!((LIMIT / 32..LIMIT / 32 + 200).contains(&(list.len() as u64)), "{}", list.len());
    let (threads, error) = Threads::parse(&list);
    assert_eq!(error, None);
    let blocks = contents::read(&recorded.recording).blocks;
    let of = |id| threads.switches.of(0, id).map(|number| &*threads.threads[number].name);
    let last = blocks.iter().map(|block| block.id).max().expect("blocks");
    assert_eq!(of(last), Some("[not listed: limit of --disk]"), "blocks after it are no thread's");
    assert_ne!(of(0), of(last));
    assert!(bytes_in(&recorded.recording) <= LIMIT);
}
