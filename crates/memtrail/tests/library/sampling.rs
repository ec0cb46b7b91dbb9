//! `Memtrail.start` and `stop`.

use memtrail_test_support::on_each;

use crate::same;

on_each!(what_is_allocated_in_a_pause_is_not_recorded, |compiler| {
    let (_, contents) = same(compiler, "library_sampling", &["--rate", "1e-2"]);
    contents.expect_words("Library_sampling.first", 300_000.0);
    assert_eq!(contents.inside("Library_sampling.unwatched").count(), 0);
    contents.expect_words("Library_sampling.last", 300_000.0);
    let notes = &contents.description.notes;
    assert!(notes.iter().any(|note| note.contains("stopped sampling")), "{notes:?}");
});
