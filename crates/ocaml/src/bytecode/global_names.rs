//! Names of bytecode's global variables: the linker's table of numbers (`bytecomp/symtable.ml`).

use super::marshal::{MarshalError, Value, Values};
use super::sections::SYMBOLS;

/// A global variable: a module, or a predefined exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalName {
    /// Field of the block with all global variables.
    pub index: u64,
    /// The module's name for the linker: `Stdlib__List`.
    pub name: Vec<u8>,
}

/// A map has no more entries than this.
const MAX_NODES: usize = 1 << 20;

/// Fields of a node of `Map`.
const LEFT: u32 = 0;
const KEY: u32 = 1;
const DATA: u32 = 2;
const RIGHT: u32 = 3;

/// Names in the section [`SYMBOLS`] of an executable.
pub fn of_section(section: &[u8]) -> Result<Vec<GlobalName>, MarshalError> {
    let (values, _) = Values::read(section, 0)?;
    Ok(of_table(&values, values.root()))
}

/// Names in the table of sections that `-output-complete-exe` puts into memory: pairs of a section's name and its content,
/// as a list, from 5.2 on as an array.
pub fn of_sections(table: &[u8]) -> Result<Vec<GlobalName>, MarshalError> {
    let (values, _) = Values::read(table, 0)?;
    let is_symbols = |pair: &Value| {
        let name = values.field(*pair, 0).and_then(|name| values.string(name));
        name == Some(SYMBOLS)
    };
    let fields = values.shape(values.root()).map_or(0, |(_, count)| count);
    let entries = (0..fields).filter_map(|field| values.field(values.root(), field));
    let mut list = values.root();
    let cells = std::iter::from_fn(|| {
        let head = values.field(list, 0)?;
        list = values.field(list, 1)?;
        Some(head)
    });
    let pair = entries.chain(cells.take(MAX_NODES)).find(is_symbols);
    let content = pair.and_then(|pair| values.field(pair, 1));
    Ok(content.map_or_else(Vec::new, |content| of_table(&values, content)))
}

/// The names of a `{ cnt; tbl }`.
fn of_table(values: &Values<'_>, table: Value) -> Vec<GlobalName> {
    let mut names = Vec::new();
    let mut todo: Vec<Value> = values.field(table, 1).into_iter().collect();
    for _ in 0..MAX_NODES {
        let Some(node) = todo.pop() else { break };
        let field = |index| values.field(node, index);
        todo.extend([field(LEFT), field(RIGHT)].into_iter().flatten());
        // Until 5.1 the key is an identifier, later a unit or an exception: the name is the first field of each.
        let name = field(KEY).and_then(|key| values.string(values.field(key, 0)?));
        if let (Some(name), Some(Value::Integer(index))) = (name, field(DATA))
            && let Ok(index) = u64::try_from(index)
        {
            names.push(GlobalName { index, name: name.to_vec() });
        }
    }
    names.sort_by_key(|name| name.index);
    names
}
