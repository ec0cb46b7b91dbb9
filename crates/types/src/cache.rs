//! The folder that keeps built helpers and results of searches, the same that has the agent. Those that were not used for long
//! are removed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memtrail_order::SortRows as _;

use crate::trusted_folder;

/// The first part of the names of helpers.
pub(crate) const PREFIX: &str = "types-";
/// The first part of the names of results.
pub(crate) const RESULT_PREFIX: &str = "found-types-";
/// Files that were not used for so long are removed.
const MAX_UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most files of one kind that are kept, and bytes of them: those that were used last.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

/// True for the name of a file that this crate keeps: a helper, or a result.
pub fn is_kept(name: &str) -> bool {
    [PREFIX, RESULT_PREFIX].iter().any(|prefix| name.starts_with(prefix))
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

/// Notes that a file is used. What cannot be noted is removed sooner.
pub(crate) fn note_use(file: &Path) {
    if let Ok(file) = fs::File::open(file) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes files with names that begin so, if they were not used for long or are too many, but never this one.
pub(crate) fn remove_old(folder: &Path, prefix: &str, used: &Path, limits: Limits) {
    let is_one = |path: &Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_one(&entry.path()) && entry.path() != used)
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort_rows_by_key(|(time, ..)| std::cmp::Reverse(*time));
    let oldest = SystemTime::now().checked_sub(MAX_UNUSED);
    let mut bytes = fs::metadata(used).map_or(0, |metadata| metadata.len());
    for (number, (time, size, path)) in files.into_iter().enumerate() {
        bytes += size;
        let is_old = oldest.is_some_and(|oldest| time < oldest);
        if number + 1 >= limits.files || bytes > limits.bytes || is_old {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { files: 12, bytes: 1 << 20 };

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
        file(folder, "found-types-f", 50 * day);
        fs::create_dir(folder.join("types-e")).unwrap();
        remove_old(folder, PREFIX, &used, LIMITS);
        let left = [
            "found-types-f",
            "libmemtrail-agent-d.so",
            "types-4.14.1-a",
            "types-5.3.0-c",
            "types-e",
        ];
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
        remove_old(folder, PREFIX, &used, LIMITS);
        let left = names(folder);
        assert_eq!(left.len(), LIMITS.files);
        assert_eq!((left[0].as_str(), left[10].as_str()), ("types-01", "types-11"));
    }

    #[test]
    fn files_that_take_too_much_room_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let hour = Duration::from_secs(60 * 60);
        let used = file(folder, "types-used", 20 * hour);
        for age in 1..=4 {
            let path = file(folder, &format!("types-{age}"), age * hour);
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(400 << 10).unwrap();
            file.set_modified(SystemTime::now().checked_sub(age * hour).unwrap()).unwrap();
        }
        remove_old(folder, PREFIX, &used, LIMITS);
        assert_eq!(names(folder), ["types-1", "types-2", "types-used"]);
    }
}
