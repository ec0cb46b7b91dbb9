//! Interns backtraces: equal ones get equal ids, and shared beginnings are stored once.
//!
//! A node is a pair (parent, frame) in two columns; node 0 is the root, the empty backtrace. A
//! child's id is always greater than its parent's, so a pass from the last node to the first sees
//! children before parents, and totals of subtrees need no recursion.
//!
//! Most nodes have one child, interned right after them: such a child is found at
//! `parent + 1` without hashing, and only the others are entered in a hash table.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::units::{FrameId, StackId};

/// All backtraces met, as a tree that grows from the outermost frames to the innermost.
#[derive(Clone, Debug)]
pub struct StackTree {
    parents: Vec<StackId>,
    frames: Vec<FrameId>,
    /// Children that do not stand right behind their parent, by (parent, frame). The table holds ids
    /// alone, as their keys are in the columns: a quarter of the memory.
    others: HashTable<StackId>,
    /// Some of `others`, each at the one place where it can be: what was asked for lately will be
    /// asked for again.
    lately: Vec<(u64, StackId)>,
}

/// Entries of the table of those asked for lately; they fit the first-level cache.
const LATELY: usize = 1 << 11;

impl StackId {
    /// The empty backtrace.
    pub const ROOT: Self = Self(0);
}

impl Default for StackTree {
    fn default() -> Self {
        // The root is its own parent; its frame is never asked for.
        Self {
            parents: vec![StackId::ROOT],
            frames: vec![FrameId(u32::MAX)],
            others: HashTable::new(),
            // No child has the root's parent and frame for its key.
            lately: vec![(u64::MAX, StackId::ROOT); LATELY],
        }
    }
}

impl StackTree {
    /// A tree of only the root.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nodes, the root included. Ids are below it.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is no backtrace but the empty one.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// The backtrace without its innermost frame; the root for the root.
    ///
    /// # Panics
    /// If `stack` is of another tree.
    pub fn parent(&self, stack: StackId) -> StackId {
        self.parents[stack.0 as usize]
    }

    /// The innermost frame; meaningless for the root.
    ///
    /// # Panics
    /// If `stack` is of another tree.
    pub fn frame(&self, stack: StackId) -> FrameId {
        self.frames[stack.0 as usize]
    }

    /// The parent of each node; that of the root is the root.
    pub fn parents(&self) -> &[StackId] {
        &self.parents
    }

    /// The frame of each node; that of the root is no frame.
    pub fn frames(&self) -> &[FrameId] {
        &self.frames
    }

    /// The frames of a backtrace, innermost first.
    pub fn path(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut at = stack;
        std::iter::from_fn(move || {
            (at != StackId::ROOT).then(|| {
                let frame = self.frame(at);
                at = self.parent(at);
                frame
            })
        })
    }

    /// `parent` with one more frame, if it has been interned.
    pub fn child(&self, parent: StackId, frame: FrameId) -> Option<StackId> {
        if self.stands_behind(parent, frame) {
            return Some(StackId(parent.0 + 1));
        }
        let same = |&at: &StackId| self.is(at, parent, frame);
        self.others.find(hash(key(parent, frame)), same).copied()
    }

    /// `parent` with one more frame.
    #[inline]
    pub fn intern(&mut self, parent: StackId, frame: FrameId) -> StackId {
        if self.stands_behind(parent, frame) {
            return StackId(parent.0 + 1);
        }
        let key = key(parent, frame);
        let place = (hash(key) >> 53) as usize;
        let lately = self.lately[place];
        if lately.0 == key {
            return lately.1;
        }
        let id = self.intern_other(parent, frame);
        self.lately[place] = (key, id);
        id
    }

    fn is(&self, at: StackId, parent: StackId, frame: FrameId) -> bool {
        let at = at.0 as usize;
        self.frames.get(at) == Some(&frame) && self.parents.get(at) == Some(&parent)
    }

    #[inline]
    fn stands_behind(&self, parent: StackId, frame: FrameId) -> bool {
        let guess = parent.0 as usize + 1;
        self.frames.get(guess) == Some(&frame) && self.parents.get(guess) == Some(&parent)
    }

    #[inline(never)]
    fn intern_other(&mut self, parent: StackId, frame: FrameId) -> StackId {
        // 2^32 nodes would need 32 GiB of columns; the last id then stands for all that is beyond.
        let new = StackId(u32::try_from(self.parents.len()).unwrap_or(u32::MAX));
        if new.0 != parent.0 + 1 {
            let Self { parents, frames, others, .. } = self;
            let key_of = |at: StackId| key(parents[at.0 as usize], frames[at.0 as usize]);
            let wanted = key(parent, frame);
            match others.entry(hash(wanted), |&at| key_of(at) == wanted, |&at| hash(key_of(at))) {
                Entry::Occupied(found) => return *found.get(),
                Entry::Vacant(free) => free.insert(new),
            };
        }
        self.parents.push(parent);
        self.frames.push(frame);
        new
    }
}

/// Spreads a key over all bits; the table uses the highest and the lowest.
#[inline]
fn hash(key: u64) -> u64 {
    let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    spread ^ spread >> 32
}

fn key(parent: StackId, frame: FrameId) -> u64 {
    u64::from(parent.0) << 32 | u64::from(frame.0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_backtraces_and_only_they_have_equal_ids(
            stacks in prop::collection::vec(prop::collection::vec(0..4_u32, 0..8), 0..200),
        ) {
            let mut tree = StackTree::new();
            let mut slow: HashMap<Vec<u32>, StackId> = HashMap::from([(vec![], StackId::ROOT)]);
            for stack in &stacks {
                let mut id = StackId::ROOT;
                for (depth, &frame) in stack.iter().enumerate() {
                    let parent = id;
                    id = tree.intern(parent, FrameId(frame));
                    prop_assert!(id > parent);
                    prop_assert_eq!(tree.child(parent, FrameId(frame)), Some(id));
                    let known = *slow.entry(stack[..=depth].to_vec()).or_insert(id);
                    prop_assert_eq!(known, id);
                }
                let mut path: Vec<u32> = tree.path(id).map(|frame| frame.0).collect();
                path.reverse();
                prop_assert_eq!(&path, stack);
            }
            prop_assert_eq!(tree.len(), slow.len());
        }
    }
}
