//! Files that a process had mapped: the program and its libraries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_ocaml_snapshot::core_file::{CoreFile, MappedFiles, build_id};

use super::source::Source;
use crate::error::{Failure, Kind};

/// First bytes of ELF files.
const ELF: &[u8] = b"\x7fELF";
/// The start of a file and of what is loaded are compared where neither has a build id.
const HEADER_BYTES: usize = 64;

/// Places of a process's files.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::snapshot) struct Places<'a> {
    /// The program's file, if it is not where the process had it.
    pub(in crate::snapshot) program: Option<&'a Path>,
    /// Folder with the files of the process.
    pub(in crate::snapshot) root: Option<&'a Path>,
}

/// The files, each with its path in the process.
pub(in crate::snapshot) struct Executables {
    program: MappedFile,
    /// The program's path in the process.
    path: Vec<u8>,
    build_id: Option<String>,
    libraries: Vec<(Vec<u8>, MappedFile)>,
    notes: Vec<String>,
}

impl Executables {
    /// Opens the program and its libraries. A program that is another build than the one that ran is refused; such
    /// libraries are left out.
    pub(in crate::snapshot) fn find(
        core: &CoreFile<'_>,
        source: Source<'_>,
        places: &Places<'_>,
    ) -> Result<Self, Failure> {
        let name = source.name();
        let Some(mapping) = core.executable() else {
            let message = format_args!(
                "no heap in {name}: it does not name the files that its process had mapped"
            );
            return Err(Failure::new(Kind::Input, message)
                .hint("memtrail reads core files of Linux with a note NT_FILE"));
        };
        let path = mapping.path.clone();
        let place = places.program.map_or_else(|| below(places.root, &path), Path::to_path_buf);
        let program = MappedFile::open(&place).map_err(|error| {
            let message = format_args!("cannot read the executable {}: {error}", place.display());
            let failure = Failure::new(Kind::Input, message);
            match source {
                Source::CoreFile(_) => failure.hint(format_args!(
                    "name the program that ran: memtrail snapshot --core {name} EXE; \
                     --sysroot DIR names a copy of the machine's files"
                )),
                Source::Process(pid) => failure
                    .hint(format_args!("it may have ended; try again: memtrail snapshot {pid}")),
            }
        })?;
        match compare(core, &path, &program) {
            Comparison::Same => {}
            Comparison::Different(loaded, found) => {
                let message = format_args!(
                    "{} is not the program of {name}: its build id is {found}, that of the program \
                     that ran is {loaded}",
                    place.display(),
                );
                return Err(Failure::new(Kind::Input, message)
                    .hint("name the executable of the same build: --core CORE EXE"));
            }
        }
        let build_id = build_id(&program).map(hexadecimal);
        let mut executables =
            Self { program, path, build_id, libraries: Vec::new(), notes: Vec::new() };
        executables.add_libraries(core, places.root);
        Ok(executables)
    }

    fn add_libraries(&mut self, core: &CoreFile<'_>, sysroot: Option<&Path>) {
        let paths: BTreeSet<&[u8]> = core
            .files
            .iter()
            .map(|file| file.path.as_slice())
            .filter(|path| path.starts_with(b"/") && *path != self.path)
            .collect();
        for path in paths {
            // Data files are not needed.
            if !core.loaded_header(path).is_none_or(|header| header.starts_with(ELF)) {
                continue;
            }
            let Ok(file) = MappedFile::open(&below(sysroot, path)) else { continue };
            if !file.starts_with(ELF) {
                continue;
            }
            match compare(core, path, &file) {
                Comparison::Same => self.libraries.push((path.to_vec(), file)),
                Comparison::Different(..) => self.notes.push(format!(
                    "{} is another build than the process had: its functions have no names",
                    String::from_utf8_lossy(path)
                )),
            }
        }
    }

    /// Content of the program's file.
    pub(in crate::snapshot) fn program(&self) -> &[u8] {
        &self.program
    }

    /// The program's path in the process.
    pub(in crate::snapshot) fn path(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// The program's build id in hexadecimal digits.
    pub(in crate::snapshot) fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// Contents of all files by their paths in the process.
    pub(in crate::snapshot) fn contents(&self) -> MappedFiles<'_> {
        let libraries = self.libraries.iter().map(|(path, file)| (path.clone(), &file[..]));
        libraries.chain([(self.path.clone(), &self.program[..])]).collect()
    }

    /// Files that were left out, as sentences.
    pub(in crate::snapshot) fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// A file beside what was loaded.
enum Comparison {
    /// No difference was found.
    Same,
    /// Other builds: the build ids of what was loaded and of the file.
    Different(String, String),
}

fn compare(core: &CoreFile<'_>, path: &[u8], file: &[u8]) -> Comparison {
    let Some(loaded) = core.loaded_header(path) else { return Comparison::Same };
    let shown = |id: Option<&[u8]>| id.map_or("unknown".to_owned(), hexadecimal);
    let ids = (build_id(loaded), build_id(file));
    let is_same = match ids {
        (None, None) => loaded.get(..HEADER_BYTES) == file.get(..HEADER_BYTES),
        (loaded, found) => loaded == found,
    };
    if is_same { Comparison::Same } else { Comparison::Different(shown(ids.0), shown(ids.1)) }
}

fn hexadecimal(id: &[u8]) -> String {
    id.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A path of the process, below the folder with its files.
fn below(sysroot: Option<&Path>, path: &[u8]) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(path));
    match sysroot {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        None => path.to_path_buf(),
    }
}
