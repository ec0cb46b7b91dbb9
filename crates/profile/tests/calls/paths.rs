//! Random traces, and their blocks as plain lists of what is on their paths.

use std::collections::HashSet;

use memtrail_profile::Profile;
use memtrail_profile::calls::{CallTree, Entities, Entity, Transforms, View};
use memtrail_profile::filter::Filter;
use memtrail_profile::selected::{Cells, choose};
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::Source;
use proptest::prelude::*;

/// What a frame is made of, the caller first: sites by number.
pub(crate) type Frames = Vec<Vec<u8>>;

/// Functions of two modules and two files, one of no module; `A.g` has an anonymous function.
pub(crate) const SITES: [Named; 12] = [
    ("A.f", "a.ml", 1),
    ("A.f", "a.ml", 2),
    ("A.g", "a.ml", 3),
    ("A.g.(fun)", "a.ml", 4),
    ("B.f", "b.ml", 1),
    ("B.f", "b.ml", 9),
    ("B.h", "b.ml", 2),
    ("B.i", "b.ml", 3),
    ("C.f", "b.ml", 7),
    ("caml_c", "c.c", 1),
    ("D__E.f", "d.ml", 1),
    ("D.E.f", "d.ml", 2),
];

/// As people write them. The last two look alike.
pub(crate) fn shown(function: &str, second: &str) -> String {
    match function {
        _ if function == second => "D.E.f [2]".into(),
        "D__E.f" | "D.E.f" => "D.E.f".into(),
        _ => function.into(),
    }
}

pub(crate) fn module(function: &str) -> String {
    match function.split_once('.') {
        Some(("D" | "D__E", _)) => "D.E".into(),
        Some((module, _)) => module.into(),
        None => String::new(),
    }
}

/// A block as a list.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Keys from the toplevel on; the site last, if there is one.
    pub(crate) path: Vec<String>,
    /// The modules and files of these, but for the toplevel.
    pub(crate) modules: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) functions: Vec<String>,
    pub(crate) site: Option<String>,
    /// The function that allocated.
    pub(crate) own: Option<String>,
    pub(crate) samples: u64,
    pub(crate) live: u64,
}

/// A trace, read.
pub(crate) struct Made {
    pub(crate) profile: Profile,
    pub(crate) entities: Entities,
    pub(crate) tree: CallTree,
    pub(crate) cells: Cells,
    pub(crate) blocks: Vec<Block>,
}

impl Made {
    pub(crate) fn new(frames: &Frames, specs: &[Spec], hidden: &[&str]) -> Self {
        let sites = |code: u64| -> Vec<Named> {
            frames[code as usize - 1].iter().map(|&site| SITES[usize::from(site)]).collect()
        };
        let profile = profile(0.5, specs, sites);
        // Two functions look alike; the one that the trace has second says so.
        let functions = profile.locations.functions();
        let text = |id| std::str::from_utf8(functions.get(id)).unwrap();
        let met = functions.iter().map(|(id, _)| text(id));
        let alike: Vec<&str> = met.filter(|name| ["D__E.f", "D.E.f"].contains(name)).collect();
        let second = alike.get(1).copied().unwrap_or_default();
        let blocks = specs.iter().map(|spec| block(spec, sites, hidden, second)).collect();
        let mut made = Self::without(profile, hidden);
        made.blocks = blocks;
        made
    }

    /// A trace of which the blocks are not told.
    pub(crate) fn read(profile: Profile) -> Self {
        Self::without(profile, &[])
    }

    fn without(profile: Profile, hidden: &[&str]) -> Self {
        let entities = Entities::new(&profile);
        let functions = profile.locations.functions();
        let is_hidden = |name: &[u8]| hidden.iter().any(|hidden| hidden.as_bytes() == name);
        let hidden = functions.iter().map(|(_, name)| is_hidden(name)).collect();
        let tree =
            CallTree::new(&profile, &entities, &Transforms { hidden, ..Transforms::default() });
        let filter = Filter::default().resolve(&profile).unwrap();
        let cells = choose(&profile, &filter, tree.leaf_of_stack(), tree.len()).cells;
        Self { profile, entities, tree, cells, blocks: Vec::new() }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { tree: &self.tree, entities: &self.entities, cells: &self.cells }
    }

    pub(crate) fn key(&self, entity: Entity) -> String {
        self.entities.key(entity).to_owned()
    }

    pub(crate) fn entity(&self, key: &str) -> Entity {
        self.entities.find(key).unwrap()
    }

    pub(crate) fn total(&self) -> u64 {
        self.blocks.iter().map(|block| block.samples).sum()
    }
}

fn block(spec: &Spec, sites: impl Fn(u64) -> Vec<Named>, hidden: &[&str], second: &str) -> Block {
    let mut block = Block {
        path: vec!["<toplevel>".into()],
        modules: vec![],
        files: vec![],
        functions: vec![],
        site: None,
        own: None,
        samples: spec.samples,
        live: if spec.collected.is_none() { spec.samples } else { 0 },
    };
    let mut seen = HashSet::new();
    for site in spec.stack.iter().flat_map(|&code| sites(code)) {
        let key = shown(site.0, second);
        if !hidden.contains(&site.0) && seen.insert(key.clone()) {
            block.own = Some(key.clone());
            block.functions.push(key.clone());
            block.path.push(key);
            block.modules.push(module(site.0));
            block.files.push(site.1.into());
        }
    }
    let mut named = spec.stack.iter().rev().map(|&code| sites(code)).filter(|s| !s.is_empty());
    let innermost = named.next().unwrap_or_default();
    if let Some(&(function, file, line)) = innermost.last()
        && !hidden.contains(&function)
    {
        let key = shown(function, second);
        let site = format!("{key}@{file}:{line}:0-1");
        block.own = Some(key);
        block.path.push(site.clone());
        block.site = Some(site);
        block.modules.push(module(function));
        block.files.push(file.into());
    }
    for labels in [&mut block.modules, &mut block.files] {
        let mut seen = HashSet::new();
        labels.retain(|label| seen.insert(label.clone()));
    }
    block
}

/// Frames, and blocks with stacks of them.
pub(crate) fn traces() -> impl Strategy<Value = (Frames, Vec<Spec>)> {
    let frame = prop_oneof![
        8 => prop::collection::vec(0..SITES.len() as u8, 1),
        2 => prop::collection::vec(0..SITES.len() as u8, 2..4),
        1 => Just(vec![]),
    ];
    prop::collection::vec(frame, 1..8).prop_flat_map(|frames| {
        let code = 1..=frames.len() as u64;
        let stack = prop::collection::vec(code, 0..9);
        let spec = (stack, 1..20_u64, prop::option::of(0..50_u64), 0..3_u8).prop_map(
            |(stack, samples, collected, heavy)| Spec {
                samples: if heavy == 0 { samples * 10 } else { samples },
                length: 300,
                collected,
                source: Source::Major,
                ..Spec::at(0, &stack)
            },
        );
        (Just(frames), prop::collection::vec(spec, 0..40))
    })
}

/// Where a fragment begins on a path, if it is there.
pub(crate) fn find(path: &[String], fragment: &[String]) -> Option<usize> {
    (0..(path.len() + 1).saturating_sub(fragment.len()))
        .find(|&at| path[at..].starts_with(fragment))
}

/// A program of 9,982 functions, each called by the one before it, in which every 60th allocates.
/// Backtraces as long as these fit the format when they grow little by little.
pub(crate) fn deep() -> Made {
    let mut names: Vec<Named> = Vec::new();
    for function in 0..9_982_u32 {
        let name: &'static str = Box::leak(format!("Deep.f{function}").into_boxed_str());
        names.push((name, "deep.ml", function + 1));
    }
    let stack: Vec<u64> = (1..=9_982).collect();
    let specs: Vec<Spec> = (1..=9_982_usize)
        .filter(|depth| depth % 60 == 0 || *depth == 9_982)
        .map(|depth| Spec::at(depth as u64, &stack[..depth]))
        .collect();
    let made = Made::read(profile(0.5, &specs, |code| vec![names[code as usize - 1]]));
    assert_eq!(made.tree.len(), 1 + 9_982 + specs.len());
    made
}
