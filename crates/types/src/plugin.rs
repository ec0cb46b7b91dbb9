//! What a plugin (`.cmxs`) has about its units: what an executable that loads it checks.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::digest::Digest;
use crate::marshal::{Marshalled, Value};
use crate::program::{Error, Image, Program, ProgramUnit, members};

const HEADER: &[u8] = b"caml_plugin_header";

/// A plugin, for `Dynlink` or `findlib.dynload`.
#[derive(Debug)]
pub struct Plugin<'a> {
    /// Its units.
    pub units: Vec<ProgramUnit>,
    /// Interfaces that its units were compiled with, those of its own units among them.
    pub imports: Vec<(String, Digest)>,
    /// Addresses of the symbols of OCaml code and data.
    pub(crate) symbols: HashMap<&'a [u8], u64>,
}

impl<'a> Plugin<'a> {
    /// Reads a plugin's bytes.
    ///
    /// # Errors
    /// If it is no plugin of an OCaml program in native code.
    pub fn read(file: &'a [u8]) -> Result<Self, Error> {
        let image = Image::read(file)?;
        let header = image.symbols.get(HEADER).ok_or(Error::NoUnits)?;
        let header = image.string(*header).ok_or(Error::Damaged)?;
        let (mut units, imports) = header_of(header).ok_or(Error::Damaged)?;
        image.measure(&mut units);
        Ok(Self { units, imports, symbols: image.symbols })
    }
}

impl<'a> Program<'a> {
    /// Adds the units of a plugin that `is_wanted` wants by their names, and gives how many. None if the program
    /// cannot load the plugin: an interface that it was compiled with is not the program's.
    pub fn add_plugin(&mut self, plugin: Plugin<'a>, is_wanted: impl Fn(&str) -> bool) -> usize {
        let known: HashMap<&str, Digest> = self
            .units
            .iter()
            .chain(&self.interfaces)
            .filter_map(|unit| Some((unit.name.as_str(), unit.interface?)))
            .collect();
        let fits = |name: &str, digest: Digest| known.get(name).is_none_or(|&own| own == digest);
        if !plugin.imports.iter().all(|(name, digest)| fits(name, *digest)) {
            return 0;
        }
        let linked: HashSet<&str> = self.units.iter().map(|unit| unit.name.as_str()).collect();
        let is_new =
            |unit: &ProgramUnit| is_wanted(&unit.name) && !linked.contains(unit.name.as_str());
        let units: Vec<ProgramUnit> = plugin.units.into_iter().filter(is_new).collect();
        let count = units.len();
        if count == 0 {
            return 0;
        }
        // Interfaces that have no implementation, or one in another plugin.
        let new = plugin.imports.into_iter().filter(|(name, _)| !known.contains_key(name.as_str()));
        let new: Vec<ProgramUnit> = new
            .map(|(name, digest)| {
                let interface = Some(digest);
                ProgramUnit {
                    name,
                    interface,
                    implementation: None,
                    fields: None,
                    members: Vec::new(),
                }
            })
            .collect();
        self.units.extend(units);
        self.symbols.extend(plugin.symbols);
        self.interfaces.extend(new);
        let linked: HashSet<&str> = self.units.iter().map(|unit| unit.name.as_str()).collect();
        self.interfaces.retain(|interface| !linked.contains(interface.name.as_str()));
        count
    }
}

type Header = (Vec<ProgramUnit>, Vec<(String, Digest)>);

/// The units in a marshalled header: a record of a name of the version and a list of units, each with name, digest,
/// imported interfaces, and more.
pub(crate) fn header_of(bytes: &[u8]) -> Option<Header> {
    let header = Marshalled::read(bytes)?;
    let text = |value: Value| {
        header.text(value).and_then(|text| std::str::from_utf8(text).ok()).map(str::to_owned)
    };
    let [_, list] = header.fields(header.root())? else { return None };
    let mut units = Vec::new();
    let mut imports = BTreeMap::new();
    for unit in header.elements(*list) {
        let [name, implementation, interfaces, _, symbols, ..] = header.fields(unit)? else {
            return None;
        };
        let name = text(*name)?;
        let implementation = Digest::from_bytes(header.text(*implementation)?);
        let mut interface = None;
        for import in header.elements(*interfaces) {
            let [import, digest] = header.fields(import)? else { return None };
            // Those that are only named have none.
            let Some([digest]) = header.fields(*digest) else { continue };
            let (import, digest) = (text(*import)?, Digest::from_bytes(header.text(*digest)?)?);
            if import == name {
                interface = Some(digest);
            }
            imports.entry(import).or_insert(digest);
        }
        let members = members(&header, *symbols, &name);
        units.push(ProgramUnit { name, interface, implementation, fields: None, members });
    }
    Some((units, imports.into_iter().collect()))
}
