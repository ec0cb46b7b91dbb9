//! The folder that keeps built helpers, the same that has the agent.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The first folder of the usual ones that belongs to this user.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let user = fs::metadata("/proc/self")?.uid();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|c| c.is_absolute());
    let cache = cache.or(home).map(|folder| folder.join("memtrail"));
    let temporary = std::env::temp_dir().join(format!("memtrail-{user}"));
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in cache.into_iter().chain([temporary]) {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        match made.and_then(|()| fs::symlink_metadata(&folder)) {
            Ok(metadata) if metadata.uid() == user && metadata.is_dir() => return Ok(folder),
            Ok(_) => last = io::ErrorKind::PermissionDenied.into(),
            Err(error) => last = error,
        }
    }
    Err(last)
}
