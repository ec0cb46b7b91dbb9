//! Functions of closures: symbol, name, and where they are in the source.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Range;

use memtrail_heap::write::Function;
use memtrail_ocaml::image::Line;
use memtrail_ocaml::names;
use memtrail_ocaml::own_name::Origin;

use super::compiler_made;
use super::descriptors::{Described, by_descriptors};
use super::frozen::{StoppedProcess, View};
use super::mapped::file_name;
use super::neighbours;
use super::object_files::ObjectFiles;

const MAX_NAME_LEN: usize = 512;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// Calls `each` with the functions that begin at `codes`, in their order.
pub(super) fn each(
    view: &View<'_, impl StoppedProcess>,
    codes: &[u64],
    each: &mut dyn FnMut(&Function),
) {
    let mut starts: Vec<u64> = codes.iter().copied().filter(|code| *code != 0).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut found = by_descriptors(view, &starts);
    let mut object_files = ObjectFiles::new(view);
    add_lines(&mut object_files, &mut found);
    found.iter_mut().for_each(Described::by_symbol);
    let mut of_units = neighbours::add_lines(view, &mut found);
    if found.iter().any(is_unplaced_value) {
        // A function that takes a tuple apart, which flambda makes, calls the one that has a line.
        add_lines(&mut object_files, &mut of_units.functions);
    }
    same_files(&mut found, &of_units.functions);
    compiler_made::add(view, &mut found, &of_units);
    for one in &mut found {
        add_name(&mut one.function);
    }
    for code in codes {
        let place = found.binary_search_by_key(code, |one| one.code.start);
        match place.ok().and_then(|place| found.get(place)) {
            Some(one) => each(&one.function),
            None => each(&Function::default()),
        }
    }
}

/// Adds what debuggers' tables say of functions, which are in the order of their code.
fn add_lines(object_files: &mut ObjectFiles<'_, impl StoppedProcess>, functions: &mut [Described]) {
    let extents: Vec<Range<u64>> =
        functions.iter().map(|one| one.code.start..one.code.end).collect();
    object_files.lines(&extents, |place, is_first, line| {
        // Lines behind the first byte may be those of a function above that was inlined, unlike those of descriptors.
        if let Some(one) =
            functions.get_mut(place).filter(|one| is_first || one.code.place.is_none())
        {
            add_line(&mut one.function, is_first, &line);
        }
    });
}

/// Whether a function has a name in the source, and no place.
fn is_unplaced_value(one: &Described) -> bool {
    let function = &one.function;
    let value = names::split_symbol(&function.symbol).map_or(&b""[..], |(_, value)| value);
    let has_name = !value.is_empty() && !names::is_anonymous(value);
    has_name && function.line == 0 && function.between.is_none()
}

/// What a debugger's table says: the line of the function's first byte is its own, those of the rest of its code
/// are no less, where nothing was inlined. Its file may be given in another way than the compiler was given it, which
/// callstacks have.
fn add_line(function: &mut Function, is_first: bool, line: &Line<'_>) {
    if line.line == 0 {
        return;
    }
    if function.file.is_empty() {
        // Where the function has no line itself, its code may be another file's that was inlined.
        if !is_first && !is_called_as_unit(&function.symbol, line.file) {
            return;
        }
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
        function.is_start = is_first;
    }
}

/// Whether a file is called as the unit of a symbol.
fn is_called_as_unit(symbol: &[u8], file: &[u8]) -> bool {
    names::split_symbol(symbol).is_some_and(|(unit, _)| is_file_of(unit, file))
}

/// Whether a file is called as a unit, or as the last part of its name.
fn is_file_of(unit: &[u8], file: &[u8]) -> bool {
    let stem = file_name(file).split(|&byte| byte == b'.').next().unwrap_or_default();
    let behind = unit.len().checked_sub(stem.len()).and_then(|start| unit.get(start..));
    !stem.is_empty() && behind.is_some_and(|end| end.eq_ignore_ascii_case(stem))
}

/// Functions without calls and allocations have no descriptors. Their file is that of the others of
/// their unit, those without closures included: the one that is called as the unit, or most of them.
fn same_files(functions: &mut [Described], of_units: &[Described]) {
    let mut files: HashMap<Vec<u8>, HashMap<Vec<u8>, usize, Hasher>, Hasher> = HashMap::default();
    let all = functions.iter().chain(of_units);
    let own = all.filter(|one| one.code.origin != Origin::Copied).map(|one| &one.function);
    for function in own.filter(|function| !function.file.is_empty()) {
        if let Some((unit, _)) = names::split_symbol(&function.symbol) {
            let of_unit = files.entry(unit.to_vec()).or_default();
            *of_unit.entry(function.file.clone()).or_default() += 1;
        }
    }
    let file_of = |unit: &[u8]| {
        let named = |file: &[u8]| is_file_of(unit, file);
        let best =
            files.get(unit)?.iter().max_by_key(|(file, count)| (named(file), **count, *file));
        best.map(|(file, _)| file.clone())
    };
    let own = functions.iter_mut().map(|one| &mut one.function);
    for function in own.filter(|function| function.file.is_empty()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(symbol: &str, is_first: bool, file: &str) -> (String, u32) {
        let mut function = Function { symbol: symbol.as_bytes().to_vec(), ..Function::default() };
        let line = Line { folder: b"", file: file.as_bytes(), line: 84, column: 0 };
        add_line(&mut function, is_first, &line);
        (String::from_utf8(function.file).unwrap(), function.line)
    }

    /// `Ppxlib.Ast_traverse0.(fun 537)` was shown in `camlinternalOO.ml`: another function of its unit has no line of its
    /// own, and lines of what was inlined.
    #[test]
    fn files_of_inlined_code_are_not_those_of_functions_without_a_line() {
        let symbol = "camlPpxlib__Ast_traverse0.map_init_492";
        assert_eq!(placed(symbol, false, "camlinternalOO.ml"), (String::new(), 0));
        let own = "src/ast_traverse0.ml";
        assert_eq!(placed(symbol, false, own), (own.to_owned(), 84));
        // Lines of functions of generated files may be those of another file.
        assert_eq!(placed(symbol, true, "src/ast.mll"), ("src/ast.mll".to_owned(), 84));
    }
}
