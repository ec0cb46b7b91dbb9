//! What functions are that the compiler makes of a class (`lambda/translclass.ml`), and where that class is.
//!
//! A class becomes a function that sets up its table of methods; it calls `CamlinternalOO` and makes the closures of all
//! methods, and of the function that makes objects. All of them have no place in debug information, methods neither: of
//! these the calls and allocations inside have lines, and names such as `Shop.cart#total`. Which function makes the closure of
//! which is known by its code. So functions that are made where methods of `Shop.cart` are made belong to that class, and are
//! in the lines that these methods have.

use std::collections::{BTreeMap, BTreeSet};

use crate::names;
use crate::neighbours::Lines;

/// Functions of `CamlinternalOO` that only the set-up of a class calls, and those that these call, where they were
/// inlined. With flambda, units have copies of them.
const SETS_UP: [&[u8]; 15] = [
    b"get_method_labels",
    b"get_method_label",
    b"new_methods_variables",
    b"new_variable",
    b"new_variables",
    b"new_method",
    b"set_method",
    b"set_methods",
    b"get_method",
    b"add_initializer",
    b"inherits",
    b"narrow",
    b"widen",
    b"new_slot",
    b"resize",
];
/// Those that only functions which make objects call.
const MAKES_OBJECTS: [&[u8]; 5] = [
    b"create_object_opt",
    b"create_object_and_run_initializers",
    b"run_initializers_opt",
    b"run_initializers",
    b"iter_f",
];

/// What a function calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Functions that only the set-up of a class calls.
    pub sets_up_class: bool,
    /// Functions that only those call that make objects.
    pub makes_objects: bool,
}

impl Calls {
    /// Adds a call of the function with this symbol.
    pub fn add(&mut self, symbol: &[u8]) {
        let Some((unit, value)) = names::split_symbol(symbol) else { return };
        // Other functions are called `resize`, too; copies are those of functions that are called directly.
        let may_be_other = matches!(value, b"resize" | b"new_slot" | b"widen" | b"iter_f");
        if unit == b"CamlinternalOO" || !may_be_other {
            self.sets_up_class |= SETS_UP.contains(&value);
            self.makes_objects |= MAKES_OBJECTS.contains(&value);
        }
    }
}

/// A function of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Its symbol.
    pub symbol: &'a [u8],
    /// Its lines, if debug information has any.
    pub lines: Option<Lines<'a>>,
    /// What it calls.
    pub calls: Calls,
    /// The one function whose code makes its closure, by its place in the unit.
    pub creator: Option<usize>,
}

/// What a function does for its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sets up the class's table.
    ClassInitializer,
    /// It makes objects, or sets their fields.
    ObjectInitializer,
    /// It is a method, or another function of the class's.
    Method,
}

/// A function that the compiler made of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassFunction<'a> {
    /// The class: `Shop.cart`. Empty if its name is unknown.
    pub class: Vec<u8>,
    /// What it does.
    pub role: Role,
    /// The class's file, and the first and the last line that methods of it have; none if no method has a line.
    pub place: Option<(&'a [u8], u32, u32)>,
}

/// Longer symbols are cut.
const MAX_NAME_LEN: usize = 512;
/// Functions are inside each other so deep at most.
const MAX_DEPTH: usize = 8;

/// A class, as the methods tell that are made where it is set up.
#[derive(Clone, Debug, Default)]
struct Class<'a> {
    name: Vec<u8>,
    place: Option<(&'a [u8], u32, u32)>,
}

/// For each function of a unit that has no lines, what it is for its class; `None` if it is for none.
pub fn class_functions<'a>(unit: &[Function<'a>]) -> Vec<Option<ClassFunction<'a>>> {
    let mut made: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, one) in unit.iter().enumerate() {
        if let Some(creator) = one.creator {
            made.entry(creator).or_default().push(at);
        }
    }
    let class = |at: usize| {
        let one = unit.get(at).filter(|one| is_set_up(one))?;
        Some(class_of(one, unit, made.get(&at).map_or(&[][..], Vec::as_slice)))
    };
    let classes: Vec<Option<Class<'_>>> = (0..unit.len()).map(class).collect();
    let of = |at: usize| {
        let one = unit.get(at).filter(|one| one.lines.is_none())?;
        let mut role = if one.calls.makes_objects { Role::ObjectInitializer } else { Role::Method };
        let mut around = at;
        for depth in 0..MAX_DEPTH {
            if let Some(class) = classes.get(around)?.as_ref() {
                if depth == 0 {
                    role = Role::ClassInitializer;
                }
                return Some(ClassFunction { class: class.name.clone(), role, place: class.place });
            }
            around = unit.get(around)?.creator?;
        }
        None
    };
    (0..unit.len()).map(of).collect()
}

/// Whether a function sets up a class, and nothing else: where a module or a function does so among other things, as
/// for immediate objects, it has lines or is the unit's own.
fn is_set_up(one: &Function<'_>) -> bool {
    let value = names::split_symbol(one.symbol).map_or(&b""[..], |(_, value)| value);
    let may_be = names::is_anonymous(value) || value.ends_with(b"_init");
    one.calls.sets_up_class && may_be && one.lines.is_none()
}

/// The class that a function sets up, by the functions that it makes, and by its symbol: that of `cart` is `cart_init`.
fn class_of<'a>(one: &Function<'a>, unit: &[Function<'a>], made: &[usize]) -> Class<'a> {
    let mut text = [0; MAX_NAME_LEN];
    let linked = names::function(one.symbol, false, &mut text).unwrap_or_default();
    let from_symbol = linked.strip_suffix(b"_init").unwrap_or_default();
    // Functions that were generated at one place may have each other's names, but not other lines.
    let mut classes: BTreeSet<&[u8]> = BTreeSet::new();
    let mut place: Option<(&[u8], u32, u32)> = None;
    for lines in made.iter().filter_map(|at| unit.get(*at)?.lines) {
        let Some(end) = lines.name.iter().position(|byte| *byte == b'#') else { continue };
        classes.extend(lines.name.get(..end));
        let (file, first, last) = place.get_or_insert((lines.file, lines.first, lines.last));
        if *file == lines.file {
            (*first, *last) = ((*first).min(lines.first), (*last).max(lines.last));
        }
    }
    let last = |path: &[u8]| path.rsplit(|byte| *byte == b'.').next().map(<[u8]>::to_vec);
    if !from_symbol.is_empty() {
        classes.retain(|class| last(class) == last(from_symbol));
    }
    let only = classes.first().filter(|_| classes.len() == 1);
    Class { name: only.copied().unwrap_or(from_symbol).to_vec(), place }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"shop.ml";

    fn function(symbol: &'static str, creator: Option<usize>) -> Function<'static> {
        Function { symbol: symbol.as_bytes(), lines: None, calls: Calls::default(), creator }
    }

    fn method(name: &'static str, lines: (u32, u32), creator: usize) -> Function<'static> {
        let (first, last) = lines;
        let lines = Lines { file: FILE, name: name.as_bytes(), first, last, is_start: false };
        Function { lines: Some(lines), ..function("camlShop__fun_7", Some(creator)) }
    }

    fn calls(one: Function<'static>, symbol: &str) -> Function<'static> {
        let mut one = one;
        one.calls.add(symbol.as_bytes());
        one
    }

    fn set_up(symbol: &'static str) -> Function<'static> {
        calls(function(symbol, None), "camlCamlinternalOO__get_method_labels_956")
    }

    /// The class, what the function does for it, and the class's lines.
    type Found = (String, Role, Option<(u32, u32)>);

    fn found(unit: &[Function<'static>]) -> Vec<Option<Found>> {
        let one = |one: ClassFunction<'_>| {
            let place = one.place.map(|(file, first, last)| {
                assert_eq!(file, FILE);
                (first, last)
            });
            (String::from_utf8(one.class).unwrap(), one.role, place)
        };
        class_functions(unit).into_iter().map(|found| found.map(one)).collect()
    }

    #[test]
    fn functions_of_a_class_are_in_the_lines_of_its_methods() {
        let new = calls(
            function("camlShop__fun_12", Some(0)),
            "camlCamlinternalOO.create_object_opt_1156",
        );
        let unit = [
            set_up("camlShop__cart_init_3"),
            method("Shop.Stock.cart#total", (20, 24), 0),
            method("Shop.Stock.cart#add.(fun)", (30, 31), 0),
            function("camlShop__fun_11", Some(0)),
            new,
            function("camlShop__fun_13", Some(4)),
            function("camlShop__add_14", None),
        ];
        let name = || "Shop.Stock.cart".to_owned();
        let lines = Some((20, 31));
        assert_eq!(
            found(&unit),
            [
                Some((name(), Role::ClassInitializer, lines)),
                None,
                None,
                Some((name(), Role::Method, lines)),
                Some((name(), Role::ObjectInitializer, lines)),
                Some((name(), Role::Method, lines)),
                None,
            ]
        );
    }

    /// A virtual class is set up by a function without a name.
    #[test]
    fn a_class_without_a_symbol_is_named_by_its_methods() {
        let unit = [set_up("camlShop__fun_3"), method("Shop.cart#total", (20, 24), 0)];
        assert_eq!(
            found(&unit)[0],
            Some(("Shop.cart".to_owned(), Role::ClassInitializer, Some((20, 24))))
        );
        let two = [unit[0], unit[1], method("Shop.basket#total", (50, 54), 0)];
        assert_eq!(found(&two)[0], Some((String::new(), Role::ClassInitializer, Some((20, 54)))));
    }

    #[test]
    fn a_class_without_methods_that_have_lines_has_a_name_only() {
        let unit = [set_up("camlShop.cart_init_3"), function("camlShop.anon_fn_4", Some(0))];
        let class = |role| Some(("Shop.cart".to_owned(), role, None));
        assert_eq!(found(&unit), [class(Role::ClassInitializer), class(Role::Method)]);
    }

    /// A function with an immediate object has other functions, too.
    #[test]
    fn functions_with_lines_are_no_set_up() {
        let mut make = set_up("camlShop__make_3");
        make.lines = method("Shop.make", (10, 20), 0).lines;
        let unit = [make, function("camlShop__fun_4", Some(0)), set_up("camlShop__entry")];
        assert_eq!(found(&unit), [None, None, None]);
    }

    /// With flambda, what sets up `Check_pattern.metavar_checker` calls `widen` and `resize` itself.
    #[test]
    fn functions_that_were_inlined_set_up_classes() {
        let of = |symbol: &str| {
            let mut calls = Calls::default();
            calls.add(symbol.as_bytes());
            (calls.sets_up_class, calls.makes_objects)
        };
        assert_eq!(of("camlCamlinternalOO.widen_789"), (true, false));
        assert_eq!(of("camlCamlinternalOO.resize_393"), (true, false));
        assert_eq!(of("camlCamlinternalOO.iter_f_2453"), (false, true));
        assert_eq!(of("camlStdlib__Hashtbl.resize_530"), (false, false));
        assert_eq!(of("camlPpxlib__Ast_traverse0.get_method_label_1066"), (true, false));
        assert_eq!(of("camlCamlinternalOO.copy_80"), (false, false));
    }

    /// No function makes itself, but damaged code may look like it.
    #[test]
    fn functions_that_make_each_other_come_back() {
        let unit = [function("camlShop__fun_4", Some(1)), function("camlShop__fun_5", Some(0))];
        assert_eq!(found(&unit), [None, None]);
    }
}
