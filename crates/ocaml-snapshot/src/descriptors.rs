//! What symbols and frame descriptors tell of functions.

use memtrail_heap::write::Function;
use memtrail_ocaml::debuginfo::RawLocation;
use memtrail_ocaml::functions::{FunctionCode, locate};
use memtrail_ocaml::names;
use memtrail_ocaml::own_name::{Origin, own_name};

use super::frozen::{StoppedProcess, View};
use super::mapped::file_name;

const MAX_NAME_LEN: usize = 512;
/// The file of code that has no place in the source.
const NO_FILE: &[u8] = b"_none_";

/// A function, and where its code is.
pub(super) struct Described {
    pub(super) function: Function,
    pub(super) code: FunctionCode,
}

/// What symbols and frame descriptors tell of the functions that begin at `starts`, which are in order.
pub(super) fn by_descriptors(
    view: &View<'_, impl StoppedProcess>,
    starts: &[u64],
) -> Vec<Described> {
    let memory = &view.memory;
    let mut symbols: Vec<Vec<u8>> = Vec::with_capacity(starts.len());
    let mut found: Vec<FunctionCode> = Vec::with_capacity(starts.len());
    let mut text = [0; MAX_NAME_LEN];
    for start in starts {
        let (symbol, end) = view.symbols.function_at(*start);
        let symbol = symbol.and_then(|symbol| memory.c_string(symbol.name, &mut text));
        symbols.push(symbol.unwrap_or_default().to_vec());
        found.push(FunctionCode::new(*start, end));
    }
    if let Some(table) = view.frame_table {
        let origin = |function: usize, place: &RawLocation| {
            let file = memory.c_string(place.file, &mut text).unwrap_or_default();
            if file == NO_FILE {
                return Origin::Other;
            }
            let name = memory.c_string(place.function, &mut text).unwrap_or_default();
            let symbol = symbols.get(function).map(Vec::as_slice).unwrap_or_default();
            own_name(symbol, name).0
        };
        locate(&view.memory, view.layout.packing, table, &mut found, origin);
    }
    let functions = symbols.into_iter().zip(&found);
    let functions = functions.map(|(symbol, code)| described(view, symbol, code));
    functions.collect()
}

/// A function by its symbol and the first place that frame descriptors have.
fn described(
    view: &View<'_, impl StoppedProcess>,
    symbol: Vec<u8>,
    code: &FunctionCode,
) -> Described {
    let memory = &view.memory;
    let mut function = Function { symbol, ..Function::default() };
    if let Some(place) = code.place {
        let (mut linked, mut text) = ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
        let file = memory.c_string(place.file, &mut text).unwrap_or_default();
        function.file.extend_from_slice(file);
        (function.line, function.column) = (place.line, place.start_column);
        let linked = memory.c_string(place.function, &mut linked).unwrap_or_default();
        let (_, own) = own_name(&function.symbol, linked);
        function.name.extend_from_slice(names::write_name(own, &mut text));
    }
    Described { function, code: *code }
}

impl Described {
    /// With flambda, symbols of anonymous functions have the place where they begin.
    pub(super) fn by_symbol(&mut self) {
        let function = &mut self.function;
        let mut text = [0; MAX_NAME_LEN];
        let Some(place) = names::anonymous_place(&function.symbol, &mut text) else { return };
        if function.file.is_empty() {
            function.file.extend_from_slice(place.file);
        }
        if file_name(&function.file) == file_name(place.file) {
            (function.line, function.column) = (place.line, place.column);
            function.is_start = true;
        }
    }
}
