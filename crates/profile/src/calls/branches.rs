//! What a line of a table opens into: the next callers or callees, or what is in it.

use super::entities::{Entity, Label, NO_ENTITY};
use super::level::{Level, Match};
use super::table::{Line, Sums};
use super::view::View;
use crate::sites::By;

/// What a line opens into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// What calls the path.
    Callers,
    /// What the path calls.
    Callees,
    /// The functions of the path's last module or file; the sites of its last function.
    Inside,
}

/// The next level of a table by `by`, in no order to rely on. The path is a fragment of the calls,
/// outermost first; totals are of the blocks whose paths have it. Callees of functions include
/// the sites that allocate in them; the outermost functions are called by the toplevel.
pub fn branches(view: View<'_>, by: By, path: &[Label], branch: Branch) -> Vec<Line> {
    let level = Level::new(view, by);
    let Some(path) = path.iter().map(|&l| level.number(l)).collect::<Option<Vec<u32>>>() else {
        return Vec::new();
    };
    let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return Vec::new() };
    let at_end = last == Entity::ALLOCATIONS.0 && matches!(by, By::Function | By::Site);
    let elements = path.len() - usize::from(at_end);
    let matches = level.matches(&path);
    match branch {
        Branch::Inside => return inside(&level, by, last, &matches),
        Branch::Callees if at_end => return Vec::new(),
        Branch::Callees | Branch::Callers => {}
    }
    let mut sums = Sums::new(level, by);
    for found in matches {
        let end = if at_end { found.node + 1 } else { view.tree.end(found.node) };
        if branch == Branch::Callees {
            level.children(found.node, |child| {
                let next = Match { node: child, cell: level.subtree(child) };
                add(&mut sums, &level, level.label(child), next, view.tree.end(child));
            });
        } else if first == Entity::ALLOCATIONS.0 && at_end {
            add(&mut sums, &level, level.label(found.node), found, end);
        } else if let Some(parent) = level.parent(level.first(found.node, elements)) {
            // No module and no file is further out than all functions.
            let label = level.label(parent);
            if label != NO_ENTITY {
                add(&mut sums, &level, label, found, end);
            }
        }
    }
    sums.lines()
}

/// Adds what is in a subtree to a label, and what the label allocated of it.
fn add(sums: &mut Sums<'_>, level: &Level<'_>, label: u32, found: Match, end: u32) {
    let View { tree, entities, cells } = level.view;
    sums.add_total(label, found.cell);
    let is_site = entities.is_site(label) && level.labels() == entities.len();
    let mut node = found.node;
    while node < end {
        let after = tree.end(node);
        if cells.samples(node, after.min(end)) == 0 {
            node = after;
            continue;
        }
        let entity = tree.entities()[node as usize];
        let is_own = if is_site { entity == label } else { sums.allocator(entity) == label };
        if is_own && cells.samples(node, node + 1) > 0 {
            sums.add_own(label, cells.own(node));
        }
        node += 1;
    }
}

/// The functions of a module or file, or the sites of a function, in the blocks of some subtrees.
fn inside(level: &Level<'_>, by: By, of: u32, matches: &[Match]) -> Vec<Line> {
    let View { tree, entities, cells } = level.view;
    let by_entity = Level::new(level.view, By::Function);
    let mut sums = Sums::new(by_entity, By::Function);
    let functions = entities.function_column();
    for found in matches {
        let (mut node, end) = (found.node, tree.end(found.node));
        while node < end {
            let after = tree.end(node);
            if cells.samples(node, after) == 0 {
                node = after;
                continue;
            }
            let entity = tree.entities()[node as usize];
            let function = functions[entity as usize];
            match by {
                By::Function if entities.is_site(entity) && function == of => {
                    sums.add_total(entity, cells.own(node));
                    sums.add_own(entity, cells.own(node));
                }
                By::Module | By::File if level.label_of(function) == of => {
                    if entity == function {
                        sums.add_total(function, cells.subtree(node, after));
                    }
                    sums.add_own(function, cells.own(node));
                }
                _ => {}
            }
            node += 1;
        }
    }
    sums.lines()
}
