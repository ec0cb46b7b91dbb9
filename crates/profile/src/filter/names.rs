//! Which functions, modules and files a condition's names mean.

use std::fmt::Write;

use memtrail_trace::{FileId, FunctionId, Locations};
use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use super::condition::{FrameName, Name};
use crate::names::{module, readable};
use crate::processes::processes;
use crate::profile::Profile;

/// Functions of a trace: those that are left out of paths, or those of modules that are collapsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FunctionSet(Vec<bool>);

impl FromIterator<bool> for FunctionSet {
    /// Of whether each function, in the order of ids, is one of them.
    fn from_iter<I: IntoIterator<Item = bool>>(functions: I) -> Self {
        Self(functions.into_iter().collect())
    }
}

impl FunctionSet {
    /// Whether a function is one of them.
    pub fn contains(&self, function: FunctionId) -> bool {
        self.0.get(function.0 as usize).copied().unwrap_or(false)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }
}

/// The names of functions as people see them, each different: from the second on, functions whose
/// names look the same have a number, `List.map [2]`.
pub fn displayed(locations: &Locations) -> Vec<String> {
    let mut met: FxHashMap<String, u32> = FxHashMap::default();
    let names = locations.functions().iter().map(|(_, name)| {
        let mut name = readable(&String::from_utf8_lossy(name));
        let count = met.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            let _ = write!(name, " [{count}]");
        }
        name
    });
    names.collect()
}

/// Compiles a regular expression that a stranger may have written: it can take neither much memory
/// nor, by the engine's nature, more than linear time.
///
/// # Errors
/// What is wrong with it, on one line.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(1 << 20).dfa_size_limit(1 << 20).build().map_err(|e| {
        let message = e.to_string();
        let last = message.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").to_owned()
    })
}

/// A condition's names, ready to be compared.
#[derive(Debug)]
pub struct Wanted<'a>(Vec<Test<'a>>);

#[derive(Debug)]
enum Test<'a> {
    Equals(&'a str),
    Contains(&'a str),
    Matches(Regex),
}

impl<'a> Wanted<'a> {
    /// Of these names.
    ///
    /// # Errors
    /// What is wrong with a regular expression among them.
    pub fn new(names: &'a [Name]) -> Result<Self, String> {
        let test = |name: &'a Name| {
            Ok(match name {
                Name::Equals(name) => Test::Equals(name),
                Name::Contains(part) => Test::Contains(part),
                Name::Matches(pattern) => Test::Matches(compile(pattern)?),
            })
        };
        names.iter().map(test).collect::<Result<_, String>>().map(Self)
    }

    /// Whether any of a thing's names is meant.
    pub fn any(&self, names: &[&str]) -> bool {
        self.0.iter().any(|test| {
            names.iter().any(|name| match test {
                Test::Equals(wanted) => name == wanted,
                Test::Contains(part) => name.contains(part),
                Test::Matches(regex) => regex.is_match(name),
            })
        })
    }
}

/// What of a trace is meant: a function by its name or that of its module, or a file.
pub(super) enum Meant {
    Functions(Vec<bool>),
    Files(Vec<bool>),
}

impl Meant {
    pub(super) fn new(
        locations: &Locations,
        displayed: &[String],
        what: FrameName,
        names: &[Name],
    ) -> Result<Self, String> {
        let wanted = Wanted::new(names)?;
        let lossy = String::from_utf8_lossy;
        Ok(match what {
            FrameName::Function => Self::Functions(functions(locations, displayed, &wanted)),
            FrameName::Module => Self::Functions(functions_of_modules(locations, &wanted)),
            FrameName::File => {
                let files = locations.files().iter();
                Self::Files(files.map(|(_, name)| wanted.any(&[&lossy(name)])).collect())
            }
        })
    }

    /// The outermost frames of processes that are called so.
    pub(super) fn processes(profile: &Profile, names: &[Name]) -> Result<Option<Self>, String> {
        let wanted = Wanted::new(names)?;
        let processes = processes(profile);
        if processes.is_empty() {
            return Ok(None);
        }
        let mut functions = vec![false; profile.locations.functions().len()];
        for (function, process) in processes {
            let names = process.names();
            if let Some(meant) = functions.get_mut(function.0 as usize) {
                *meant = wanted.any(&names.each_ref().map(String::as_str));
            }
        }
        Ok(Some(Self::Functions(functions)))
    }

    pub(super) fn holds(&self, function: FunctionId, file: FileId) -> bool {
        let (list, index) = match self {
            Self::Functions(list) => (list, function.0),
            Self::Files(list) => (list, file.0),
        };
        list.get(index as usize).copied().unwrap_or(false)
    }
}

fn functions_of_modules(locations: &Locations, wanted: &Wanted<'_>) -> Vec<bool> {
    let mut known: FxHashMap<String, bool> = FxHashMap::default();
    let functions = locations.functions().iter().map(|(_, name)| {
        let name = String::from_utf8_lossy(name);
        let module = module(&name);
        known.get(module).copied().unwrap_or_else(|| {
            let meant = !module.is_empty() && wanted.any(&[module, &readable(module)]);
            known.insert(module.to_owned(), meant);
            meant
        })
    });
    functions.collect()
}

fn functions(locations: &Locations, displayed: &[String], wanted: &Wanted<'_>) -> Vec<bool> {
    let names = locations.functions().iter().zip(displayed);
    names
        .map(|((_, name), displayed)| wanted.any(&[&String::from_utf8_lossy(name), displayed]))
        .collect()
}

impl FunctionSet {
    /// Those that have such names.
    pub(super) fn named(
        locations: &Locations,
        displayed: &[String],
        names: &[Name],
    ) -> Result<Self, String> {
        Ok(Self(functions(locations, displayed, &Wanted::new(names)?)))
    }

    /// Those of modules that have such names.
    pub(super) fn of_modules(locations: &Locations, names: &[Name]) -> Result<Self, String> {
        Ok(Self(functions_of_modules(locations, &Wanted::new(names)?)))
    }

    pub(super) fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), false);
        }
        for (one, also) in self.0.iter_mut().zip(&other.0) {
            *one |= also;
        }
    }
}
