//! Keeps what was read of recordings, for a server that is asked about the same ones again and again.
//!
//! A command has no cache: it reads what it needs, once.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use memtrail_heap::Bytes;
use memtrail_recording::TRACE_FILE;

use crate::error::Failure;

/// Things that are kept at most.
const MAX_KEPT: usize = 4;
/// Ends of the names of files that an analysis leaves beside a snapshot: they change nothing.
const LEFT_BY_US: [&str; 4] = [".index", ".types", ".summary", ".partial"];

/// Things that were read, the last used first; or no place to keep any.
#[derive(Clone, Default)]
pub(crate) struct RecordingCache(Option<Rc<RefCell<Kept>>>);

#[derive(Default)]
struct Kept {
    things: VecDeque<Thing>,
    /// Limit for the sizes of the files that the things were read from.
    room: Bytes,
}

struct Thing {
    key: Key,
    state: State,
    value: Rc<dyn Any>,
}

/// Kind of a thing, and the files or folders that it was read from.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    what: String,
    paths: Vec<PathBuf>,
}

/// Names, sizes and times of files, by which changes are noticed.
#[derive(Default, PartialEq, Eq)]
struct State {
    files: Vec<(PathBuf, u64, i64, i64, u64)>,
    /// Size of the traces.
    size: Bytes,
}

impl RecordingCache {
    /// A cache for things from files of this size together.
    pub(crate) fn with_room(room: Bytes) -> Self {
        Self(Some(Rc::new(RefCell::new(Kept { things: VecDeque::new(), room }))))
    }

    /// Returns a thing that is kept. If it is not, or the files have changed since, it is read and kept.
    pub(crate) fn keep<T: 'static>(
        &self,
        what: String,
        paths: &[&Path],
        read: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Rc<T>, Failure> {
        let Some(kept) = &self.0 else { return Ok(Rc::new(read()?)) };
        let key = Key { what, paths: paths.iter().map(|path| path.to_path_buf()).collect() };
        let state = State::of(paths);
        if let Some(found) = kept.borrow_mut().take(&key, &state)
            && let Ok(found) = found.downcast::<T>()
        {
            return Ok(found);
        }
        let value = Rc::new(read()?);
        kept.borrow_mut().put(Thing { key, state, value: value.clone() });
        Ok(value)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        if let Some(kept) = &self.0 {
            kept.borrow_mut().things.clear();
        }
    }
}

impl Kept {
    /// Finds a thing that is still as its files are, and forgets one that is not.
    fn take(&mut self, key: &Key, state: &State) -> Option<Rc<dyn Any>> {
        let place = self.things.iter().position(|thing| thing.key == *key)?;
        let found = self.things.remove(place)?;
        if found.state != *state {
            return None;
        }
        let value = found.value.clone();
        self.things.push_front(found);
        Some(value)
    }

    fn put(&mut self, thing: Thing) {
        self.things.push_front(thing);
        let (mut number, mut size) = (0, Bytes(0));
        self.things.retain(|thing| {
            number += 1;
            size += thing.state.size;
            number == 1 || (number <= MAX_KEPT && size <= self.room)
        });
    }
}

impl State {
    fn of(paths: &[&Path]) -> Self {
        let mut state = Self::default();
        for path in paths {
            if path.is_dir() {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                for entry in entries {
                    state.add(&entry.path());
                }
            } else {
                state.add(path);
            }
        }
        state.files.sort();
        state
    }

    fn add(&mut self, file: &Path) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if LEFT_BY_US.iter().any(|end| name.ends_with(end)) {
            return;
        }
        let Ok(known) = fs::metadata(file) else { return };
        let (mtime, nanos) = (known.mtime(), known.mtime_nsec());
        self.files.push((file.to_path_buf(), known.len(), mtime, nanos, Metadata::ino(&known)));
        if name == TRACE_FILE {
            self.size += Bytes(known.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn read(cache: &RecordingCache, path: &Path, times: &Cell<u32>) -> u32 {
        let read = || {
            times.set(times.get() + 1);
            Ok(times.get())
        };
        *cache.keep("number".to_owned(), &[path], read).unwrap()
    }

    #[test]
    fn a_recording_is_read_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, times) = (RecordingCache::with_room(Bytes(100)), Cell::new(0));
        let trace = folder.path().join(TRACE_FILE);
        fs::write(&trace, "a").unwrap();
        assert_eq!([0; 2].map(|_| read(&cache, folder.path(), &times)), [1, 1]);
        fs::write(folder.path().join("0001.heap.index"), "left").unwrap();
        assert_eq!(read(&cache, folder.path(), &times), 1);
        fs::write(&trace, "ab").unwrap();
        assert_eq!([0; 2].map(|_| read(&cache, folder.path(), &times)), [2, 2]);
        cache.clear();
        assert_eq!(read(&cache, folder.path(), &times), 3);
    }

    #[test]
    fn the_last_used_are_kept_within_the_room() {
        let (cache, times) = (RecordingCache::with_room(Bytes(5)), Cell::new(0));
        let recording = |bytes: &str| {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(TRACE_FILE), bytes).unwrap();
            folder
        };
        let (a, b, c) = (recording("aa"), recording("bb"), recording("cc"));
        for of in [&a, &b, &a, &c] {
            read(&cache, of.path(), &times);
        }
        assert_eq!(times.get(), 3);
        // `b` was used least lately.
        assert_eq!(read(&cache, a.path(), &times), 1);
        assert_eq!(read(&cache, b.path(), &times), 4);
        let large = recording("larger than the room");
        assert_eq!([0; 2].map(|_| read(&cache, large.path(), &times)), [5, 5]);
    }

    #[test]
    fn commands_keep_nothing() {
        let (cache, times) = (RecordingCache::default(), Cell::new(0));
        assert_eq!([0; 2].map(|_| read(&cache, Path::new("."), &times)), [1, 2]);
    }
}
