//! Finds the files that the compiler left on disk: `.cmt`, `.cmi`, `.cmti` and `.cmx`, and plugins.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memtrail_order::SortRows as _;

use crate::digest::Digest;

/// More folders than this are not searched; links may make trees endless.
const MAX_FOLDERS: usize = 200_000;
/// Deeper folders are not searched.
const MAX_DEPTH: usize = 40;
/// A name of a version in the first bytes of all of the compiler's files: `Caml1999I030`.
const MAGIC: usize = 12;

/// The compiler's files in some folders, by the name of their unit.
#[derive(Debug, Default)]
pub struct Files {
    by_unit: HashMap<String, Vec<PathBuf>>,
    plugins: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    folders: usize,
}

impl Files {
    /// Adds a folder and those in it. One that cannot be read has no files.
    pub fn add(&mut self, folder: &Path) {
        self.add_to_depth(folder, MAX_DEPTH);
    }

    /// Adds a folder and those in it that are not deeper than this.
    pub fn add_to_depth(&mut self, folder: &Path, depth: usize) {
        let mut left = vec![(folder.to_path_buf(), depth)];
        while let Some((folder, depth)) = left.pop() {
            let Ok(real) = folder.canonicalize() else { continue };
            if self.folders >= MAX_FOLDERS || !self.seen.insert(real) {
                continue;
            }
            self.folders += 1;
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<_> = entries.flatten().collect();
            entries.sort_rows_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                // Links to folders are followed, as build systems make them.
                if let Some(unit) = unit_of(&path) {
                    self.by_unit.entry(unit).or_default().push(path);
                } else if path.extension().is_some_and(|extension| extension == "cmxs") {
                    self.plugins.push(path);
                } else if depth > 0 && path.is_dir() {
                    left.push((path, depth - 1));
                }
            }
        }
    }

    /// Plugins (`.cmxs`), in the order in which they were found.
    pub fn plugins(&self) -> &[PathBuf] {
        &self.plugins
    }

    /// Files that have a unit's name; those with types before those of the interface alone.
    pub fn of(&self, unit: &str) -> Vec<&Path> {
        let mut files: Vec<&Path> =
            self.by_unit.get(unit).into_iter().flatten().map(PathBuf::as_path).collect();
        files.sort_rows_by_key(|file| rank(file));
        files
    }
}

/// Extensions in the order in which files are tried.
const EXTENSIONS: [&str; 4] = ["cmt", "cmi", "cmti", "cmx"];

fn rank(file: &Path) -> Option<usize> {
    let extension = file.extension()?.to_str()?;
    EXTENSIONS.iter().position(|&known| known == extension)
}

/// The unit that a file is about, by its name.
fn unit_of(file: &Path) -> Option<String> {
    rank(file)?;
    let stem = file.file_stem()?.to_str()?;
    let mut letters = stem.chars();
    let first = letters.next()?;
    Some(first.to_uppercase().chain(letters).collect())
}

/// A file's kind and version by its first bytes, e.g. `Caml1999I030`; `None` if it is none of the compiler's.
pub(crate) fn magic(file: &Path) -> Option<String> {
    let mut magic = [0; MAGIC];
    fs::File::open(file).ok()?.read_exact(&mut magic).ok()?;
    let text = std::str::from_utf8(&magic).ok()?;
    let known = text.starts_with("Caml1999") && text[9..].bytes().all(|b| b.is_ascii_digit());
    known.then(|| text.to_owned())
}

/// The digest of the implementation in a `.cmx` file: its last sixteen bytes.
pub(crate) fn implementation(cmx: &Path) -> Option<Digest> {
    let bytes = fs::read(cmx).ok()?;
    let (_, digest) = bytes.split_last_chunk::<16>()?;
    Some(Digest(*digest))
}

impl Files {
    /// Adds the folders where the files of a program's own units may be, and those of libraries: the build folder
    /// that the program is in, the program's own folder, `OCAMLPATH`, the standard library of each compiler,
    /// Debian's library folder.
    pub fn add_usual(&mut self, program: &Path, standard_libraries: &[PathBuf]) {
        let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
        if let Some(build) = build_folder(&real) {
            self.add(&build);
        }
        if let Some(own) = real.parent() {
            self.add_to_depth(own, 1);
        }
        // The libraries of an opam switch, beside its programs.
        let prefix = real.parent().and_then(Path::parent);
        let switch =
            prefix.map(|prefix| prefix.join("lib")).filter(|lib| lib.join("ocaml").is_dir());
        let path = std::env::var_os("OCAMLPATH");
        let path = path.iter().flat_map(std::env::split_paths);
        let path = path.filter(|folder| !folder.as_os_str().is_empty());
        for folder in switch.into_iter().chain(path) {
            self.add(&folder);
        }
        for folder in standard_libraries {
            self.add(folder);
        }
        self.add(Path::new("/usr/lib/ocaml"));
    }
}

/// Dune's `_build` above the program, or beside one of the folders above it.
fn build_folder(program: &Path) -> Option<PathBuf> {
    let above = || program.ancestors().skip(1);
    let is_build = |folder: &&Path| folder.file_name().is_some_and(|name| name == "_build");
    let beside = || above().map(|folder| folder.join("_build")).find(|build| build.is_dir());
    above().find(is_build).map(Path::to_path_buf).or_else(beside)
}
