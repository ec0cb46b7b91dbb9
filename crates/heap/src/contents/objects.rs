//! Which class objects are of: by what `CamlinternalOO` leaves in memory.
//!
//! An object's first field is the table of its class's methods. The class has it in its own table, which the functions
//! that make its objects capture, and a class is a tuple of such a function and the one that sets up the table:
//!
//! ```text
//! (new, cart_init, …) ──► closure of `new` ──► class table ──► methods ◄── object
//! ```
//!
//! The compiler calls the second function of class `cart` `cart_init`, so its symbol has the class's name, with and
//! without debug information. Where several classes set up one table, or no tuple leads to it, as for immediate objects
//! and local classes, objects are named by where their methods are in the source.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::block_types::{BlockType, BlockTypes, Derivation, FieldNames};
use crate::graph::Failed;
use crate::graph::column::Place;
use crate::graph::passes::sweep;
use crate::read::{Columns, Detail, Error, Function, ObjectName, Snapshot};
use crate::units::BlockIndex;

/// From the tuple of a class to its table lead so many closures at most.
const MAX_STEPS: usize = 3;
/// So many blocks at most are looked at in a step.
const MAX_LOOKED_AT: usize = 1 << 17;
/// Fields of a class's table (`CamlinternalOO.table`), and which of them has the methods.
const TABLE_FIELDS: u64 = 8;
const METHODS_FIELD: u64 = 1;
/// So many source files at most are named.
const MAX_FILES: usize = 3;

/// What objects are.
#[derive(Debug, Default)]
pub(crate) struct ObjectTypes {
    /// Those whose class is known.
    pub(crate) by_class: BlockTypes,
    /// Others, by where their methods are.
    pub(crate) by_methods: BlockTypes,
}

impl ObjectTypes {
    /// Finds them.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub(crate) fn new(
        place: &Place,
        snapshot: &Snapshot<'_>,
        threads: usize,
    ) -> Result<Self, Failed> {
        let examples = examples(snapshot);
        if examples.is_empty() {
            return Ok(Self::default());
        }
        let tables = method_tables(snapshot, &examples)?;
        let classes = classes(snapshot, threads, &tables)?;
        let methods = methods(snapshot, &tables, &classes)?;
        Ok(Self {
            by_class: types(place, snapshot, &classes, "object of class")?,
            by_methods: types(place, snapshot, &methods, "object with methods of")?,
        })
    }
}

/// For each method table, by the number that objects' names have, an object with it.
fn examples(snapshot: &Snapshot<'_>) -> BTreeMap<u32, u32> {
    let is_object = |number: u32| {
        matches!(snapshot.objects.names.get(number as usize), Some(ObjectName::MethodsOf(_)))
    };
    let mut examples = BTreeMap::new();
    for (block, number) in snapshot.objects.blocks.from(BlockIndex(0)) {
        if is_object(number) {
            examples.entry(number).or_insert(block.0);
        }
    }
    examples
}

/// What is read of single blocks.
#[derive(Default)]
struct Blocks {
    /// What their fields point to.
    fields: HashMap<u32, Vec<(u64, u32)>, FxBuildHasher>,
    /// Tag and size.
    shapes: HashMap<u32, (u8, u64), FxBuildHasher>,
    /// Of closures, the number of the function.
    functions: HashMap<u32, u32, FxBuildHasher>,
}

impl Blocks {
    fn read(snapshot: &Snapshot<'_>, wanted: &BTreeSet<u32>) -> Result<Self, Error> {
        let mut blocks = Self::default();
        let mut columns = Columns::new();
        let mut decoded = None;
        for block in wanted.iter().copied() {
            let Some(section) = snapshot.section_of(BlockIndex(block)) else { continue };
            if decoded != Some(section) {
                snapshot.decode(section, &mut columns)?;
                decoded = Some(section);
            }
            let place = (block - columns.first.0) as usize;
            let Some(found) = columns.get(place) else { continue };
            let fields = columns.fields(place).zip(found.targets.iter().copied());
            blocks.fields.insert(block, fields.collect());
            blocks.shapes.insert(block, (found.tag, found.wosize.0));
            if let Some(function) = columns.function(place) {
                blocks.functions.insert(block, function);
            }
        }
        Ok(blocks)
    }

    fn fields(&self, block: u32) -> &[(u64, u32)] {
        self.fields.get(&block).map_or(&[], Vec::as_slice)
    }

    fn field(&self, block: u32, wanted: u64) -> Option<u32> {
        self.fields(block).iter().find(|(field, _)| *field == wanted).map(|(_, target)| *target)
    }
}

/// Method tables, by their blocks: the number that objects with it have.
fn method_tables(
    snapshot: &Snapshot<'_>,
    examples: &BTreeMap<u32, u32>,
) -> Result<BTreeMap<u32, u32>, Error> {
    let objects = Blocks::read(snapshot, &examples.values().copied().collect())?;
    let table = |(number, object): (&u32, &u32)| Some((objects.field(*object, 0)?, *number));
    Ok(examples.iter().filter_map(table).collect())
}

/// The name of the class that a function sets up: its symbol is `camlShop__cart_init_120`. Debug information has the
/// modules inside the unit, too, and calls the function `Shop.cart_init` or by its class `Shop.cart`; where the function
/// begins with one that was inlined, it has the name of that.
pub(crate) fn class_of(function: &Function) -> Option<Vec<u8>> {
    let symbol = function.symbol.strip_suffix(b"_code").unwrap_or(&function.symbol);
    let digits = symbol.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let symbol = symbol.get(..symbol.len().checked_sub(digits)?)?.strip_prefix(b"caml")?;
    let path = symbol.strip_suffix(b"_init_").filter(|path| digits > 0 && !path.is_empty())?;
    let path = String::from_utf8_lossy(path).replace("__", ".");
    let path = path.strip_prefix("Dune.exe.").unwrap_or(&path).as_bytes();
    let class = path.iter().rposition(|&byte| byte == b'.').and_then(|dot| path.get(dot..))?;
    let known = function.name.strip_suffix(b"_init").unwrap_or(&function.name);
    Some(if known.ends_with(class) { known } else { path }.to_vec())
}

/// A class as a value: the closure that makes objects, and the function that sets up its table.
type ClassTuple = (u32, u32);

/// Closures by their blocks, with the number of the function.
type Setups = HashMap<u32, u32, FxBuildHasher>;

/// All tuples that may be classes.
fn class_tuples(snapshot: &Snapshot<'_>, threads: usize) -> Result<Vec<ClassTuple>, Error> {
    let is_setup: Vec<bool> =
        snapshot.functions.iter().map(|function| class_of(function).is_some()).collect();
    if !is_setup.contains(&true) {
        return Ok(Vec::new());
    }
    let is_setup = |function: u32| is_setup.get(function as usize) == Some(&true);
    let found = sweep(snapshot, threads, Detail::Fields, Setups::default, |found, _, columns| {
        let closures = columns.functions().filter(|(_, function)| is_setup(*function));
        found.extend(closures.map(|(place, function)| (columns.first.0 + place as u32, function)));
    })?;
    let setups: Setups = found.into_iter().flatten().collect();
    let found = sweep(snapshot, threads, Detail::Fields, Vec::new, |found, _, columns| {
        for (place, block) in columns.iter().enumerate() {
            if block.tag == 0
                && matches!(block.wosize.0, 3 | 4)
                && let Some((_, setup)) =
                    block.targets.get(1).and_then(|one| setups.get_key_value(one))
                && columns.fields(place).take(2).eq([0, 1])
            {
                found.push((block.targets[0], *setup));
            }
        }
    })?;
    let mut tuples: Vec<ClassTuple> = found.into_iter().flatten().collect();
    tuples.sort_unstable();
    tuples.dedup();
    Ok(tuples)
}

/// The classes of objects, by the numbers that these have.
fn classes(
    snapshot: &Snapshot<'_>,
    threads: usize,
    tables: &BTreeMap<u32, u32>,
) -> Result<BTreeMap<u32, Vec<u8>>, Error> {
    let tuples = class_tuples(snapshot, threads)?;
    // For each number the functions that set up such a table; more than one class gives no name.
    let mut names: BTreeMap<u32, BTreeSet<Vec<u8>>> = BTreeMap::new();
    let mut at: Vec<(usize, u32)> =
        tuples.iter().map(|(closure, _)| *closure).enumerate().collect();
    let mut seen: HashSet<(usize, u32), FxBuildHasher> = at.iter().copied().collect();
    for _ in 0..=MAX_STEPS {
        let blocks = Blocks::read(snapshot, &at.iter().map(|(_, block)| *block).collect())?;
        let mut found: HashMap<usize, BTreeSet<u32>, FxBuildHasher> = HashMap::default();
        for (tuple, block) in &at {
            if blocks.shapes.get(block) == Some(&(0, TABLE_FIELDS))
                && let Some(number) =
                    blocks.field(*block, METHODS_FIELD).and_then(|to| tables.get(&to))
            {
                found.entry(*tuple).or_default().insert(*number);
            }
        }
        for (tuple, numbers) in &found {
            // Of a class that inherits, the others' tables are further away.
            if let (1, Some(number)) = (numbers.len(), numbers.first())
                && let Some(function) = snapshot.functions.get(tuples[*tuple].1 as usize)
            {
                names.entry(*number).or_default().extend(class_of(function));
            }
        }
        let mut next = Vec::new();
        for (tuple, block) in at.iter().filter(|(tuple, _)| !found.contains_key(tuple)) {
            if blocks.functions.contains_key(block) {
                let targets = blocks.fields(*block).iter().map(|(_, target)| (*tuple, *target));
                next.extend(targets.filter(|one| seen.insert(*one)));
            }
        }
        next.truncate(MAX_LOOKED_AT);
        at = next;
    }
    let only = |(number, mut names): (u32, BTreeSet<Vec<u8>>)| match names.len() {
        1 => names.pop_first().map(|name| (number, name)),
        _ => None,
    };
    Ok(names.into_iter().filter_map(only).collect())
}

/// Where the methods of objects are that have no other name: `shop.ml:29-30`.
fn methods(
    snapshot: &Snapshot<'_>,
    tables: &BTreeMap<u32, u32>,
    classes: &BTreeMap<u32, Vec<u8>>,
) -> Result<BTreeMap<u32, Vec<u8>>, Error> {
    let is_unnamed = |number: u32| match snapshot.objects.names.get(number as usize) {
        Some(ObjectName::MethodsOf(names)) => names.is_empty() && !classes.contains_key(&number),
        _ => false,
    };
    let unnamed: BTreeMap<u32, u32> = tables
        .iter()
        .map(|(table, number)| (*table, *number))
        .filter(|one| is_unnamed(one.1))
        .collect();
    let arrays = Blocks::read(snapshot, &unnamed.keys().copied().collect())?;
    let closures = unnamed.keys().flat_map(|table| arrays.fields(*table)).map(|(_, to)| *to);
    let closures = Blocks::read(snapshot, &closures.collect())?;
    let mut places = BTreeMap::new();
    for (table, number) in unnamed {
        let methods = arrays.fields(table).iter().filter_map(|(_, closure)| {
            snapshot.functions.get(*closures.functions.get(closure)? as usize)
        });
        let text = lines(methods);
        if !text.is_empty() {
            places.insert(number, text.into_bytes());
        }
    }
    Ok(places)
}

/// The lines of functions, by file.
fn lines<'f>(functions: impl Iterator<Item = &'f Function>) -> String {
    let mut files: BTreeMap<&[u8], Option<(u32, u32)>> = BTreeMap::new();
    // Methods that only read or set a field are functions of the library.
    let is_own = |function: &&Function| {
        !function.file.is_empty() && !function.file.ends_with(b"camlinternalOO.ml")
    };
    for function in functions.filter(is_own) {
        let lines = files.entry(&function.file).or_default();
        if function.line > 0 {
            let (first, last) = lines.unwrap_or((function.line, function.line));
            *lines = Some((first.min(function.line), last.max(function.line)));
        }
    }
    let more = files.len() > MAX_FILES;
    let text = |(file, lines): (&[u8], Option<(u32, u32)>)| {
        let file = String::from_utf8_lossy(file).into_owned();
        match lines {
            None => file,
            Some((first, last)) if first == last => format!("{file}:{first}"),
            Some((first, last)) => format!("{file}:{first}-{last}"),
        }
    };
    let mut texts: Vec<String> = files.into_iter().take(MAX_FILES).map(text).collect();
    if more {
        texts.push("...".to_owned());
    }
    texts.join(", ")
}

/// Types of all objects whose number has a name.
fn types(
    place: &Place,
    snapshot: &Snapshot<'_>,
    names: &BTreeMap<u32, Vec<u8>>,
    what: &str,
) -> Result<BlockTypes, Failed> {
    if names.is_empty() {
        return Ok(BlockTypes::default());
    }
    let mut types: Vec<BlockType> = Vec::new();
    let mut ids: HashMap<&[u8], u16, FxBuildHasher> = HashMap::default();
    let mut of = place.zeros::<u16>(snapshot.blocks() as usize)?;
    for (block, number) in snapshot.objects.blocks.from(BlockIndex(0)) {
        let Some(name) = names.get(&number) else { continue };
        let next = types.len() as u16 + 1;
        let id = *ids.entry(name).or_insert_with(|| {
            types.push(BlockType {
                name: format!("{what} {}", String::from_utf8_lossy(name)),
                constructor: None,
                fields: FieldNames::None,
                derivation: Derivation::Contents,
            });
            next
        });
        if let Some(of) = of.get_mut(block.0 as usize) {
            *of = id;
        }
        // As many as numbers of types there are.
        if types.len() >= usize::from(u16::MAX) - 1 {
            break;
        }
    }
    Ok(BlockTypes::from_column(of, types))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Address;

    fn function(symbol: &str, name: &str, file: &str, line: u32) -> Function {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Function {
            code: Address(0),
            is_partial: false,
            symbol: bytes(symbol),
            name: bytes(name),
            file: bytes(file),
            line,
            column: 0,
            is_start: false,
            is_of_cmt: false,
            between: None,
            is_of_class: false,
        }
    }

    #[test]
    fn the_function_that_sets_up_a_class_has_its_name() {
        let class = |symbol, name| class_of(&function(symbol, name, "", 0));
        let cart = Some(b"Shop.cart".to_vec());
        assert_eq!(class("camlShop__cart_init_120", "Shop.cart_init"), cart);
        assert_eq!(
            class("camlShop.cart_init_120", "Shop.cart"),
            cart,
            "as debug information has it"
        );
        assert_eq!(class("camlShop__cart_init_120_code", "Shop.cart_init"), cart, "with flambda");
        assert_eq!(class("camlDune__exe__Shop__cart_init_120", ""), cart, "without any");
        let inlined = class("camlShop.cart_init_120", "CamlinternalOO.get_method_labels");
        assert_eq!(inlined, cart, "not what was inlined");
        let inner = class("camlShop__cart_init_120", "Shop.Sales.cart_init");
        assert_eq!(inner, Some(b"Shop.Sales.cart".to_vec()));
        for (symbol, name) in [
            ("camlShop__cart_120", "Shop.cart"),
            ("camlShop__cart_init", "Shop.cart_init"),
            ("camlShop__fun_120", "Shop.(fun)"),
            ("cart_init_", ""),
            ("camlcart_init_3", "cart"),
            ("", ""),
        ] {
            assert_eq!(class(symbol, name), None, "{symbol}");
        }
    }

    #[test]
    fn lines_of_methods_are_one_range_a_file() {
        let of = |places: &[(&str, u32)]| {
            let functions: Vec<Function> =
                places.iter().map(|(file, line)| function("", "", file, *line)).collect();
            lines(functions.iter())
        };
        assert_eq!(of(&[("b.ml", 9), ("a.ml", 3), ("b.ml", 4), ("b.ml", 0)]), "a.ml:3, b.ml:4-9");
        assert_eq!(of(&[("a.ml", 0), ("", 3)]), "a.ml");
        assert_eq!(of(&[]), "");
        assert_eq!(of(&[("d", 1), ("c", 1), ("b", 1), ("a", 1)]), "a:1, b:1, c:1, ...");
    }
}
