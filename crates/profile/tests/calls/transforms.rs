//! Transformed call paths against the same, made from each block's backtrace by itself.

use memtrail_profile::calls::{
    CallTree, Entity, FlameSides, Limits, Recursion, Transforms, View, flame,
};
use memtrail_profile::filter::Filter;
use memtrail_profile::selected::choose;
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::StackId;
use proptest::prelude::*;

use crate::calls::paths::{Frames, Made, SITES, module, traces};

/// The path of a block, as keys: what is on its backtrace, one step after the other.
fn slow(made: &Made, frames: &Frames, spec: &Spec, conditions: &Conditions) -> Vec<String> {
    let key = |name: &str| {
        let id = made.profile.locations.functions().iter().find(|(_, raw)| *raw == name.as_bytes());
        made.key(made.entities.of_function(id.unwrap().0).unwrap())
    };
    let sites = |code: u64| -> Vec<Named> {
        frames[code as usize - 1].iter().map(|&site| SITES[usize::from(site)]).collect()
    };
    let is_collapsed = |function: &str| conditions.collapsed.contains(&module(function).as_str());
    let mut path = vec!["<toplevel>".to_owned()];
    for (function, ..) in spec.stack.iter().flat_map(|&code| sites(code)) {
        if conditions.hidden.contains(&function) {
            continue;
        }
        let step = if is_collapsed(function) {
            format!("module:{}", module(function))
        } else {
            key(function)
        };
        let skipped = match conditions.recursion {
            Recursion::Folded => path.contains(&step),
            Recursion::Shown => is_collapsed(function) && path.last() == Some(&step),
        };
        if !skipped {
            path.push(step);
        }
    }
    let mut named = spec.stack.iter().rev().map(|&code| sites(code)).filter(|s| !s.is_empty());
    if let Some(&(function, file, line)) = named.next().unwrap_or_default().last()
        && !conditions.hidden.contains(&function)
        && !is_collapsed(function)
    {
        path.push(format!("{}@{file}:{line}:0-1", key(function)));
    }
    path
}

#[derive(Clone, Debug)]
struct Conditions {
    hidden: &'static [&'static str],
    collapsed: &'static [&'static str],
    recursion: Recursion,
}

impl Conditions {
    fn texts(&self) -> Vec<String> {
        let hidden = self.hidden.iter().map(|name| format!("hide:{name}"));
        hidden.chain(self.collapsed.iter().map(|name| format!("collapse:{name}"))).collect()
    }
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let hidden: [&[&str]; 2] = [&[], &["A.f", "B.h"]];
    let collapsed: [&[&str]; 4] = [&[], &["A"], &["B", "D.E"], &["A", "B", "C"]];
    let recursion = [Recursion::Folded, Recursion::Shown];
    (
        prop::sample::select(hidden.to_vec()),
        prop::sample::select(collapsed.to_vec()),
        prop::sample::select(recursion.to_vec()),
    )
        .prop_map(|(hidden, collapsed, recursion)| Conditions { hidden, collapsed, recursion })
}

proptest! {
    #[test]
    fn paths_are_transformed((frames, specs) in traces(), conditions in conditions()) {
        let made = Made::new(&frames, &specs, &[]);
        let filter = Filter::parse(&conditions.texts()).unwrap().resolve(&made.profile).unwrap();
        let transforms = Transforms::of(&filter, conditions.recursion);
        let tree = CallTree::new(&made.profile, &made.entities, &transforms);
        let cells = choose(&made.profile, &filter, tree.leaf_of_stack(), tree.len()).cells;
        let view = View { tree: &tree, entities: &made.entities, cells: &cells };
        let paths: Vec<Vec<String>> =
            specs.iter().map(|spec| slow(&made, &frames, spec, &conditions)).collect();
        for (row, path) in made.profile.blocks.rows().zip(&paths) {
            let StackId(stack) = made.profile.blocks.stack(row);
            let leaf = tree.leaf_of_stack()[stack as usize];
            let found: Vec<String> = tree.path(leaf).into_iter().map(|e| made.key(e)).collect();
            prop_assert_eq!(&found, path);
        }

        // The flame graph's boxes are the beginnings of these paths.
        let limits = Limits { cutoff: 0.0, boxes: 10_000 };
        let boxes = flame(view, &[], FlameSides::Callees, limits).down;
        for at in 0..boxes.len() {
            let mut path = vec![boxes.entity[at]];
            let mut below = at;
            while below != 0 {
                below = boxes.parent[below] as usize;
                path.push(boxes.entity[below]);
            }
            let path: Vec<String> = path.into_iter().rev().map(|e| made.key(e)).collect();
            let with = paths.iter().zip(&specs).filter(|(other, _)| other.starts_with(&path));
            let samples: u64 = with.map(|(_, spec)| spec.samples).sum();
            prop_assert_eq!(boxes.cell[at].samples, samples, "{:?}", path);
        }

        // A focus is on the outermost occurrence, below which the others are.
        for id in (2..made.entities.len() as u32).map(Entity) {
            let key = made.key(id);
            let found = flame(view, &[id], FlameSides::Both, limits);
            let with = paths.iter().zip(&specs).filter(|(path, _)| path.contains(&key));
            let samples: u64 = with.map(|(_, spec)| spec.samples).sum();
            prop_assert_eq!(found.focus.samples, samples);
        }
    }
}

#[test]
fn shown_recursion_is_one_box_a_call() {
    let sites = |code: u64| -> Vec<Named> {
        vec![[("M.a", "m.ml", 1), ("M.b", "m.ml", 2), ("M.c", "m.ml", 3)][code as usize - 1]]
    };
    let profile = profile(1.0, &[Spec::at(0, &[1, 2, 1, 1, 3])], sites);
    let made = Made::read(profile);
    let transforms = Transforms { recursion: Recursion::Shown, ..Transforms::default() };
    let tree = CallTree::new(&made.profile, &made.entities, &transforms);
    let keys: Vec<String> = (0..tree.len() as u32).map(|n| made.key(tree.entity(n))).collect();
    assert_eq!(keys, ["<toplevel>", "M.a", "M.b", "M.a", "M.a", "M.c", "M.c@m.ml:3:0-1"]);
}
