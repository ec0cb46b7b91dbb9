//! A file of the recording with a line of figures for each moment.

use crate::recording::folder::Folder;
use crate::recording::output::{FileKind, Output};

/// A file of lines, made with its first one.
pub(crate) struct FigureLog {
    kind: FileKind,
    heading: &'static str,
    file: Option<Output>,
    /// Whether it could not be made.
    failed: bool,
}

impl FigureLog {
    pub(crate) fn new(kind: FileKind, heading: &'static str) -> Self {
        Self { kind, heading, file: None, failed: false }
    }

    /// Whether the line was written. Without the file nothing else is missing.
    pub(crate) fn append(&mut self, folder: &Folder, line: &str) -> bool {
        if self.file.is_some() {
            return self.write(folder, line);
        }
        if !self.failed {
            self.file = Output::create(folder, self.kind).ok();
            self.failed = self.file.is_none();
        }
        self.write(folder, &format!("{}\n{line}", self.heading))
    }

    fn write(&mut self, folder: &Folder, text: &str) -> bool {
        self.file.as_mut().is_some_and(|file| file.append(folder, text.as_bytes()).is_ok())
    }
}
