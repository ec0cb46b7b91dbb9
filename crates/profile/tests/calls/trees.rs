use memtrail_profile::calls::{CallTree, Entities, Entity, Kind, Transforms};
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::StackId;
use proptest::prelude::*;

use crate::calls::paths::{Made, traces};

fn check_shape(made: &Made) -> Result<(), TestCaseError> {
    let tree = &made.tree;
    for node in 1..tree.len() as u32 {
        let parent = tree.parent(node);
        prop_assert!(parent < node && node < tree.end(node));
        prop_assert!(tree.end(node) <= tree.end(parent));
        // The next node is a child, or stands behind all that has ended.
        let mut sibling = tree.end(node);
        while sibling < tree.end(parent) {
            prop_assert_ne!(tree.entity(sibling), tree.entity(node));
            sibling = tree.end(sibling);
        }
        prop_assert_eq!(sibling, tree.end(parent));
    }
    Ok(())
}

proptest! {
    #[test]
    fn paths_are_those_of_the_blocks((frames, specs) in traces(), hide in any::<bool>()) {
        let hidden: &[&str] = if hide { &["A.f", "B.h"] } else { &[] };
        let made = Made::new(&frames, &specs, hidden);
        check_shape(&made)?;
        for (row, block) in made.profile.blocks.rows().zip(&made.blocks) {
            let StackId(stack) = made.profile.blocks.stack(row);
            let leaf = made.tree.leaf_of_stack()[stack as usize];
            let path: Vec<String> = made.tree.path(leaf).into_iter().map(|e| made.key(e)).collect();
            prop_assert_eq!(&path, &block.path);
        }
    }

    #[test]
    fn entities_have_keys_of_their_own((frames, specs) in traces()) {
        let made = Made::new(&frames, &specs, &[]);
        let entities = &made.entities;
        for id in (0..entities.len() as u32).map(Entity) {
            prop_assert_eq!(entities.find(entities.key(id)), Some(id));
            match entities.kind(id) {
                Kind::Root => prop_assert_eq!(entities.function(id), None),
                Kind::Function => prop_assert_eq!(entities.function(id), Some(id)),
                Kind::Module => {
                    let module = entities.module(id).unwrap();
                    prop_assert_eq!(entities.name(id), entities.module_name(module));
                    prop_assert_eq!(entities.function(id), None);
                }
                Kind::Site => {
                    let function = entities.function(id).unwrap();
                    let start = format!("{}@", entities.key(function));
                    prop_assert!(entities.key(id).starts_with(&start));
                    prop_assert_eq!(entities.name(id), entities.key(function));
                    prop_assert_eq!(entities.module(id), entities.module(function));
                }
            }
        }
    }

    /// What a view was told of entities stays true while the recording grows.
    #[test]
    fn entities_keep_their_numbers((frames, specs) in traces(), share in 0.0..1.0) {
        let part = (specs.len() as f64 * share) as usize;
        let early = Made::new(&frames, &specs[..part], &[]);
        let late = Made::new(&frames, &specs, &[]);
        let mut grown = early.entities.clone();
        grown.grow(&late.profile);
        for id in (0..early.entities.len() as u32).map(Entity) {
            prop_assert_eq!(grown.key(id), early.entities.key(id));
        }
        // Grown or new, the tree has the same paths.
        let tree = CallTree::new(&late.profile, &grown, &Transforms::default());
        let path = |tree: &CallTree, entities: &Entities, leaf| -> Vec<String> {
            tree.path(leaf).into_iter().map(|e| entities.key(e).to_owned()).collect()
        };
        for (&a, &b) in tree.leaf_of_stack().iter().zip(late.tree.leaf_of_stack()) {
            prop_assert_eq!(path(&tree, &grown, a), path(&late.tree, &late.entities, b));
        }
    }
}

#[test]
fn mutual_recursion_folds_up() {
    let sites = |code: u64| -> Vec<Named> {
        vec![[("M.a", "m.ml", 1), ("M.b", "m.ml", 2), ("M.c", "m.ml", 3)][code as usize - 1]]
    };
    let stacks = [vec![1, 2, 1, 2, 3], vec![1, 2, 3], vec![1, 2, 1]];
    let profile = profile(1.0, &stacks.map(|stack| Spec::at(0, &stack)), sites);
    let entities = Entities::new(&profile);
    let tree = CallTree::new(&profile, &entities, &Transforms::default());
    let keys: Vec<&str> = (0..tree.len() as u32).map(|n| entities.key(tree.entity(n))).collect();
    assert_eq!(keys, ["<toplevel>", "M.a", "M.b", "M.a@m.ml:1:0-1", "M.c", "M.c@m.ml:3:0-1"]);
}

#[test]
fn an_empty_trace_has_a_tree() {
    let profile = profile(1.0, &[], |_| vec![]);
    let entities = Entities::new(&profile);
    let tree = CallTree::new(&profile, &entities, &Transforms::default());
    assert_eq!((tree.len(), tree.end(0), entities.len()), (1, 1, 2));
}
