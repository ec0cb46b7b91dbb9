//! The plugins that a recorded program loaded: their units are in its snapshots, and not in its file.

use std::collections::HashSet;

use memtrail_map::MappedFile;
use memtrail_ocaml::names::write_name;
use memtrail_types::find::Files;
use memtrail_types::plugin::Plugin;
use memtrail_types::program::Program;

/// Names of units as snapshots have them.
pub(super) type Names = HashSet<Vec<u8>>;

/// As snapshots have it.
pub(super) fn shown(unit: &str) -> Vec<u8> {
    let mut text = [0; 512];
    write_name(unit.as_bytes(), &mut text).to_vec()
}

/// The plugins that have one of these units.
pub(super) fn open(files: &Files, wanted: &Names) -> Vec<MappedFile> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let maps = files.plugins().iter().filter_map(|path| MappedFile::open(path).ok());
    maps.filter(|map| {
        Plugin::read(map)
            .is_ok_and(|plugin| plugin.units.iter().any(|unit| wanted.contains(&shown(&unit.name))))
    })
    .collect()
}

/// Adds their units to the program's.
pub(super) fn add<'a>(program: &mut Program<'a>, plugins: &'a [MappedFile], wanted: &Names) {
    for plugin in plugins.iter().filter_map(|map| Plugin::read(map).ok()) {
        program.add_plugin(plugin, |unit| wanted.contains(&shown(unit)));
    }
}
