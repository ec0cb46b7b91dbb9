//! `examples/coqc`: what a compiler keeps while it works, frame by frame.

use std::path::Path;

use crate::answer;
use crate::running::Case;

#[test]
fn what_coqc_keeps_while_it_works() {
    let theory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/coqc/accounts.v");
    let theory = std::fs::read_to_string(theory).unwrap();
    // As far as the lemma that the kernel unfolds; coqc ends while it still holds what it unfolded.
    let (until_there, _) = theory.split_once("Lemma pays ").expect("the lemma behind it");
    let case = Case::command("coqc", &["sums.v"]).options(&["--snapshot", "every-major"]);
    std::fs::write(case.folder.path().join("sums.v"), until_there).unwrap();
    let recorded = case.recorded();
    assert!(recorded.seen.status.success(), "{:?}", recorded.seen);

    let frames = answer("stack", &recorded.recording, &[]);
    let frames = frames.as_array().unwrap().iter().filter(|row| row["path"][1].is_string());
    let frames: Vec<(&str, u64)> = frames
        .map(|row| {
            let path = row["path"].as_array().unwrap();
            (path[1].as_str().unwrap(), row["retained"].as_u64().unwrap())
        })
        .collect();
    let place = |name: &str| frames.iter().position(|(frame, _)| frame.starts_with(name));
    // The innermost first, and all of them between.
    let kernel = place("Safe_typing.check_opaque (kernel/safe_typing.ml:").expect("the kernel");
    let main = place("Coqc.coqc_main (toplevel/coqc.ml:").expect("the main function");
    assert!(kernel < main, "{frames:#?}");

    let roots = answer("roots", &recorded.recording, &["--kind", "stack", "--limit", "3"]);
    let all = roots["retained"].as_u64().unwrap();
    let (reducing, most) = frames.iter().max_by_key(|(_, retained)| retained).unwrap();
    assert!(reducing.starts_with("CClosure.") && *most > all / 4, "{reducing}: {most} of {all}");
}
