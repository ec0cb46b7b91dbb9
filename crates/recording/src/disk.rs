//! Bytes that recordings take on the disk.

use std::fs;
use std::path::Path;

use crate::description::TRACE_FILE;
use crate::folder::DESCRIPTION_FILE;

/// Bytes of recordings that share the disk space of `--disk`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Bytes of all files.
    pub all: u64,
    /// Bytes of the traces, which are thinned.
    pub traces: u64,
}

impl Used {
    /// Adds up a recording; with those beside it, if they share the space.
    pub fn of(folder: &Path, is_shared: bool) -> Self {
        let alone = || Self {
            all: bytes_of(folder),
            traces: fs::metadata(folder.join(TRACE_FILE)).map_or(0, |trace| trace.len()),
        };
        let Some(family) = folder.parent().filter(|_| is_shared) else { return alone() };
        let entries = fs::read_dir(family).into_iter().flatten().flatten();
        let recordings = entries.map(|entry| entry.path());
        recordings.filter(|path| path.join(DESCRIPTION_FILE).exists()).fold(
            Self::default(),
            |sum, path| {
                let one = Self::of(&path, false);
                Self { all: sum.all + one.all, traces: sum.traces + one.traces }
            },
        )
    }

    /// Bytes that another snapshot, or an index, may have of so many. Where recordings share them, half is for the traces: a trace
    /// is thinned only while there is room for another one.
    pub fn room(self, disk: u64, is_shared: bool) -> u64 {
        let room = disk.saturating_sub(self.all);
        if is_shared { room.min((disk / 2).saturating_sub(self.all - self.traces)) } else { room }
    }
}

/// Bytes of all files in a folder, with those of folders in it. What cannot be read counts nothing.
pub fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, metadata)| if metadata.is_dir() { bytes_of(&path) } else { metadata.len() })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_a_family_share_the_space() {
        let family = tempfile::tempdir().unwrap();
        for (name, trace) in [("a", 100), ("b", 200)] {
            let folder = family.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("recording.json"), [0; 1]).unwrap();
            fs::write(folder.join("trace.ctf"), vec![0; trace]).unwrap();
            fs::write(folder.join("0001.heap"), [0; 30]).unwrap();
        }
        fs::create_dir(family.path().join("no recording")).unwrap();
        fs::write(family.path().join("no recording/file"), [0; 9]).unwrap();
        let of = |is_shared| Used::of(&family.path().join("a"), is_shared);
        assert_eq!(of(false), Used { all: 131, traces: 100 });
        assert_eq!(of(true), Used { all: 362, traces: 300 });
        assert_eq!((of(true).room(400, true), of(true).room(400, false)), (38, 38));
        assert_eq!((of(true).room(1_000, true), of(true).room(1_000, false)), (438, 638));
        assert_eq!(of(true).room(100, true), 0);
    }

    #[test]
    fn all_files_of_a_recording_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("trace.ctf"), [0; 100]).unwrap();
        fs::write(folder.path().join("inner/0001.heap"), [0; 30]).unwrap();
        assert_eq!(bytes_of(folder.path()), 130);
        assert_eq!(bytes_of(&folder.path().join("absent")), 0);
    }
}
