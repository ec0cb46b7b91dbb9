//! What OCaml 5.3's sampler gets wrong when there are several domains, and we put right.

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Contents, read};
use memtrail_test_support::programs::{Program, build, build_checked, build_shared};
use memtrail_test_support::running::Case;

fn recorded(program: &Program) -> Contents {
    let contents = read(&Case::new(program, &[]).options(&["--rate", "1e-2"]).same().recording);
    // Three domains, 40 rounds, 32 lists of 400 cells each; a cell is 3 words, and so is its pair.
    contents.expect_words("Handed_over.keep", 3.0 * 40.0 * 32.0 * 400.0 * 6.0);
    contents
}

/// Without the remedy some fifth of the kept blocks is reported as dead (ocaml/ocaml#14057).
fn kept_blocks_live(program: &Program) {
    let contents = recorded(program);
    assert_eq!(contents.description.notes, [""; 0], "the runtime was mended");

    let kept: Vec<_> = contents.inside("Handed_over.keep").collect();
    let dead = kept.iter().filter(|block| block.collected.is_some()).count();
    assert_eq!(dead, 0, "of {} blocks that all live", kept.len());
    let stayed_young = kept.iter().filter(|block| block.promoted.is_none()).count();
    assert_eq!(stayed_young, 0, "of {} blocks that survived a collection", kept.len());

    // The others still die.
    let brief: Vec<_> = contents.inside("Handed_over.drop").collect();
    let dead = brief.iter().filter(|block| block.collected.is_some()).count();
    assert!(brief.len() > 1000 && dead as f64 > 0.98 * brief.len() as f64, "{dead} deaths");
}

#[test]
fn blocks_promoted_by_other_domains_live_on() {
    kept_blocks_live(&build(&named("ocaml-5.3.0"), "handed_over"));
}

#[test]
fn the_runtimes_own_assertions_hold() {
    kept_blocks_live(&build_checked(&named("ocaml-5.3.0"), "handed_over"));
}

/// In a shared library the runtime's calls look otherwise, and are left alone.
#[test]
fn what_is_not_mended_is_noted() {
    let contents = recorded(&build_shared(&named("ocaml-5.3.0"), "handed_over"));
    let notes = contents.description.notes;
    assert!(notes.iter().any(|note| note.contains("#14057")), "{notes:?}");
}
