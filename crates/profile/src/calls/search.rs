//! How much of what was selected has a name on its path.

use regex::Regex;

use super::entities::Entity;
use super::level::Level;
use super::view::View;
use crate::selected::Cell;
use crate::sites::By;

/// What to look for in names.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Names that contain this text.
    Text(String),
    /// Names that contain this text, written in any case; the text is in lower case.
    AnyCase(String),
    /// Names in which the expression is found.
    Regex(Regex),
}

/// An expression that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// What is wrong with it.
    pub message: String,
}

impl Pattern {
    /// Looks for a text; its case matters if it has a capital letter.
    pub fn text(text: &str) -> Self {
        if text.chars().any(char::is_uppercase) {
            Self::Text(text.to_owned())
        } else {
            Self::AnyCase(text.to_owned())
        }
    }

    /// Looks for a regular expression.
    pub fn regex(expression: &str) -> Result<Self, PatternError> {
        Regex::new(expression).map(Self::Regex).map_err(|error| {
            // The last line says what is wrong; those before draw the place.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            PatternError { message: last.trim_start_matches("error: ").to_owned() }
        })
    }

    /// Whether a name has it.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Text(text) => name.contains(text.as_str()),
            Self::AnyCase(text) => name.to_lowercase().contains(text.as_str()),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Blocks in the focus on whose path a name matches, outside the focus or in it.
    pub cell: Cell,
    /// All blocks in the focus.
    pub of: Cell,
    /// What matches, of all that is on these paths, ascending.
    pub entities: Vec<Entity>,
}

/// Looks for a pattern in the keys of everything on the paths that have the focus; on all paths if
/// it is empty.
pub fn search(view: View<'_>, pattern: &Pattern, focus: &[Entity]) -> Found {
    let View { tree, entities, cells } = view;
    let focus: Vec<u32> = match focus {
        [] => vec![Entity::TOPLEVEL.0],
        _ => focus.iter().map(|entity| entity.0).collect(),
    };
    let matching: Vec<bool> = (0..entities.len() as u32)
        .map(|id| id > Entity::ALLOCATIONS.0 && pattern.matches(entities.key(Entity(id))))
        .collect();
    let here = |node: u32| matching[tree.entities()[node as usize] as usize];
    // Parents stand before their children.
    let mut on_path = vec![false; tree.len()];
    for node in 1..tree.len() as u32 {
        on_path[node as usize] = here(node) || on_path[tree.parent(node) as usize];
    }
    let at_end = focus.last() == Some(&Entity::ALLOCATIONS.0);
    let mut found = Found::default();
    let mut occurs = vec![false; entities.len()];
    let mut passed = vec![false; tree.len()];
    for place in Level::new(view, By::Function).matches(&focus) {
        found.of += place.cell;
        let mut at = place.node;
        while at != 0 && !std::mem::replace(&mut passed[at as usize], true) {
            occurs[tree.entities()[at as usize] as usize] = true;
            at = tree.parent(at);
        }
        if on_path[place.node as usize] {
            found.cell += place.cell;
        }
        if at_end {
            continue;
        }
        let end = tree.end(place.node);
        let mut node = place.node + 1;
        while node < end {
            let after = tree.end(node);
            if cells.samples(node, after) == 0 {
                node = after;
                continue;
            }
            occurs[tree.entities()[node as usize] as usize] = true;
            if here(node) && !on_path[tree.parent(node) as usize] {
                found.cell += cells.subtree(node, after);
            }
            node += 1;
        }
    }
    let all = (0..entities.len()).filter(|&id| occurs[id] && matching[id]);
    found.entities = all.map(|id| Entity(id as u32)).collect();
    found
}
