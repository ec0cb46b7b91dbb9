//! The file of a bytecode program that `ocamlrun` interprets: names of its variables and functions.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_ocaml_snapshot::core_file::CoreProcess;

/// The file that has a program's bytecode.
pub(in crate::snapshot) struct BytecodeFile {
    /// The path as the process knew it.
    path: PathBuf,
    content: Result<MappedFile, std::io::Error>,
}

impl BytecodeFile {
    /// Opens the file of a program, unless the executable is that file itself. `root` is a folder with the process's files, `folder`
    /// the one that it worked in.
    pub(in crate::snapshot) fn open(
        process: &CoreProcess<'_>,
        root: Option<&Path>,
        folder: Option<&Path>,
    ) -> Option<Self> {
        let path = process.bytecode_file()?;
        let path = PathBuf::from(OsStr::from_bytes(&path));
        let place = match path.strip_prefix("/") {
            Ok(inside) => root.map_or_else(|| path.clone(), |root| root.join(inside)),
            Err(_) => folder.map_or_else(|| path.clone(), |folder| folder.join(&path)),
        };
        Some(Self { path, content: MappedFile::open(&place) })
    }

    /// The path as the process knew it.
    pub(in crate::snapshot) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the names to the process; returns a note, as a sentence, if it has none.
    pub(in crate::snapshot) fn add_to<'a>(
        &'a self,
        process: &mut CoreProcess<'a>,
    ) -> Option<String> {
        let added = match &self.content {
            Ok(file) => process.add_bytecode_file(file),
            Err(error) => Err(error.to_string()),
        };
        let path = self.path.display();
        added.err().map(|why| format!("variables have no names: {path} cannot be used: {why}"))
    }
}
