//! Which module depends on which: paths resolved to the modules that define what they name.

use std::collections::{BTreeMap, HashMap};

use super::source::{Import, Source};

/// Re-exports are followed so far; a longer chain is one that leads back to itself.
const MAX_RE_EXPORTS: usize = 16;

/// Dependencies between modules, by index into their names.
#[derive(Debug)]
pub(super) struct Graph {
    names: Vec<String>,
    /// For each dependency, `file:line` of what makes it.
    edges: BTreeMap<(usize, usize), Vec<String>>,
}

impl Graph {
    pub(super) fn new(sources: &[Source]) -> Graph {
        let names = sources.iter().map(|source| match source.module.as_slice() {
            [] => "crate".to_owned(),
            path => path.join("::"),
        });
        let mut edges: BTreeMap<_, Vec<String>> = BTreeMap::new();
        let resolver = Resolver::new(sources);
        for (from, source) in sources.iter().enumerate() {
            let imports =
                source.imports.iter().map(|i| (&i.path, &i.module, i.line, i.name == "*"));
            let mentions = source.mentions.iter().map(|m| (&m.path, &m.module, m.line, false));
            for (path, module, line, all) in imports.chain(mentions) {
                let Some(path) = resolver.absolute(source, module, path) else { continue };
                if let Some(to) = resolver.definition(&path, all)
                    && to != from
                {
                    let places = edges.entry((from, to)).or_default();
                    places.push(format!("{}:{line}", source.file));
                }
            }
        }
        Graph::of(names.collect(), edges)
    }

    /// The graph of modules with these names, and the places of each dependency.
    pub(super) fn of(names: Vec<String>, mut edges: BTreeMap<(usize, usize), Vec<String>>) -> Self {
        for places in edges.values_mut() {
            places.dedup();
        }
        Graph { names, edges }
    }

    /// Of all modules; the root's is `crate`.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of dependencies.
    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.edges.keys().copied()
    }

    /// Dependencies among these modules.
    pub(super) fn within(&self, modules: &[usize]) -> impl Iterator<Item = (usize, usize)> {
        self.edges().filter(|(from, to)| modules.contains(from) && modules.contains(to))
    }

    pub(super) fn places(&self, from: usize, to: usize) -> &[String] {
        self.edges.get(&(from, to)).map_or(&[], Vec::as_slice)
    }
}

struct Resolver<'a> {
    sources: &'a [Source],
    modules: HashMap<&'a [String], usize>,
}

impl<'a> Resolver<'a> {
    fn new(sources: &'a [Source]) -> Self {
        let modules = sources.iter().map(|source| source.module.as_slice());
        Resolver { sources, modules: modules.zip(0..).collect() }
    }

    /// A path as written in a module, from the crate's root. `None` if it leads to another crate.
    fn absolute(&self, source: &Source, module: &[String], path: &[String]) -> Option<Vec<String>> {
        self.absolute_within(source, module, path, MAX_RE_EXPORTS)
    }

    fn absolute_within(
        &self,
        source: &Source,
        module: &[String],
        path: &[String],
        steps: usize,
    ) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let steps = steps.checked_sub(1)?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => {
                        let path = [&["self".to_owned()], rest].concat();
                        self.absolute_within(source, parent, &path[1..], steps)
                    }
                    _ => Some([parent, rest].concat()),
                }
            }
            name => {
                let here = [module, &path[..1]].concat();
                if self.modules.contains_key(here.as_slice()) || source.items.contains(&here) {
                    return Some([module, path].concat());
                }
                let import = named(source, module, name)?;
                // `use name::…` of another crate's name.
                if import.path.first() == Some(first) && import.path.len() == 1 {
                    return None;
                }
                let target = self.absolute_within(source, module, &import.path, steps)?;
                Some([&target, rest].concat())
            }
        }
    }

    /// The module that defines what a path from the root names. `None` for a module itself, unless
    /// `all` of it is meant: a module that is imported is used where a path goes on from it.
    fn definition(&self, path: &[String], all: bool) -> Option<usize> {
        let mut path = path.to_vec();
        for _ in 0..MAX_RE_EXPORTS {
            let (module, rest) = self.split(&path)?;
            let Some((name, rest)) = rest.split_first() else { return all.then_some(module) };
            match self.re_exported(module, name) {
                Some(target) => path = [&target, rest].concat(),
                None => return Some(module),
            }
        }
        None
    }

    /// The longest prefix that is a module, and the rest.
    fn split<'p>(&self, path: &'p [String]) -> Option<(usize, &'p [String])> {
        (0..=path.len())
            .rev()
            .find_map(|len| Some((*self.modules.get(&path[..len])?, &path[len..])))
    }

    /// Where a module has a name from that it does not define itself.
    fn re_exported(&self, module: usize, name: &str) -> Option<Vec<String>> {
        let source = &self.sources[module];
        let own = [&source.module[..], &[name.to_owned()]].concat();
        if source.items.contains(&own) {
            return None;
        }
        if let Some(import) = named(source, &source.module, name) {
            return self.absolute(source, &source.module, &import.path);
        }
        let globs = source.imports.iter().filter(|i| i.name == "*" && i.module == source.module);
        globs.filter_map(|glob| self.absolute(source, &source.module, &glob.path)).find_map(
            |path| {
                let (from, rest) = self.split(&path)?;
                let target = [&path[..], &[name.to_owned()]].concat();
                let there = &self.sources[from];
                let defined =
                    there.items.contains(&target) || named(there, &there.module, name).is_some();
                (from != module && rest.is_empty() && defined).then_some(target)
            },
        )
    }
}

fn named<'a>(source: &'a Source, module: &[String], name: &str) -> Option<&'a Import> {
    source.imports.iter().find(|import| import.module == module && import.name == name)
}
