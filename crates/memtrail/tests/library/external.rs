//! `Memtrail.External`.

use memtrail_test_support::contents::{Block, Contents};
use memtrail_test_support::on_each;
use memtrail_trace::Source;

use crate::same;

/// What `report` reported. The tokens that it got are on the heap.
fn reports(contents: &Contents) -> Vec<&Block> {
    let external = |block: &&Block| block.source == Source::External;
    contents.inside("Library_external.report").filter(external).collect()
}

on_each!(reported_memory_is_in_the_trace_as_external, |compiler| {
    let (_, contents) = same(compiler, "library_external", &["--rate", "1e-3"]);
    let all = reports(&contents);
    assert!(all.iter().all(|block| block.words == 8_192));
    // A piece is all but certain to be sampled, some eight times.
    assert!((990..=1_000).contains(&all.len()), "{} blocks", all.len());
    let samples: u64 = all.iter().map(|block| block.samples).sum();
    assert!(samples.abs_diff(8_192) <= 5 * 91, "{samples} samples");
    // Whose report it was is the innermost frame: the library has none there.
    assert!(all.iter().all(|block| block.stack[0] == "Library_external.report"));
    let freed = all.iter().filter(|block| block.collected.is_some()).count();
    assert!(freed.abs_diff(500) <= 10, "{freed} of {} were freed", all.len());
    assert!(all.iter().all(|block| block.promoted.is_none()));
});

on_each!(every_word_of_it_at_the_highest_rate, |compiler| {
    let (_, contents) = same(compiler, "library_external", &["--rate", "1"]);
    let all = reports(&contents);
    assert_eq!(all.len(), 1_000);
    assert!(all.iter().all(|block| block.samples == 8_192));
    assert_eq!(all.iter().filter(|block| block.collected.is_some()).count(), 500);
});
