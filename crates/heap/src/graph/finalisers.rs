//! Functions of finalisers: each waits for its value to die, and goes when it has run.
//!
//! So a value keeps its finaliser's function, and all that this captures, as if it pointed to it:
//! clearing the value frees both. It is so for `Gc.finalise`, whose function is still given the value,
//! and for `Gc.finalise_last`.
//!
//! The collector looks from the other side: it keeps all functions whose values are not dead yet.
//! That makes a difference where functions keep values from dying: one that captures its own value,
//! or several in a circle. Nothing that the program does frees these, so they are the finaliser's.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::csr::Csr;
use super::cycles::components;
use super::nodes::NO_BLOCK;
use crate::label::{RootKind, Strength};
use crate::read::Snapshot;
use crate::units::LabelId;

/// A function and the value that it waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finaliser {
    /// The block of the function.
    pub(crate) function: u32,
    /// The block of the value.
    pub(crate) value: u32,
    /// The label of both.
    pub(crate) label: LabelId,
    /// Which of the snapshot's roots the function is.
    pub(crate) root: usize,
    /// Whether it is of `Gc.finalise_last`, which does not keep the value for its function.
    pub(crate) is_last: bool,
}

/// The finalisers of values that `may_die`, whose functions do. A function is the root before that
/// of its value, with the same label.
pub(crate) fn finalisers(snapshot: &Snapshot<'_>, may_die: impl Fn(u32) -> bool) -> Vec<Finaliser> {
    let is_finaliser =
        |label| snapshot.labels.get(label).is_some_and(|label| label.kind == RootKind::Finaliser);
    let pairs = snapshot.roots.windows(2).enumerate();
    pairs
        .filter_map(|(root, two)| {
            let is_last = match (two[0].strength, two[1].strength) {
                (Strength::Strong, Strength::Finaliser) => false,
                (Strength::Strong, Strength::Last) => true,
                _ => return None,
            };
            let label = two[0].label;
            let [function, value] = [two[0].block.0, two[1].block.0];
            (label == two[1].label && is_finaliser(label) && may_die(function) && may_die(value))
                .then_some(Finaliser { function, value, label, root, is_last })
        })
        .collect()
}

/// Nodes of a finaliser's value and function.
pub(crate) type Link = (u32, u32);

/// Which of these links are part of a circle: its function leads to its value.
pub(crate) fn circular(graph: &Csr, links: &[Link], more: &[Link]) -> Vec<bool> {
    let mut extra: HashMap<u32, Vec<u32>, FxBuildHasher> = HashMap::default();
    for (from, to) in links.iter().chain(more) {
        extra.entry(*from).or_default().push(*to);
    }
    let successor = |node: u32, place: usize| {
        let own = graph.of(node);
        let extra = || extra.get(&node)?.get(place - own.len()).copied();
        own.get(place).copied().or_else(extra)
    };
    let starts = links.iter().map(|(_, function)| *function);
    let component = components(graph.nodes(), starts, successor);
    links
        .iter()
        .map(|(value, function)| {
            let of = |node: u32| component.get(node as usize).copied().unwrap_or(NO_BLOCK);
            of(*value) != NO_BLOCK && of(*value) == of(*function)
        })
        .collect()
}
