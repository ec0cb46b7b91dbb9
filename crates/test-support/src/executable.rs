//! Find the program under test. Cargo puts tests into the `deps` folder beside it.

use std::path::PathBuf;

/// The folder of the profile that the running test was built with: `target/debug`.
fn profile() -> PathBuf {
    let test = std::env::current_exe().expect("a path of the running test");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("the folder of its profile");
    folder.to_path_buf()
}

/// The `memtrail` that was built together with the running test.
///
/// # Panics
/// When it is not there, as for tests of a crate other than `memtrail`.
pub fn memtrail() -> PathBuf {
    let path = profile().join("memtrail");
    assert!(path.is_file(), "there is no {}", path.display());
    path
}

/// A folder for what tests make once and use again.
pub(crate) fn temporary() -> PathBuf {
    profile().parent().expect("the target folder").join("tmp")
}
