//! Programs that set the size of their minor heap while they run: it is then at another address.

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::read;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// Words of a block that has more than five samples less than once in 10^15 blocks.
const SMALL: u64 = 10;

/// Of OCaml 5.0 to 5.2 the next sample was at an address of the minor heap before: one block stood for 27 GiB, or the program
/// died, as each of its samples came at once.
fn check(compiler: &str) {
    let program = build(&named(compiler), "moving_minor_heap");
    // How many words it allocates depends on when its blocks are promoted, by a few.
    let run = Case::new(&program, &[]).options(&["--rate", "1e-3"]).recorded();
    assert!(run.seen.status.success(), "{:?}", run.seen);
    let contents = read(&run.recording);
    let samples: u64 = contents.blocks.iter().map(|block| block.samples).sum();
    // Without the buffers of the standard channels, which have eight samples each, and once 20.
    let small = contents.blocks.iter().filter(|block| block.words < SMALL);
    let most = small.map(|block| block.samples).max();
    assert!(most < Some(6), "{most:?} samples of a small block");
    let stdout = run.seen.stdout();
    let truth: f64 = stdout.lines().nth(1).expect("words").parse().expect("a number");
    let (estimate, error) = (samples as f64 / 1e-3, (truth / 1e-3).sqrt());
    assert!((estimate - truth).abs() < 5.0 * error, "{estimate} words, where there are {truth}");
}

on_each!(estimates_are_right_where_the_minor_heap_moves, check);
