//! A file in the making: it appears under its name only when it is whole. `-` is standard output.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Failure, Kind};

/// Whether a file's name is `-`, standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file in the making, beside the one that it will be. Devices and pipes are written directly.
pub(crate) struct Output {
    pub(crate) file: File,
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::new(Kind::Work, format_args!("cannot create {}: {error}", path.display()))
        };
        if is_standard(path) {
            let file = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
            return Ok(Self { file: file.into(), path: path.to_path_buf(), partial: None });
        }
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            let file = options.open(path).map_err(failed)?;
            return Ok(Self { file, path: path.to_path_buf(), partial: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let file = options.create_new(true).open(&partial).map_err(failed)?;
        Ok(Self { file, path: path.to_path_buf(), partial: Some(partial) })
    }

    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new(Kind::BrokenPipe, "broken pipe");
        }
        Failure::new(Kind::Work, format_args!("cannot write {}: {error}", self.path.display()))
    }

    /// Gives the file its name.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        if let Some(partial) = self.partial.take() {
            std::fs::rename(&partial, &self.path).map_err(|error| {
                let _ = std::fs::remove_file(&partial);
                self.failure(&error)
            })?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = std::fs::remove_file(partial);
        }
    }
}
