//! Results of searches, kept in the cache by all that they depend on: a program that was searched once has its names and
//! types at once in each later recording.
//!
//! A result depends on the program's units, each of the compiler's files that has the name of one, by size and time, and the
//! compilers. A result that a failure of the reader may have made smaller is not kept.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use xxhash_rust::xxh3::Xxh3Default;

use crate::cache::{self, Limits, RESULT_PREFIX};
use crate::compiler::Compiler;
use crate::find::Files;
use crate::problem::Reason;
use crate::program::{Program, ProgramUnit};
use crate::trusted_folder;
use crate::unit::Types;

/// The most results that are kept. That of coqc's 600 units takes ten million bytes.
const LIMITS: Limits = Limits { files: 64, bytes: 128 << 20 };

/// The file of a result, whether or not it is there.
pub(crate) struct Place {
    folder: PathBuf,
    file: PathBuf,
}

impl Place {
    /// Gives the place of a search's result; none if there is no folder for it.
    pub(crate) fn of(
        path: &Path,
        program: &Program<'_>,
        files: &Files,
        compilers: &[Compiler],
        version: &str,
    ) -> Option<Self> {
        let folder = cache::folder().ok()?;
        let mut hash = Xxh3Default::new();
        // With its end, so that no two lists have the same bytes.
        let mut add = |bytes: &[u8]| {
            hash.update(bytes);
            hash.update(&(bytes.len() as u64).to_le_bytes());
        };
        add(env!("MEMTRAIL_TYPES_SOURCES").as_bytes());
        add(path.as_os_str().as_encoded_bytes());
        add(version.as_bytes());
        add(program.build_id.as_deref().unwrap_or_default().as_bytes());
        for compiler in compilers {
            for path in [&compiler.file, &compiler.library] {
                add(path.as_os_str().as_encoded_bytes());
            }
            add(compiler.version.as_bytes());
            add(compiler.magic.as_bytes());
        }
        for unit in program.units.iter().chain(&program.interfaces) {
            add_unit(unit, &mut add);
            for file in files.of(&unit.name) {
                add(file.as_os_str().as_encoded_bytes());
                let Ok(metadata) = fs::metadata(file) else { continue };
                for number in
                    [metadata.len(), metadata.mtime() as u64, metadata.mtime_nsec() as u64]
                {
                    add(&number.to_le_bytes());
                }
            }
        }
        let file = folder.join(format!("{RESULT_PREFIX}{:032x}", hash.digest128()));
        Some(Self { folder, file })
    }

    /// Reads a result that was found earlier.
    pub(crate) fn read(&self) -> Option<Types> {
        if !trusted_folder::is_own_file(&self.file) {
            return None;
        }
        let types = Types::read(&MappedFile::open(&self.file).ok()?).ok()?;
        cache::note_use(&self.file);
        Some(types)
    }

    /// Keeps a result. One that cannot be kept is searched again.
    pub(crate) fn keep(&self, types: &Types) {
        let is_damaged = |reason| matches!(reason, Reason::Damaged);
        let problems = types.units.iter().flat_map(|unit| &unit.problems);
        // A reader that was killed leaves these behind.
        if problems.into_iter().any(|problem| is_damaged(problem.reason)) {
            return;
        }
        if self.write(types).is_ok() {
            cache::remove_old(&self.folder, RESULT_PREFIX, &self.file, LIMITS);
        }
    }

    fn write(&self, types: &Types) -> io::Result<()> {
        let fresh = self.file.with_extension(format!("{}", std::process::id()));
        let _ = fs::remove_file(&fresh);
        let mut file = fs::File::create_new(&fresh)?;
        let written =
            file.write_all(&types.to_bytes()).and_then(|()| fs::rename(&fresh, &self.file));
        if written.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        written
    }
}

fn add_unit(unit: &ProgramUnit, add: &mut impl FnMut(&[u8])) {
    add(unit.name.as_bytes());
    for digest in [unit.interface, unit.implementation] {
        add(digest.as_ref().map_or(&[], |digest| &digest.0));
    }
    let size = |fields: Option<u64>| fields.map_or(0, |fields| fields.saturating_add(1));
    add(&size(unit.fields).to_le_bytes());
    for member in &unit.members {
        add(member.name.as_bytes());
        add(&size(member.fields).to_le_bytes());
    }
}
