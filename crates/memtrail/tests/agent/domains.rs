//! What OCaml 5.3's sampler gets wrong when there are several domains, and we put right.

use crate::compilers::named;
use crate::contents::read;
use crate::programs::build;
use crate::running::Case;

/// Without the remedy some third of the kept blocks is reported as dead (ocaml/ocaml#14057).
#[test]
fn blocks_promoted_by_other_domains_live_on() {
    let program = build(&named("ocaml-5.3.0"), "handed_over");
    let contents = read(&Case::new(&program, &[]).options(&["--rate", "1e-2"]).same().recording);
    assert_eq!(contents.description.notes, [""; 0], "the runtime was mended");

    // Three domains, 40 rounds, 32 lists of 400 cells each; a cell is 3 words, and so is its pair.
    let kept_words = 3.0 * 40.0 * 32.0 * 400.0 * 6.0;
    contents.expect_words("Handed_over.keep", kept_words);
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
