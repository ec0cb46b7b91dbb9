//! Where variables at fixed addresses are defined, from debug information: those of files, and static ones of functions.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gimli::{AttributeValue, EndianSlice, LittleEndian, Operation, UnitOffset};
use object::{Object as _, ObjectSection as _};

/// Of larger debug information no variables are looked up: that would take many seconds.
const MAX_DEBUG_INFO: u64 = 512 << 20;
/// Where separate debug information is.
const SEPARATE: &str = "/usr/lib/debug/.build-id";

type Reader<'d> = EndianSlice<'d, LittleEndian>;
type Unit<'d> = gimli::Unit<Reader<'d>>;

/// The variables of a file, by address.
#[derive(Debug, Default)]
pub(crate) struct Positions(Vec<(u64, String)>);

impl Positions {
    /// Those of an executable or a library; none where there is no debug information.
    pub(crate) fn of_file(path: &Path) -> Self {
        let read = |path: &Path| Self::of_debug_information(&fs::read(path).ok()?);
        let found = read(path).or_else(|| read(&separate(&fs::read(path).ok()?)?));
        found.unwrap_or_default()
    }

    /// Where the variable that begins at an address in the file is defined: `server.c:14`.
    pub(crate) fn at(&self, address: u64) -> Option<&str> {
        let at = self.0.binary_search_by_key(&address, |(known, _)| *known).ok()?;
        self.0.get(at).map(|(_, position)| position.as_str())
    }

    fn of_debug_information(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let size = file.section_by_name(".debug_info")?.size();
        if size > MAX_DEBUG_INFO || !file.is_little_endian() {
            return None;
        }
        let section = |id: gimli::SectionId| {
            let data = file.section_by_name(id.name()).map(|section| section.uncompressed_data());
            Ok::<_, gimli::Error>(data.and_then(Result::ok).unwrap_or(Cow::Borrowed(&[])))
        };
        let sections = gimli::DwarfSections::load(section).ok()?;
        let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
        let mut found = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            // A damaged unit has the variables that were found before the damage.
            if let Ok(unit) = dwarf.unit(header) {
                let _ = add_variables(&dwarf, &unit, &mut found);
            }
        }
        found.sort();
        found.dedup_by_key(|(address, _)| *address);
        Some(Self(found))
    }
}

/// The file with a file's separate debug information, by its build id.
fn separate(bytes: &[u8]) -> Option<PathBuf> {
    let file = object::File::parse(bytes).ok()?;
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let mut name = String::new();
    for byte in rest {
        let _ = write!(name, "{byte:02x}");
    }
    Some(Path::new(SEPARATE).join(format!("{first:02x}")).join(format!("{name}.debug")))
}

/// Adds the variables of a unit that have an address.
fn add_variables<'d>(
    dwarf: &gimli::Dwarf<Reader<'d>>,
    unit: &Unit<'d>,
    found: &mut Vec<(u64, String)>,
) -> gimli::Result<()> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(address) = address(dwarf, unit, entry)? else { continue };
        // What is declared elsewhere, as members of classes, has its position there.
        let declaration = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => Some(offset),
            _ => None,
        };
        let own = position(dwarf, unit, entry)?;
        let position = match (own, declaration) {
            (None, Some(offset)) => declared(dwarf, unit, offset)?,
            (own, _) => own,
        };
        found.extend(position.map(|position| (address, position)));
    }
    Ok(())
}

type Entry<'d> = gimli::DebuggingInformationEntry<Reader<'d>>;

/// The address of a variable that has a fixed one.
fn address<'d>(
    dwarf: &gimli::Dwarf<Reader<'d>>,
    unit: &Unit<'d>,
    entry: &Entry<'d>,
) -> gimli::Result<Option<u64>> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
        return Ok(None);
    };
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next()?;
    // Others are thread-local, or parts of a variable.
    if operations.next()?.is_some() {
        return Ok(None);
    }
    match first {
        Some(Operation::Address { address }) => Ok(Some(address)),
        Some(Operation::AddressIndex { index }) => dwarf.address(unit, index).map(Some),
        _ => Ok(None),
    }
}

fn declared<'d>(
    dwarf: &gimli::Dwarf<Reader<'d>>,
    unit: &Unit<'d>,
    offset: UnitOffset,
) -> gimli::Result<Option<String>> {
    let entry = unit.entry(offset)?;
    position(dwarf, unit, &entry)
}

/// The file's own name and the line.
fn position<'d>(
    dwarf: &gimli::Dwarf<Reader<'d>>,
    unit: &Unit<'d>,
    entry: &Entry<'d>,
) -> gimli::Result<Option<String>> {
    let number = |name| entry.attr(name)?.udata_value();
    let (Some(file), Some(line)) = (number(gimli::DW_AT_decl_file), number(gimli::DW_AT_decl_line))
    else {
        return Ok(None);
    };
    let header = unit.line_program.as_ref().map(gimli::IncompleteLineProgram::header);
    let Some(file) = header.and_then(|header| header.file(file)) else { return Ok(None) };
    let path = dwarf.attr_string(unit, file.path_name())?;
    let path = path.to_string_lossy();
    let name = path.rsplit('/').next().unwrap_or_default();
    Ok((!name.is_empty()).then(|| format!("{name}:{line}")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use object::ObjectSymbol as _;

    use super::*;

    const PROGRAM: &str = "
static long counts[4] = {1, 2, 3, 4};
long next(void) { static long last = 5; return last += counts[last % 4]; }
int main(void) { return (int)next(); }
";

    /// Variables of files and of functions; those of Rust's test programs have no debug information here.
    #[test]
    fn a_variable_has_the_line_of_its_definition() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("next.c"), folder.path().join("next"));
        fs::write(&source, PROGRAM).unwrap();
        let compiled = Command::new("gcc").arg("-g").arg(&source).arg("-o").arg(&program).status();
        assert!(compiled.unwrap().success());
        let bytes = fs::read(&program).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let address = |name: &str| {
            let mut symbols = file.symbols();
            let found = symbols.find(|symbol| symbol.name().unwrap().starts_with(name));
            found.unwrap().address()
        };
        let positions = Positions::of_file(&program);
        assert_eq!(positions.at(address("counts")), Some("next.c:2"));
        assert_eq!(positions.at(address("last.")), Some("next.c:3"));
        assert_eq!(positions.at(address("counts") + 8), None);
        assert!(Command::new("strip").arg(&program).status().unwrap().success());
        assert_eq!(Positions::of_file(&program).at(address("counts")), None);
    }

    #[test]
    fn bytes_that_are_no_program_have_no_variables() {
        for bytes in [&b""[..], b"\x7fELF", b"no program at all, but some text"] {
            assert!(Positions::of_debug_information(bytes).is_none());
            assert_eq!(separate(bytes), None);
        }
    }
}
