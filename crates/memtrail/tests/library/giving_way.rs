//! Forked children, and programs that sample by themselves.

use memtrail_recording::Outcome;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Contents, read};
use memtrail_test_support::on_each;

use crate::{case, same};

fn names(contents: &Contents) -> Vec<&str> {
    let all = contents.description.snapshots.as_deref().unwrap_or_default();
    all.iter().filter_map(|snapshot| snapshot.label.as_deref()).collect()
}

on_each!(in_a_child_that_is_not_recorded_nothing_happens, |compiler| {
    let recorded = case(compiler, "library_fork").same();
    assert_eq!(recorded.seen.stdout(), "child\ndone\n");
    let contents = read(&recorded.recording);
    assert_eq!(names(&contents), ["before", "parent"]);
    assert_eq!(contents.inside("[child]").count(), 0);
    assert!(contents.inside("[parent]").count() > 0);
});

on_each!(a_child_that_is_recorded_has_labels_and_snapshots_of_its_own, |compiler| {
    let case = case(compiler, "library_fork").options(&["--children", "--rate", "1e-2"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert_eq!(seen.stdout(), "child\ndone\n");
    let all: Vec<Contents> = recordings.iter().map(|folder| read(folder)).collect();
    let (children, parents): (Vec<_>, Vec<_>) =
        all.iter().partition(|contents| contents.description.forked_from.is_some());
    assert_eq!((children.len(), parents.len()), (1, 1));
    assert_eq!(names(children[0]), ["child"]);
    assert_eq!(names(parents[0]), ["before", "parent"]);
    children[0].expect_words("[child]", 300_000.0);
    parents[0].expect_words("[before]", 300_000.0);
    parents[0].expect_words("[parent]", 300_000.0);
});

on_each!(a_program_that_samples_by_itself_still_takes_snapshots, |compiler| {
    if !named(compiler).has_sampler() {
        // No program can.
        return;
    }
    let (_, contents) = same(compiler, "library_own_sampler", &["--rate", "1e-2"]);
    assert_eq!(contents.description.outcome, Some(Outcome::GaveWay));
    contents.expect_words("[before]", 300_000.0);
    assert_eq!(contents.inside("[after]").count(), 0);
    assert_eq!(names(&contents), ["after"]);
});
