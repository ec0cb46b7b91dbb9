//! Modules that have another name in a later version of a program.
//!
//! A module counts as renamed if it is in the earlier version alone, and a module in the same place is in the later one alone.
//! Half of what both define must have the same names. The standard library's modules keep their names.

use std::collections::{BTreeMap, BTreeSet};

/// The part of a name that is its module: `Shop.Events` of `Shop.Events.handlers.(fun)`.
fn module(name: &str) -> &str {
    let mut end = 0;
    for part in name.split_inclusive('.') {
        if !part.starts_with(char::is_uppercase) || !part.ends_with('.') {
            break;
        }
        end += part.len();
    }
    &name[..end.saturating_sub(1)]
}

/// For each module of the later version that was renamed, its name in the earlier one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Renamed(BTreeMap<String, String>);

impl Renamed {
    /// Compare the names of functions or variables of two versions.
    pub fn between<'a>(
        earlier: impl Iterator<Item = &'a str>,
        later: impl Iterator<Item = &'a str>,
    ) -> Self {
        let (earlier, later) = (definitions(earlier), definitions(later));
        let alone = |some: &BTreeMap<&'a str, BTreeSet<&'a str>>, others: &BTreeMap<&'a str, _>| {
            let alone = some.keys().filter(|name| !others.contains_key(*name));
            alone.copied().collect::<Vec<&str>>()
        };
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for old in alone(&earlier, &later) {
            for new in alone(&later, &earlier) {
                if differ_in_one_part(old, new) && share_names(&earlier[old], &later[new]) {
                    pairs.push((old, new));
                }
            }
        }
        let is_only = |pair: &&(&str, &str)| {
            pairs.iter().filter(|other| other.0 == pair.0 || other.1 == pair.1).count() == 1
        };
        let only = pairs.iter().filter(is_only);
        Self(only.map(|(old, new)| ((*new).to_owned(), (*old).to_owned())).collect())
    }

    /// The name in the earlier version of a function or variable of the later one, if its module was renamed.
    pub fn earlier_name(&self, later: &str) -> Option<String> {
        let module = module(later);
        let old = self.0.get(module)?;
        Some(format!("{old}{}", &later[module.len()..]))
    }

    /// The name in the earlier version of a module of the later one.
    pub fn earlier_module(&self, later: &str) -> Option<&str> {
        self.0.get(later).map(String::as_str)
    }
}

/// Names that each module defines.
fn definitions<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut definitions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        let module = module(name);
        if !module.is_empty() && !name.starts_with("Stdlib.") {
            definitions.entry(module).or_default().insert(&name[module.len()..]);
        }
    }
    definitions
}

fn differ_in_one_part(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('.').collect(), b.split('.').collect());
    a.len() == b.len() && a.iter().zip(&b).filter(|(x, y)| x != y).count() == 1
}

fn share_names(a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> bool {
    2 * a.intersection(b).count() >= a.len().max(b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(earlier: &[&str], later: &[&str]) -> Renamed {
        Renamed::between(earlier.iter().copied(), later.iter().copied())
    }

    #[test]
    fn a_module_is_what_comes_before_the_function() {
        assert_eq!(module("Shop.Events.handlers.(fun)"), "Shop.Events");
        assert_eq!(module("Shop.serve"), "Shop");
        assert_eq!(module("Shop"), "");
        assert_eq!(module("malloc"), "");
        assert_eq!(module(""), "");
    }

    #[test]
    fn a_module_with_the_same_definitions_was_renamed() {
        let found = renamed(
            &["Shop.Events.handlers", "Shop.Events.subscribe", "Shop.serve", "Stdlib.Map.add"],
            &["Shop.Bus.handlers", "Shop.Bus.publish", "Shop.serve", "Stdlib.Set.add"],
        );
        assert_eq!(found.earlier_name("Shop.Bus.handlers").unwrap(), "Shop.Events.handlers");
        assert_eq!(found.earlier_module("Shop.Bus"), Some("Shop.Events"));
        assert_eq!(found.earlier_name("Shop.serve"), None);
        assert_eq!(found.earlier_name("Stdlib.Set.add"), None);
    }

    #[test]
    fn modules_that_both_versions_have_were_not_renamed() {
        let found = renamed(&["A.f", "B.f", "C.f"], &["B.f", "C.f", "D.g"]);
        assert_eq!(found, Renamed::default());
        // Two modules could be it.
        assert_eq!(renamed(&["A.f"], &["B.f", "C.f"]), Renamed::default());
    }
}
