//! Finds the names of a recording's variables: when it is asked for, or first needed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_types::Types;
use memtrail_types::compiler::{self, Compiler};
use memtrail_types::find::Files;
use memtrail_types::program::Program;
use memtrail_types::resolve::{Error, resolve};

use super::plugins;
use super::sibling;
use super::subject::Subject;
use crate::error::{Failure, Kind};
use crate::spinner::with_spinner;

/// With the value `off`, names are searched by `memtrail types` alone.
const VARIABLE: &str = "MEMTRAIL_TYPES";

/// What was found, and why it is not more.
pub(super) type Found = (Types, Option<Error>);

/// True if the user wants names to be searched by `memtrail types` alone.
pub(super) fn is_off() -> bool {
    std::env::var_os(VARIABLE).as_deref() == Some(OsStr::new("off"))
}

/// Searches these folders first, and then the usual ones.
pub(super) fn search(
    subject: &Subject,
    map: &MappedFile,
    folders: &[PathBuf],
    compilers: &[Compiler],
) -> Result<Found, Failure> {
    let mut program = Program::read(map).map_err(|error| {
        Failure::new(Kind::Input, format_args!("{} {error}", subject.program.display()))
            .hint("name a recording, or an OCaml program in native code")
    })?;
    subject.check(&program)?;
    let mut files = Files::default();
    for folder in folders {
        files.add(folder);
    }
    let libraries: Vec<PathBuf> = compilers.iter().map(|c| c.library.clone()).collect();
    files.add_usual(&subject.program, &libraries);
    let loaded = subject.loaded(&program)?;
    let opened = plugins::open(&files, &loaded);
    plugins::add(&mut program, &opened, &loaded);
    Ok(with_spinner("reading .cmt and .cmi files".into(), || {
        resolve(&subject.program, &program, &files, compilers, &subject.version)
    }))
}

/// Searches for a recording whose names are needed and were never searched, and stores what is found. Where that is not
/// possible, there are no names: `memtrail types` tells why.
pub(super) fn search_and_store(recording: &Path) {
    if is_off() {
        return;
    }
    let Ok(subject) = Subject::of(recording, None) else { return };
    if let Some(types) = sibling::found(&subject) {
        let _ = subject.store(&types);
        return;
    }
    let Ok(map) = subject.open() else { return };
    if let Ok((types, _)) = search(&subject, &map, &[], &compiler::compilers(&[])) {
        let _ = subject.store(&types);
    }
}
