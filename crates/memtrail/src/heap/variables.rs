//! Global variables by the names that are stored in the recording.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_heap::query::{Heap, ModuleBlock, module_blocks};
use memtrail_heap::read::{Error, Root};
use memtrail_heap::{LabelId, TypesSource, Variable};
use memtrail_ocaml::names::write_name;
use memtrail_typeflow::{DefinedValue, definitions_of_values};
use memtrail_types::{Field, Layout, Position, SlotKind, Types, Unit};

use super::typed;
use crate::error::{Failure, Kind};
use crate::types::search_and_store;
use crate::view::snapshot_file;

/// What is stored of types in a recording.
#[derive(Debug)]
pub(crate) struct StoredTypes {
    pub(crate) types: Types,
    /// Of the file.
    pub(crate) source: TypesSource,
}

/// Reads what is stored of types in a recording. If nothing is, and there are snapshots, it is searched and stored first.
pub(crate) fn stored(folder: &Path) -> Result<Option<StoredTypes>, Failure> {
    let stored = stored_earlier(folder)?;
    if stored.is_some() || snapshot_file::of_recording(folder).is_empty() {
        return Ok(stored);
    }
    search_and_store(folder);
    stored_earlier(folder)
}

/// Searches for what is not stored yet, before the recording is described: which units are a library's is stored, too.
pub(crate) fn look_up(folder: &Path) {
    // What cannot be read is reported by those who read it.
    let _ = stored(folder);
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
        Err(error) => {
            let message = format_args!("cannot read {}: {error}", path.display());
            return Err(Failure::new(Kind::Input, message));
        }
    };
    let types = Types::read(&bytes).map_err(|error| {
        Failure::new(Kind::Input, format_args!("{}: {error}", path.display()))
            .hint("delete it, or write it anew with `memtrail types REC`")
    })?;
    Ok(Some(StoredTypes { types, source: typed::source(&bytes) }))
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

/// The block of a module, and what is known of its unit.
pub(super) struct KnownModule<'t> {
    pub(super) module: ModuleBlock,
    pub(super) unit: &'t Unit,
    pub(super) layout: &'t Layout,
}

/// The blocks of modules whose units are known. A block is left out if its size is not that in the program's file.
pub(super) fn known_modules<'t>(
    heap: &Heap<'_>,
    types: &'t Types,
) -> Result<Vec<KnownModule<'t>>, Error> {
    let mut units: HashMap<Vec<u8>, Option<&Unit>> = HashMap::new();
    for unit in &types.units {
        let mut text = [0; 512];
        let shown = write_name(unit.name.as_bytes(), &mut text).to_vec();
        // Two units that are shown alike cannot be distinguished.
        units.entry(shown).and_modify(|unit| *unit = None).or_insert(Some(unit));
    }
    let known = module_blocks(heap)?.into_iter().filter_map(|module| {
        let unit = (*units.get(&module.name)?)?;
        let layout = unit.layout.as_ref()?;
        (unit.fields == Some(module.fields)).then_some(KnownModule { module, unit, layout })
    });
    Ok(known.collect())
}

/// Names the fields of modules' blocks, and gives functions the lines of their definitions.
pub(super) fn name(heap: &mut Heap<'_>, types: &Types) -> Result<(), Error> {
    let definitions = memtrail_typeflow::definitions(&heap.snapshot, &types.table);
    heap.snapshot.define(&definitions);
    let modules = known_modules(heap, types)?;
    let values = values(heap, &modules);
    let definitions = definitions_of_values(&heap.snapshot, &values)?;
    heap.snapshot.define(&definitions);
    for KnownModule { module, layout, .. } in modules {
        let repeated = repeated(layout);
        for (label, field) in module.labels {
            if let Some(found) = layout.field(field, module.fields) {
                let variable = variable(found, field, &repeated);
                heap.snapshot.labels.set_variable(label, variable);
            }
        }
    }
    Ok(())
}

/// What the variables of modules refer to, with where these are defined.
fn values<'t>(heap: &Heap<'_>, modules: &[KnownModule<'t>]) -> Vec<DefinedValue<'t>> {
    let mut defined: HashMap<LabelId, (&'t str, &'t str, &'t Position)> = HashMap::new();
    for KnownModule { module, unit, layout } in modules {
        for (label, field) in &module.labels {
            if let Some(Field::Slot(slot)) = layout.field(*field, module.fields)
                && slot.kind == SlotKind::Value
                && let (Some(name), Some(position)) = (slot.path.last(), &slot.position)
            {
                defined.insert(*label, (&unit.name, name, position));
            }
        }
    }
    let value = |root: &Root| {
        let (unit, name, position) = *defined.get(&root.label)?;
        Some(DefinedValue { block: root.block, unit, name, position })
    };
    heap.snapshot.roots.iter().filter_map(value).collect()
}

/// Names of several slots: the earlier ones are shadowed.
fn repeated(layout: &Layout) -> HashSet<String> {
    let mut seen = HashSet::new();
    let slots = layout.exported.iter().chain(&layout.hidden);
    slots.map(memtrail_types::Slot::variable).filter(|name| !seen.insert(name.clone())).collect()
}

fn variable(found: Field<'_>, field: u64, repeated: &HashSet<String>) -> Variable {
    let Field::Slot(slot) = found else {
        return Variable { name: "(method cache)".into(), ty: String::new(), position: None };
    };
    let mut name = slot.variable();
    if repeated.contains(&name) {
        name = format!("{name} (field {field})");
    }
    let position = slot.position.as_ref().map(ToString::to_string);
    Variable { name, ty: slot.type_or_kind(), position }
}

/// `table : int list  cache.ml:12`.
pub(super) fn with_type(name: &str, ty: Option<&str>, position: Option<&str>) -> String {
    let mut text = name.to_owned();
    if let Some(ty) = ty {
        text.push_str(" : ");
        text.push_str(ty);
    }
    if let Some(position) = position {
        text.push_str("  ");
        text.push_str(position);
    }
    text
}

/// The field that leads on: ` .data`, by number where it has no name.
pub(super) fn field_of(name: Option<&str>, field: Option<u64>) -> String {
    match (name, field) {
        (Some(name), _) => format!(" {name}"),
        (None, Some(field)) => format!(" .{field}"),
        (None, None) => String::new(),
    }
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
