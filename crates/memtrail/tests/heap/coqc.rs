//! `examples/coqc`: what a compiler keeps while it works, frame by frame.

use std::path::Path;

use memtrail_test_support::running::{Case, Recorded};

use crate::answer;

/// Frames of the stack, and what each retains.
type Frames = Vec<(String, u64)>;

/// Bytes: a sixth of the heap by then.
const MUCH: u64 = 32 << 20;

#[test]
fn what_coqc_keeps_while_it_works() {
    let theory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/coqc/accounts.v");
    let theory = std::fs::read_to_string(theory).unwrap();
    // As far as the lemma that the kernel unfolds; coqc ends while it still holds what it unfolded.
    let (until_there, _) = theory.split_once("Lemma pays ").expect("the lemma behind it");
    // Where collections end differs from run to run, and on a busy machine the snapshot before may
    // still be written: a run may have no snapshot of the reduction well under way.
    let (recorded, snapshot, frames) = (0..4)
        .find_map(|_| reduction(until_there))
        .expect("a snapshot in which the kernel's reduction retains much");
    let place = |name: &str| frames.iter().position(|(frame, _)| frame.starts_with(name));
    // The innermost first, and all of them between.
    let kernel = place("Safe_typing.check_opaque (kernel/safe_typing.ml:").expect("the kernel");
    let main = place("Coqc.coqc_main (toplevel/coqc.ml:").expect("the main function");
    assert!(kernel < main, "{frames:#?}");

    let roots = answer(
        "roots",
        &recorded.recording,
        &["--snapshot", &snapshot, "--retained", "--kind", "stack", "--limit", "3"],
    );
    let all = roots["retained"].as_u64().unwrap();
    let (reducing, most) = frames.iter().max_by_key(|(_, retained)| retained).unwrap();
    // What it unfolds grows while it reduces, from nothing to over a third of the heap.
    assert!(reducing.starts_with("CClosure.") && *most > all / 8, "{reducing}: {most} of {all}");
}

/// A recording of coqc, and its last snapshot in which the kernel's reduction retains much.
fn reduction(theory: &str) -> Option<(Recorded, String, Frames)> {
    // Collections are frequent: several end while it reduces.
    let case = Case::command("coqc", &["sums.v"])
        .options(&["--snapshot", "every-major"])
        .variable("OCAMLRUNPARAM", "o=40");
    std::fs::write(case.folder.path().join("sums.v"), theory).unwrap();
    let recorded = case.recorded();
    assert!(recorded.seen.status.success(), "{:?}", recorded.seen);
    let taken = std::fs::read_dir(&recorded.recording).unwrap().filter_map(Result::ok);
    let mut taken: Vec<u64> = taken
        .filter_map(|file| file.file_name().to_str()?.strip_suffix(".heap")?.parse().ok())
        .collect();
    taken.sort_unstable();
    let (snapshot, frames) = taken
        .iter()
        .rev()
        .take(6)
        .map(|number| (number.to_string(), frames(&recorded.recording, &number.to_string())))
        .find(|(_, frames)| reducing(frames) > MUCH)?;
    Some((recorded, snapshot, frames))
}

/// What the kernel's reduction retains at most.
fn reducing(frames: &[(String, u64)]) -> u64 {
    let frames = frames.iter().filter(|(frame, _)| frame.starts_with("CClosure."));
    frames.map(|(_, retained)| *retained).max().unwrap_or(0)
}

/// Frames with a position, the innermost first, and what each retains.
fn frames(recording: &Path, snapshot: &str) -> Frames {
    let rows = answer("stack", recording, &["--snapshot", snapshot]);
    let rows = rows["rows"].as_array().unwrap().iter().filter(|row| row["path"][1].is_string());
    rows.map(|row| {
        let frame = row["path"][1].as_str().unwrap().to_owned();
        (frame, row["retained"].as_u64().unwrap())
    })
    .collect()
}
