//! Move-to-front tables: how the format names files and functions in five bits.
//!
//! A table has 31 entries, the latest used first. An index below 31 names an entry and moves it to
//! the front; 31 announces a new one, which pushes the last one out. Each file has its own table
//! of functions. A *new* file takes over the table of the file that it pushes out: a trap that
//! only version 1 relies on.

use crate::units::{FileId, FunctionId};
use crate::wire::MTF_LEN;

/// A table of at most 31 entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mtf<T> {
    entries: [T; MTF_LEN],
    len: u8,
}

impl<T: Copy + Default> Default for Mtf<T> {
    fn default() -> Self {
        Self { entries: [T::default(); MTF_LEN], len: 0 }
    }
}

impl<T: Copy> Mtf<T> {
    /// Moves an entry to the front; `None` if the slot is empty.
    pub(super) fn touch(&mut self, index: usize) -> Option<T> {
        let moved = self.entries.get_mut(..=index)?;
        if index >= usize::from(self.len) {
            return None;
        }
        moved.rotate_right(1);
        moved.first().copied()
    }

    /// The entry that the next push will push out, if the table is full.
    pub(super) fn last(&self) -> Option<T> {
        (usize::from(self.len) == MTF_LEN).then(|| self.entries[MTF_LEN - 1])
    }

    /// Enters `value` at the front.
    pub(super) fn push(&mut self, value: T) {
        self.entries.rotate_right(1);
        self.entries[0] = value;
        self.len = (self.len + 1).min(MTF_LEN as u8);
    }

    /// The entry at the front, to be changed.
    pub(super) fn front_mut(&mut self) -> &mut T {
        &mut self.entries[0]
    }

    /// Occupied slots.
    pub(super) fn len(&self) -> u8 {
        self.len
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct File {
    name: FileId,
    /// Which of `Names::functions`.
    functions: u8,
}

/// A domain's tables of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    files: Mtf<File>,
    functions: Vec<Mtf<FunctionId>>,
}

impl Names {
    /// The file at an index.
    pub(super) fn file(&mut self, index: usize) -> Option<FileId> {
        self.files.touch(index).map(|file| file.name)
    }

    /// Enters a new file.
    pub(super) fn new_file(&mut self, name: FileId) {
        let pushed_out = self.files.last().map(|file| file.functions);
        let functions = pushed_out.unwrap_or_else(|| {
            self.functions.push(Mtf::default());
            self.functions.len() as u8 - 1
        });
        self.files.push(File { name, functions });
    }

    /// The table of functions of the file last named.
    pub(super) fn functions(&mut self) -> Option<&mut Mtf<FunctionId>> {
        let table = self.files.front_mut().functions;
        self.functions.get_mut(usize::from(table))
    }

    /// How full the tables are, which is all that decides whether an index is possible.
    pub(super) fn shape(&self) -> Shape {
        let mut counts = Mtf::default();
        for file in self.files.entries.iter().take(usize::from(self.files.len)).rev() {
            counts.push(self.functions.get(usize::from(file.functions)).map_or(0, Mtf::len));
        }
        Shape { counts }
    }
}

/// How many functions the table of each file holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    counts: Mtf<u8>,
}

impl Shape {
    /// Names a file; `false` if there is none at the index.
    pub(super) fn file(&mut self, index: usize) -> bool {
        self.counts.touch(index).is_some()
    }

    /// Names a new file.
    pub(super) fn new_file(&mut self) {
        self.counts.push(self.counts.last().unwrap_or(0));
    }

    /// Names a function; `false` if there is none at the index.
    pub(super) fn function(&mut self, index: usize) -> bool {
        index < usize::from(*self.counts.front_mut())
    }

    /// Names a new function.
    pub(super) fn new_function(&mut self) {
        let count = self.counts.front_mut();
        *count = (*count + 1).min(MTF_LEN as u8);
    }
}
