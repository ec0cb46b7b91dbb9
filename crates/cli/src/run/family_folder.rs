//! The folder that the recordings of `--children` are put in.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folder. When the value is dropped, it is removed if it was made for it and nothing is in it.
pub(super) struct FamilyFolder {
    path: PathBuf,
    is_new: bool,
}

impl FamilyFolder {
    /// Makes it. One that the user named may be there already, with other recordings.
    pub(super) fn make(path: &Path, named: bool) -> io::Result<Self> {
        let is_new = !path.exists();
        if named {
            fs::create_dir_all(path)?;
        } else {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        Ok(Self { path: path.to_path_buf(), is_new })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, if it was made for the recordings.
    pub(super) fn path_if_new(&self) -> Option<&Path> {
        self.is_new.then_some(&self.path)
    }
}

impl Drop for FamilyFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Fails if there are recordings.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
