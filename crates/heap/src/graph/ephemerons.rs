//! Data of ephemerons: it lives while the ephemeron and all its keys do.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::Bits;

/// Ephemerons of which not all is reached yet.
///
/// Each waits at one of its conditions at a time, and looks for the next when that one is reached:
/// so each condition is looked at once, however many ephemerons depend on each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    /// Nodes that have to be reached, of all ephemerons, one after the other.
    conditions: Vec<u32>,
    /// For each ephemeron where its conditions end, and what it is called.
    ends: Vec<(u32, u32)>,
    /// Ephemerons by the node that they wait at.
    at: HashMap<u32, Vec<u32>, FxBuildHasher>,
}

impl Waiting {
    /// Adds an ephemeron that needs these nodes. Says whether all of them are reached already;
    /// otherwise [`Waiting::reached`] will hand it out as `name`.
    pub(crate) fn add(
        &mut self,
        conditions: impl Iterator<Item = u32>,
        name: u32,
        reached: &Bits,
    ) -> bool {
        self.conditions.extend(conditions);
        self.ends.push((self.conditions.len() as u32, name));
        self.wait(self.ends.len() as u32 - 1, reached)
    }

    /// Lets an ephemeron wait for the next condition that is not met; says whether all are.
    fn wait(&mut self, ephemeron: u32, reached: &Bits) -> bool {
        let start = match ephemeron {
            0 => 0,
            other => self.ends[other as usize - 1].0,
        };
        let end = self.ends[ephemeron as usize].0;
        let conditions = &self.conditions[start as usize..end as usize];
        let Some(missing) = conditions.iter().find(|node| !reached.contains(**node)) else {
            return true;
        };
        self.at.entry(*missing).or_default().push(ephemeron);
        false
    }

    /// A node is reached: the names of those that waited for nothing else are put into `complete`.
    pub(crate) fn reached(&mut self, node: u32, reached: &Bits, complete: &mut Vec<u32>) {
        if self.at.is_empty() {
            return;
        }
        for ephemeron in self.at.remove(&node).unwrap_or_default() {
            if self.wait(ephemeron, reached) {
                complete.push(self.ends[ephemeron as usize].1);
            }
        }
    }
}
