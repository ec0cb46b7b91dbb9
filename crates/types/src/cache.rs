//! The folder that keeps built helpers, the same that has the agent. Helpers that were not used for long are removed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::trusted_folder;

/// The first part of the names of helpers.
pub(crate) const PREFIX: &str = "types-";
/// Helpers that were not used for so long are removed.
const MAX_UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// So many are kept at most, those that were used last: each takes some fifteen million bytes.
const MAX_KEPT: usize = 12;

/// True for the name of a helper.
pub fn is_helper(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The first folder of the usual ones that only this user can change.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let user = fs::metadata("/proc/self")?.uid();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|c| c.is_absolute());
    let cache = cache.or(home).map(|folder| folder.join("memtrail"));
    let temporary = std::env::temp_dir().join(format!("memtrail-{user}"));
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in cache.into_iter().chain([temporary]) {
        match trusted_folder::make(&folder) {
            Ok(folder) => return Ok(folder),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Notes that a helper is used. What cannot be noted is removed sooner.
pub(crate) fn note_use(helper: &Path) {
    if let Ok(file) = fs::File::open(helper) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes helpers that were not used for long, but never this one.
pub(crate) fn remove_old(folder: &Path, used: &Path) {
    let is_one =
        |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_helper);
    let mut helpers: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, entry.path()))
        })
        .filter(|(_, path)| is_one(path) && path != used)
        .collect();
    helpers.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let oldest = SystemTime::now().checked_sub(MAX_UNUSED);
    for (number, (time, path)) in helpers.into_iter().enumerate() {
        if number + 1 >= MAX_KEPT || oldest.is_some_and(|oldest| time < oldest) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, name: &str, age: Duration) -> PathBuf {
        let path = folder.join(name);
        let file = fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now().checked_sub(age).unwrap()).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn helpers_that_were_not_used_for_long_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let day = Duration::from_secs(24 * 60 * 60);
        let used = file(folder, "types-4.14.1-a", 50 * day);
        file(folder, "types-4.14.1-b", 31 * day);
        file(folder, "types-5.3.0-c", 29 * day);
        file(folder, "libmemtrail-agent-d.so", 50 * day);
        fs::create_dir(folder.join("types-e")).unwrap();
        remove_old(folder, &used);
        let left = ["libmemtrail-agent-d.so", "types-4.14.1-a", "types-5.3.0-c", "types-e"];
        assert_eq!(names(folder), left);
        note_use(&used);
        let age = fs::metadata(&used).unwrap().modified().unwrap().elapsed().unwrap_or_default();
        assert!(age < day, "{age:?}");
    }

    #[test]
    fn the_helpers_that_were_used_last_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let hour = Duration::from_secs(60 * 60);
        let used = file(folder, "types-used", 20 * hour);
        for age in 1..=15 {
            file(folder, &format!("types-{age:02}"), age * hour);
        }
        remove_old(folder, &used);
        let left = names(folder);
        assert_eq!(left.len(), MAX_KEPT);
        assert_eq!((left[0].as_str(), left[10].as_str()), ("types-01", "types-11"));
    }
}
