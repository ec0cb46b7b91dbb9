//! Functions of closures: symbol, name, and where they are in the source.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Range;

use memtrail_heap::write::Function;
use memtrail_ocaml::Memory as _;
use memtrail_ocaml::functions::{FunctionCode, locate};
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::image::Line;
use memtrail_ocaml::names;

use super::mapped::file_name;
use super::object_files::ObjectFiles;
use super::view::ForkedView;

const MAX_NAME_LEN: usize = 512;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// Calls `each` with the functions that begin at `codes`, in their order.
pub(super) fn each(view: &ForkedView<'_>, codes: &[u64], each: &mut dyn FnMut(&Function)) {
    let mut starts: Vec<u64> = codes.iter().copied().filter(|code| *code != 0).collect();
    starts.sort_unstable();
    starts.dedup();
    let symbols = starts.iter().map(|start| view.symbols.function_at(*start));
    let (symbols, mut found): (Vec<Option<&Symbol>>, Vec<FunctionCode>) = starts
        .iter()
        .zip(symbols)
        .map(|(start, (symbol, end))| (symbol, FunctionCode::new(*start, end)))
        .unzip();
    if let Some(table) = view.target.frame_table() {
        locate(&view.memory, view.target.runtime.layout.packing, table, &mut found);
    }
    let mut named: Vec<Function> = symbols
        .into_iter()
        .zip(&found)
        .map(|(symbol, code)| by_descriptors(view, symbol, code))
        .collect();
    let extents: Vec<Range<u64>> = found.iter().map(|one| one.start..one.end).collect();
    ObjectFiles::of_this_process().lines(&extents, |place, is_first, line| {
        if let Some(function) = named.get_mut(place) {
            add_line(function, is_first, &line);
        }
    });
    named.iter_mut().for_each(by_symbol);
    same_files(&mut named);
    named.iter_mut().for_each(add_name);
    for code in codes {
        let place = found.binary_search_by_key(code, |function| function.start);
        match place.ok().and_then(|place| named.get(place)) {
            Some(function) => each(function),
            None => each(&Function::default()),
        }
    }
}

/// What a function's symbol and the frame descriptors of its code tell.
fn by_descriptors(view: &ForkedView<'_>, symbol: Option<&Symbol>, code: &FunctionCode) -> Function {
    let memory = &view.memory;
    let mut function = Function::default();
    let (mut linked, mut text) = ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
    let symbol = symbol.and_then(|symbol| memory.c_string(symbol.name, &mut linked));
    function.symbol.extend_from_slice(symbol.unwrap_or_default());
    if let Some(place) = code.place {
        let file = memory.c_string(place.file, &mut text).unwrap_or_default();
        function.file.extend_from_slice(file);
        (function.line, function.column) = (place.line, place.start_column);
        let linked = memory.c_string(place.function, &mut linked).unwrap_or_default();
        function.name.extend_from_slice(names::write_name(linked, &mut text));
    }
    function
}

/// What a debugger's table says: the line of the function's first byte is its own, those of the rest of its code
/// are no less. Its file may be given in another way than the compiler was given it, which callstacks have.
fn add_line(function: &mut Function, is_first: bool, line: &Line<'_>) {
    if line.line == 0 {
        return;
    }
    if function.file.is_empty() {
        function.file.extend_from_slice(line.folder);
        if !line.folder.is_empty() {
            function.file.push(b'/');
        }
        function.file.extend_from_slice(line.file);
    } else if file_name(&function.file) != file_name(line.file) {
        // Another file's code that was inlined.
        return;
    }
    let place = (line.line, line.column);
    if is_first || function.line == 0 || place < (function.line, function.column) {
        (function.line, function.column) = place;
    }
}

/// Symbols of anonymous functions have their place from OCaml 5.4 on.
fn by_symbol(function: &mut Function) {
    let mut text = [0; MAX_NAME_LEN];
    if function.line == 0
        && let Some(place) = names::anonymous_place(&function.symbol, &mut text)
    {
        if function.file.is_empty() {
            function.file.extend_from_slice(place.file);
        }
        if file_name(&function.file) == file_name(place.file) {
            (function.line, function.column) = (place.line, place.column);
        }
    }
}

/// Functions without calls and allocations have no descriptors. Their file is that of the others of
/// their unit: the one that is called as the unit, or most of them.
fn same_files(functions: &mut [Function]) {
    let mut files: HashMap<Vec<u8>, HashMap<Vec<u8>, usize, Hasher>, Hasher> = HashMap::default();
    for function in functions.iter().filter(|function| !function.file.is_empty()) {
        if let Some((unit, _)) = names::split_symbol(&function.symbol) {
            let of_unit = files.entry(unit.to_vec()).or_default();
            *of_unit.entry(function.file.clone()).or_default() += 1;
        }
    }
    let file_of = |unit: &[u8]| {
        let named = |file: &[u8]| {
            let stem = file_name(file).split(|&byte| byte == b'.').next().unwrap_or_default();
            unit.len() >= stem.len() && unit[unit.len() - stem.len()..].eq_ignore_ascii_case(stem)
        };
        let best =
            files.get(unit)?.iter().max_by_key(|(file, count)| (named(file), **count, *file));
        best.map(|(file, _)| file.clone())
    };
    for function in functions.iter_mut().filter(|function| function.file.is_empty()) {
        let unit = names::split_symbol(&function.symbol).map(|(unit, _)| unit);
        if let Some(file) = unit.and_then(file_of) {
            function.file = file;
        }
    }
}

/// A name from the symbol, where debug information has none that is as exact.
fn add_name(function: &mut Function) {
    let mut text = [0; MAX_NAME_LEN];
    // Without a line, what distinguishes anonymous functions is in their symbols alone.
    let keep_stamp = function.line == 0;
    let Some(linked) = names::function(&function.symbol, keep_stamp, &mut text) else {
        if function.name.is_empty() {
            function.name = function.symbol.clone();
        }
        return;
    };
    // Of some functions debug information has only the module they are in.
    let is_module = linked
        .strip_prefix(function.name.as_slice())
        .is_some_and(|rest| rest.first() == Some(&b'.'));
    if function.name.is_empty() || is_module {
        function.name = linked.to_vec();
    }
}
