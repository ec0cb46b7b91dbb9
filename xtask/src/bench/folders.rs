//! Folders of benchmarks: that of built programs, and one for their own files.

use std::path::PathBuf;

use crate::command::{Outcome, cache, repository};

/// Where `cargo build --release` puts a program.
pub(super) fn release_binary(name: &str) -> PathBuf {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => repository().join("target"),
    };
    target.join("release").join(name)
}

/// A folder for what benchmarks need, kept between runs.
pub(super) fn scratch() -> Outcome<PathBuf> {
    let dir = cache()?.join("bench");
    std::fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    Ok(dir)
}
