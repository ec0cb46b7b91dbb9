//! Types and names that `memtrail types` stored in a recording.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_heap::TypesSource;
use memtrail_ocaml::names::write_name;
use memtrail_types::{Layout, Types, Unit};
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::{Failure, Kind};

/// A checksum of the code that finds types.
const CODE: &str = env!("MEMTRAIL_TYPES_CODE");

/// Checksum of the bytes that `memtrail types` stored, and of the code that finds types from them.
pub(crate) fn source(stored: &[u8]) -> TypesSource {
    let mut checksum = Xxh3Default::new();
    checksum.update(CODE.as_bytes());
    checksum.update(stored);
    TypesSource(checksum.digest())
}

/// What is stored of types in a recording.
#[derive(Debug)]
pub(crate) struct StoredTypes {
    pub(crate) types: Types,
    /// Of the file.
    pub(crate) source: TypesSource,
}

/// Reads what was stored of types in a recording.
pub(crate) fn stored_earlier(folder: &Path) -> Result<Option<StoredTypes>, Failure> {
    let path = folder.join(memtrail_types::FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // A trace without a recording has none either.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(Failure::unreadable(&path, &error)),
    };
    let types = Types::read(&bytes).map_err(|error| {
        Failure::new(Kind::Input, format_args!("{}: {error}", path.display()))
            .hint("delete it, or write it anew with `memtrail types REC`")
    })?;
    Ok(Some(StoredTypes { types, source: source(&bytes) }))
}

/// True if variables of the program's own units have names; of a program that consists of installed libraries
/// alone, if any but those of the standard library have.
pub(super) fn has_names(types: &Types) -> bool {
    let described = |unit: &Unit| unit.layout.as_ref().and_then(file).map(Path::to_path_buf);
    let folder = |unit: &Unit| Some(described(unit)?.parent()?.to_path_buf());
    let standard = types.units.iter().find(|unit| unit.name == "Stdlib").and_then(folder);
    let installed: HashSet<PathBuf> = types
        .units
        .iter()
        .filter(|unit| described(unit).is_some_and(|file| is_installed(&file)))
        .filter_map(folder)
        .collect();
    let others = others_installed(installed.iter());
    let is_own = |unit: &&Unit| match described(unit) {
        Some(file) => !is_installed(&file),
        None => unit.fields.is_some_and(|fields| fields > 0) && !others.contains(&unit.name),
    };
    let own: Vec<&Unit> = types.units.iter().filter(is_own).collect();
    if own.is_empty() {
        return types.units.iter().filter_map(folder).any(|folder| Some(folder) != standard);
    }
    own.iter().any(|unit| described(unit).is_some())
}

/// Units of installed libraries, as functions' names begin, by what is stored of types in the recording; none if
/// that is not there or cannot be read. It is not searched here: commands about allocations alone come by, too.
///
/// Units that a library does not export have no interface there. Those whose code is beside that of an installed unit, for
/// other units to inline it (`.cmx`), are of a library, too.
pub(crate) fn library_units(folder: &Path) -> Vec<String> {
    let types = stored_earlier(folder).ok().flatten();
    let units: Vec<&Unit> = types.iter().flat_map(|stored| &stored.types.units).collect();
    let known = |unit: &Unit| unit.layout.as_ref().and_then(file).map(Path::to_path_buf);
    let files = units.iter().filter_map(|unit| known(unit));
    let folders: HashSet<PathBuf> = files
        .filter(|file| is_installed(file))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .collect();
    let others = others_installed(folders.iter());
    let is_of_library = |unit: &&Unit| match known(unit) {
        Some(file) => is_installed(&file),
        None => others.contains(&unit.name),
    };
    let shown = units.into_iter().filter(is_of_library).map(|unit| {
        let mut text = [0; 512];
        String::from_utf8_lossy(write_name(unit.name.as_bytes(), &mut text)).into_owned()
    });
    shown.collect()
}

/// The units whose code is in some folders.
fn others_installed<'p>(folders: impl Iterator<Item = &'p PathBuf>) -> HashSet<String> {
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let mut letters = name.strip_suffix(".cmx")?.chars();
        Some(letters.next()?.to_uppercase().chain(letters).collect())
    });
    names.collect()
}

/// The compiler's file that a unit's layout is from.
fn file(layout: &Layout) -> Option<&Path> {
    let files = [&layout.implementation_file, &layout.interface_file];
    files.into_iter().find(|file| !file.is_empty()).map(Path::new)
}

/// Whether one of the compiler's files is in a folder of libraries (`/usr/lib/ocaml`, `lib` of an opam switch), and not in
/// a build's folder, in which `lib` is the program's own.
fn is_installed(file: &Path) -> bool {
    let has = |wanted: &str| file.iter().any(|part| part == wanted);
    file.is_absolute() && has("lib") && !has("_build")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Eliommod_sersess` was the program's own, and the call that leaks in its page was named after it.
    #[test]
    fn units_that_a_library_hides_are_installed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["eliommod_sersess.cmx", "eliom_comet.cmx", "eliom_comet.cmi", "eliom.cmxs"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = others_installed([folder.path().to_path_buf(), "/absent".into()].iter());
        let expected = ["Eliommod_sersess", "Eliom_comet"].map(str::to_owned);
        assert_eq!(found, HashSet::from(expected));
    }

    #[test]
    fn files_in_a_folder_of_libraries_are_not_the_programs_own() {
        for (file, expected) in [
            ("/usr/lib/ocaml/list.cmt", true),
            ("/home/u/.opam/5.3.0/lib/yojson/yojson.cmt", true),
            ("/home/u/shop/_build/default/lib/.shop.objs/byte/shop.cmt", false),
            ("/home/u/shop/cache.cmt", false),
            ("lib/cache.cmt", false),
        ] {
            assert_eq!(is_installed(Path::new(file)), expected, "{file}");
        }
    }
}
