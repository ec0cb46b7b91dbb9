//! Functions that the compiler made itself, or of which it knows no place: what they are for, by what their code calls and
//! by which function makes their closures. Those of classes are in the lines of the class's methods; a function that
//! takes a tuple apart is at the place of the one that it calls; a function around an `external` has the name of that.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::Between;
use memtrail_heap::write::Function;
use memtrail_ocaml::block::{tag, tag_of};
use memtrail_ocaml::class_functions::{
    Calls, ClassFunction, Function as UnitFunction, Role, class_functions,
};
use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::names;

use super::descriptors::Described;
use super::frozen::{StoppedProcess, View};
use super::linked_references::{self, Target};
use super::mapped::Mapped;
use super::neighbours::{self, Units};

const MAX_NAME_LEN: usize = 512;
/// Longer code is not looked at; no function that is compiled has as much.
const MAX_CODE_LEN: u64 = 1 << 24;
/// A function around an `external` passes its arguments on, and does nothing else.
const MAX_WRAPPER_LEN: usize = 192;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// What the code of a unit's function refers to.
#[derive(Default)]
struct Referred {
    /// Functions of the unit whose closures it makes or uses, by their places.
    closures: BTreeSet<usize>,
    /// Functions of the unit that it calls or jumps to.
    calls: BTreeSet<usize>,
    /// What it calls of other units.
    class_calls: Calls,
}

/// Adds places and names to those of `functions` that have no lines; they are in the order of their code.
pub(super) fn add(
    view: &View<'_, impl StoppedProcess>,
    functions: &mut [Described],
    units: &Units,
) {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let mut data: Vec<Extent> = view.symbols.data().collect();
    data.sort_unstable_by_key(|extent| extent.start);
    let mapped = &view.mapped;
    for extent in &units.extents {
        let unit = units.functions.get(extent.clone()).unwrap_or_default();
        let unplaced = unplaced(functions, unit);
        if unplaced.is_empty() {
            continue;
        }
        let referred: Vec<Referred> =
            unit.iter().map(|one| referred(view, mapped, &data, unit, one)).collect();
        let creators = creators(&referred);
        let of_unit: Vec<UnitFunction<'_>> = unit
            .iter()
            .zip(&referred)
            .zip(creators)
            .map(|((one, referred), creator)| UnitFunction {
                symbol: &one.function.symbol,
                lines: neighbours::lines(one),
                calls: referred.class_calls,
                creator,
            })
            .collect();
        let of_classes = class_functions(&of_unit);
        let by_name = by_name(unit);
        for (place, at) in unplaced {
            let called = referred.get(at).and_then(|one| only(&one.calls));
            let callee = called.or_else(|| second_of_two(unit, &by_name, at));
            let callee = callee.and_then(|callee| unit.get(callee)).map(|callee| {
                // What debuggers' tables tell is known of functions with closures only.
                let known =
                    functions.binary_search_by_key(&callee.code.start, |one| one.code.start);
                known.ok().and_then(|known| functions.get(known)).unwrap_or(callee).function.clone()
            });
            let (Some(one), Some(found)) = (unit.get(at), functions.get_mut(place)) else {
                continue;
            };
            let function = &mut found.function;
            if let Some(class) = of_classes.get(at).and_then(Option::as_ref) {
                add_class(function, class);
            } else if let Some(callee) = callee.filter(|callee| is_same_value(function, callee)) {
                add_place_of(function, &callee);
            } else {
                add_external(view, mapped, function, one);
            }
        }
    }
    keep_apart(functions);
}

/// The functions of a unit that have neither a line nor lines between which they begin: their places among
/// `functions`, and in the unit.
fn unplaced(functions: &[Described], unit: &[Described]) -> Vec<(usize, usize)> {
    let place = |(at, one): (usize, &Described)| {
        let place = functions.binary_search_by_key(&one.code.start, |one| one.code.start).ok()?;
        let function = &functions.get(place)?.function;
        (function.line == 0 && function.between.is_none()).then_some((place, at))
    };
    unit.iter().enumerate().filter_map(place).collect()
}

/// The code of a function.
fn code_of<'v>(view: &'v View<'_, impl StoppedProcess>, one: &Described) -> &'v [u8] {
    // Symbols say that the function is there, and ends there or where the next one begins; the code of a unit is in one
    // piece.
    let length = one.code.end.saturating_sub(one.code.start);
    if length > MAX_CODE_LEN {
        return &[];
    }
    view.memory.slice(one.code.start, length).unwrap_or_default()
}

/// What the code of `one` refers to among the functions of its unit, which are in order.
fn referred(
    view: &View<'_, impl StoppedProcess>,
    mapped: &Mapped,
    data: &[Extent],
    unit: &[Described],
    one: &Described,
) -> Referred {
    let function_at = |code: u64| unit.binary_search_by_key(&code, |one| one.code.start).ok();
    let mut referred = Referred::default();
    let mut text = [0; MAX_NAME_LEN];
    linked_references::each(
        view,
        mapped,
        code_of(view, one),
        one.code.start,
        |target| match target {
            Target::Address(address) => {
                let function = function_at(address).or_else(|| {
                    codes_of_static(view, data, address).into_iter().flatten().find_map(function_at)
                });
                referred.closures.extend(function);
            }
            Target::Call(code) => {
                let callee = function_at(code);
                referred.calls.extend(callee.filter(|_| code != one.code.start));
                let symbol = view.symbols.at(code).filter(|symbol| symbol.address == code);
                let name = symbol.and_then(|symbol| view.memory.c_string(symbol.name, &mut text));
                referred.class_calls.add(name.unwrap_or_default());
            }
        },
    );
    referred
}

/// What may be the code of a closure that is static data at `address`: that of one argument, or of several.
fn codes_of_static(
    view: &View<'_, impl StoppedProcess>,
    data: &[Extent],
    address: u64,
) -> Option<[u64; 2]> {
    let next = data.partition_point(|extent| extent.start <= address);
    let extent = data.get(next.checked_sub(1)?)?;
    let is_inside = address.is_multiple_of(8)
        && extent.contains(address.checked_sub(8)?)
        && extent.contains(address.checked_add(23)?);
    if !is_inside || !matches!(tag_of(view.memory.u64(address - 8)?), tag::CLOSURE | tag::INFIX) {
        return None;
    }
    Some([view.memory.u64(address)?, view.memory.u64(address + 16)?])
}

/// For each function the one whose code makes its closure, if there is only one.
fn creators(referred: &[Referred]) -> Vec<Option<usize>> {
    let mut creators: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); referred.len()];
    for (creator, one) in referred.iter().enumerate() {
        for closure in one.closures.iter().filter(|closure| **closure != creator) {
            if let Some(of) = creators.get_mut(*closure) {
                of.insert(creator);
            }
        }
    }
    creators.iter().map(only).collect()
}

fn only(places: &BTreeSet<usize>) -> Option<usize> {
    match (places.len(), places.first()) {
        (1, Some(place)) => Some(*place),
        _ => None,
    }
}

fn value(function: &Function) -> &[u8] {
    names::split_symbol(&function.symbol).map_or(&[], |(_, value)| value)
}

/// A function of a class is in the lines of that.
fn add_class(function: &mut Function, class: &ClassFunction<'_>) {
    if let Some((file, first, last)) = class.place {
        function.file.clear();
        function.file.extend_from_slice(file);
        function.between = Some(Between { first, last: Some(last) });
        function.is_of_class = true;
    }
    if class.class.is_empty() || !names::is_anonymous(value(function)) {
        return;
    }
    function.name.clone_from(&class.class);
    match class.role {
        Role::ClassInitializer => function.name.extend_from_slice(b".(class initializer)"),
        Role::ObjectInitializer => function.name.extend_from_slice(b".(object initializer)"),
        Role::Method => {
            function.name.push(b'#');
            function.name.extend_from_slice(own_number(function).as_bytes());
        }
    }
}

/// What distinguishes anonymous functions that have no line: `(fun 123)`.
fn own_number(function: &Function) -> String {
    let mut text = [0; MAX_NAME_LEN];
    let name = names::function(&function.symbol, true, &mut text).unwrap_or_default();
    let own = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    String::from_utf8_lossy(own).into_owned()
}

/// Whether two functions have the same name in the source. With flambda, one that takes a tuple is two: the first takes
/// the tuple apart and has no place, the second has the code.
fn is_same_value(function: &Function, callee: &Function) -> bool {
    let value = value(function);
    !value.is_empty()
        && !names::is_anonymous(value)
        && value == self::value(callee)
        && callee.line > 0
}

/// The places of a unit's functions by their names in the source.
fn by_name(unit: &[Described]) -> HashMap<&[u8], Vec<usize>, Hasher> {
    let mut places: HashMap<&[u8], Vec<usize>, Hasher> = HashMap::default();
    for (at, one) in unit.iter().enumerate() {
        let name = value(&one.function);
        if !name.is_empty() {
            places.entry(name).or_default().push(at);
        }
    }
    places
}

/// The other one of the only two functions of a unit that have the same name, if it was made later. The code of small
/// ones is a part of those that call them.
fn second_of_two(
    unit: &[Described],
    by_name: &HashMap<&[u8], Vec<usize>, Hasher>,
    at: usize,
) -> Option<usize> {
    let function = &unit.get(at)?.function;
    let &[one, two] = by_name.get(value(function))?.as_slice() else { return None };
    let other = if one == at { two } else { one };
    let is_later =
        names::stamp(&unit.get(other)?.function.symbol)? > names::stamp(&function.symbol)?;
    is_later.then_some(other)
}

fn add_place_of(function: &mut Function, callee: &Function) {
    function.file.clone_from(&callee.file);
    (function.line, function.column) = (callee.line, callee.column);
    function.is_start = callee.is_start;
}

/// A module that exports an `external` as a value has a function around it, which calls that and nothing else.
fn add_external(
    view: &View<'_, impl StoppedProcess>,
    mapped: &Mapped,
    function: &mut Function,
    one: &Described,
) {
    let code = code_of(view, one);
    if code.len() > MAX_WRAPPER_LEN || !names::is_anonymous(value(function)) {
        return;
    }
    let (mut called, mut addresses) = (BTreeSet::new(), BTreeSet::new());
    let mut has_c_call = false;
    let mut text = [0; MAX_NAME_LEN];
    linked_references::each(view, mapped, code, one.code.start, |target| {
        let (Target::Address(address) | Target::Call(address)) = target;
        let symbol = view.symbols.at(address).filter(|symbol| symbol.address == address);
        let name = symbol.and_then(|symbol| view.memory.c_string(symbol.name, &mut text));
        let Some(name) = name else { return };
        if names::is_c_call(name) {
            has_c_call = true;
        } else if !names::is_code_support(name) {
            let of = if matches!(target, Target::Call(_)) { &mut called } else { &mut addresses };
            of.insert(name.to_vec());
        }
    });
    if has_c_call {
        called.append(&mut addresses);
    }
    let mut unit = [0; MAX_NAME_LEN];
    let (1, Some(name)) = (called.len(), called.first()) else { return };
    let Some((of, _)) = names::split_symbol(&function.symbol) else { return };
    if names::is_c_function(name) {
        function.name = [names::write_name(of, &mut unit), b".(external ", name, b")"].concat();
    }
}

/// Functions with the same name and no line of their own are distinguished by the number of their symbol.
fn keep_apart(functions: &mut [Described]) {
    let is_one =
        |one: &&Described| one.function.name.ends_with(b" initializer)") && one.function.line == 0;
    let mut count: HashMap<Vec<u8>, usize, Hasher> = HashMap::default();
    for one in functions.iter().filter(is_one) {
        *count.entry(one.function.name.clone()).or_default() += 1;
    }
    for one in functions.iter_mut().filter(|one| is_one(&&**one)) {
        let function = &mut one.function;
        if count.get(&function.name).is_some_and(|count| *count > 1) {
            let number = own_number(function);
            let number = number.trim_start_matches("(fun");
            function.name.pop();
            function.name.extend_from_slice(number.as_bytes());
        }
    }
}
