//! Who descends from whom.

use std::collections::HashMap;

use crate::description::{Description, Outcome};

/// How a process came to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No recorded process is known to be above it.
    First,
    /// It was forked from its parent, and runs the same program.
    Forked,
    /// It is a program that its parent started, perhaps by way of processes that are not recorded.
    Started,
    /// Its process was another program before, the parent.
    Replaced,
}

/// What its description tells of a process.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) pid: u32,
    pub(super) forked_from: Option<u32>,
    pub(super) ancestors: Vec<u32>,
    pub(super) execed: bool,
}

impl Facts {
    pub(super) fn of(description: &Description) -> Self {
        Self {
            pid: description.pid,
            forked_from: description.forked_from,
            ancestors: description.ancestors.clone(),
            execed: description.outcome == Some(Outcome::Execed),
        }
    }
}

/// Where a member is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) parent: Option<usize>,
    pub(super) origin: Origin,
    pub(super) generation: u32,
}

/// Finds the parents of members that are in the order in which they began: a parent began before its child,
/// and of several images of one process the last that had begun is the parent.
pub(super) fn link(members: &[Option<Facts>]) -> Vec<Place> {
    let mut last_of: HashMap<u32, usize> = HashMap::new();
    let mut places: Vec<Place> = Vec::with_capacity(members.len());
    for (index, facts) in members.iter().enumerate() {
        let nobody = Place { parent: None, origin: Origin::First, generation: 0 };
        let Some(facts) = facts else {
            places.push(nobody);
            continue;
        };
        let before = last_of.get(&facts.pid).copied();
        let before = before.filter(|&before| {
            facts.forked_from.is_none() && members[before].as_ref().is_some_and(|m| m.execed)
        });
        let parent_by_fork = facts.forked_from.and_then(|pid| last_of.get(&pid).copied());
        let above = || facts.ancestors.iter().find_map(|pid| last_of.get(pid).copied());
        let (parent, origin) = match (before, parent_by_fork) {
            (Some(before), _) => (Some(before), Origin::Replaced),
            (None, Some(parent)) => (Some(parent), Origin::Forked),
            (None, None) => match above() {
                Some(parent) => (Some(parent), Origin::Started),
                None => (None, Origin::First),
            },
        };
        let generation = parent
            .map_or(0, |parent| places[parent].generation + u32::from(origin != Origin::Replaced));
        places.push(Place { parent, origin, generation });
        last_of.insert(facts.pid, index);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pid: u32, forked_from: Option<u32>, ancestors: &[u32], execed: bool) -> Facts {
        Facts { pid, forked_from, ancestors: ancestors.to_vec(), execed }
    }

    fn linked(members: &[Option<Facts>]) -> Vec<(Option<usize>, Origin, u32)> {
        let places = link(members);
        places.iter().map(|place| (place.parent, place.origin, place.generation)).collect()
    }

    #[test]
    fn children_of_shells_descend_from_the_nearest_recorded_process() {
        let make = Some(facts(10, None, &[], false));
        let compiler = Some(facts(13, None, &[12, 11, 10], false));
        let preprocessor = Some(facts(14, None, &[13, 12, 11, 10], false));
        assert_eq!(
            linked(&[make, compiler, preprocessor]),
            [
                (None, Origin::First, 0),
                (Some(0), Origin::Started, 1),
                (Some(1), Origin::Started, 2)
            ]
        );
    }

    #[test]
    fn forks_and_programs_that_processes_become() {
        let server = Some(facts(10, None, &[], false));
        let worker = Some(facts(11, Some(10), &[10], true));
        let replaced = Some(facts(11, None, &[10], false));
        let orphan = Some(facts(12, Some(99), &[], false));
        let of_replaced = Some(facts(13, Some(11), &[11, 10], false));
        assert_eq!(
            linked(&[server, worker, replaced, orphan, of_replaced]),
            [
                (None, Origin::First, 0),
                (Some(0), Origin::Forked, 1),
                (Some(1), Origin::Replaced, 1),
                (None, Origin::First, 0),
                (Some(2), Origin::Forked, 2),
            ]
        );
    }

    #[test]
    fn a_number_that_the_system_gives_again_is_another_process() {
        let first = Some(facts(10, None, &[], false));
        let ended = Some(facts(11, None, &[10], false));
        let again = Some(facts(11, None, &[10], false));
        let links = linked(&[first, ended, again]);
        assert_eq!(links[2], (Some(0), Origin::Started, 1));
    }

    #[test]
    fn what_is_not_known_has_no_parent_and_nothing_descends_from_later_ones() {
        let child = Some(facts(11, Some(10), &[10], false));
        let parent = Some(facts(10, None, &[11], false));
        let links = linked(&[child, None, parent]);
        assert_eq!(links[0], (None, Origin::First, 0));
        assert_eq!(links[1], (None, Origin::First, 0));
        assert_eq!(links[2], (Some(0), Origin::Started, 1));
    }
}
