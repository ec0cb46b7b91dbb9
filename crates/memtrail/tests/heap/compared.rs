//! What is compared with what.

use crate::{Held, answer, last_snapshot};

#[test]
fn a_diff_of_two_recordings_is_of_the_last_snapshot_of_each() {
    let held = Held::new("system", &[]);
    let other = Held::new("system", &[]);
    let [before, after] = [&held, &other].map(|held| held.recording().to_path_buf());
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let of_recordings = answer("diff", &before, &[&path(&after)]);
    let last = [&before, &after].map(|recording| last_snapshot(recording));
    assert_eq!(of_recordings, answer("diff", &last[0], &[&path(&last[1])]));
    // The first snapshot is from inside `work`, whose list is gone at the end.
    let first = before.join("0001.heap");
    assert_ne!(of_recordings, answer("diff", &first, &[&path(&last[1])]));
    // Of one recording, the first is compared with the last.
    assert_eq!(answer("diff", &before, &[]), answer("diff", &first, &[&path(&last[0])]));
}
