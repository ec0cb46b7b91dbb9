//! Callstacks of allocations whose callback the runtime postpones (those made by C code).
//!
//! Between the allocation and its callback other samples may be taken, so the thread's cached stack
//! has moved on; the callstack is kept here until then. A recursion that does nothing but call C has
//! no point at which callbacks run, so there may be as many callstacks as it is deep: they are kept
//! as a tree, in which each shares what it has in common with the one before. One may serve many
//! callbacks (unmarshalling captures once for all its blocks), so none is freed when it has been
//! asked for, but all at once when they take room and all have.

use memtrail_trace::Code;

use crate::os::heap::may_fail;
use crate::recording::threads::ThreadId;
use crate::recording::written_check::Expected;

/// Nodes and callstacks before which nothing is freed: 4 MiB, touched only as far as used.
const ROOM: usize = 1 << 18;
/// Nodes and callstacks at which all are given up: their callbacks may never come.
const MAX_PENDING: usize = 1 << 22;
/// In place of a node: this frame is the outermost.
const NO_NODE: u32 = u32::MAX;

/// A frame of one or more callstacks.
struct Node {
    code: Code,
    /// The frame that called it.
    older: u32,
}

struct Entry {
    /// Its innermost frame.
    node: u32,
    thread: ThreadId,
    asked_for: bool,
    expected: Option<Expected>,
}

/// Whose callstack the newest entry is.
#[derive(Clone, Copy)]
struct Newest {
    thread: ThreadId,
    version: u64,
    ticket: u64,
}

#[derive(Default)]
pub(crate) struct PendingStacks {
    nodes: Vec<Node>,
    entries: Vec<Entry>,
    /// Ticket of the first entry.
    first: u64,
    /// Entries that nobody has asked for yet.
    waiting: usize,
    /// The newest entry: mostly it is asked for before its thread's callstack changes.
    newest: Option<Newest>,
    /// Its nodes, outermost first.
    path: Vec<u32>,
    /// Scratch: the callstack that was asked for.
    codes: Vec<Code>,
}

impl PendingStacks {
    /// Keeps the callstack that `thread` has in `version`, and gives a ticket for it.
    pub(crate) fn keep(
        &mut self,
        stack: &[Code],
        thread: ThreadId,
        version: u64,
        expected: Option<Expected>,
    ) -> Option<u64> {
        if let Some(newest) = self.newest.filter(|n| n.thread == thread && n.version == version) {
            return Some(newest.ticket);
        }
        let room = self.nodes.len() + self.entries.len() + stack.len() + 1;
        if room > ROOM && self.waiting == 0 || room > MAX_PENDING {
            self.forget();
        }
        let nodes = &self.nodes;
        let same = |&(&node, &code): &(&u32, &Code)| nodes[node as usize].code == code;
        let common = self.path.iter().zip(stack).take_while(same).count();
        let new = stack.len() - common;
        self.path.truncate(common);
        may_fail(|| self.nodes.try_reserve(new)).ok()?;
        may_fail(|| self.path.try_reserve(new)).ok()?;
        may_fail(|| self.entries.try_reserve(1)).ok()?;
        for &code in &stack[common..] {
            let older = self.path.last().copied().unwrap_or(NO_NODE);
            self.path.push(self.nodes.len() as u32);
            self.nodes.push(Node { code, older });
        }
        let ticket = self.first + self.entries.len() as u64;
        let node = self.path.last().copied().unwrap_or(NO_NODE);
        self.entries.push(Entry { node, thread, asked_for: false, expected });
        self.waiting += 1;
        self.newest = Some(Newest { thread, version, ticket });
        Some(ticket)
    }

    fn forget(&mut self) {
        self.first += self.entries.len() as u64;
        self.waiting = 0;
        self.newest = None;
        if self.nodes.capacity() > ROOM {
            (self.nodes, self.entries) = (Vec::new(), Vec::new());
        }
        self.nodes.clear();
        self.entries.clear();
        self.path.clear();
    }

    /// Whether `ticket` stands for the callstack that `thread` has in `version`.
    pub(crate) fn is(&mut self, ticket: u64, thread: ThreadId, version: u64) -> bool {
        let current = self.newest.is_some_and(|newest| {
            newest.ticket == ticket && newest.thread == thread && newest.version == version
        });
        if current {
            self.entry(ticket);
        }
        current
    }

    /// A callstack is not needed any more by one of those that may ask for it.
    pub(crate) fn asked_for(&mut self, ticket: u64) {
        self.entry(ticket);
    }

    /// The entry of a ticket, which has been asked for now.
    fn entry(&mut self, ticket: u64) -> Option<&Entry> {
        let index = usize::try_from(ticket.checked_sub(self.first)?).ok()?;
        let entry = self.entries.get_mut(index)?;
        if !std::mem::replace(&mut entry.asked_for, true) {
            self.waiting -= 1;
        }
        Some(entry)
    }

    /// The callstack kept under `ticket`, outermost frame first, and whose it is, unless it has been
    /// given up.
    pub(crate) fn get(&mut self, ticket: u64) -> Option<(ThreadId, &[Code], Option<Expected>)> {
        let &Entry { mut node, thread, expected, .. } = self.entry(ticket)?;
        self.codes.clear();
        while let Some(&Node { code, older }) = self.nodes.get(node as usize) {
            may_fail(|| self.codes.try_reserve(1)).ok()?;
            self.codes.push(code);
            node = older;
        }
        self.codes.reverse();
        Some((thread, &self.codes, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ThreadId = ThreadId(1);
    const SECOND: ThreadId = ThreadId(2);

    fn codes(numbers: &[u64]) -> Vec<Code> {
        numbers.iter().copied().map(Code).collect()
    }

    #[test]
    fn callstacks_that_share_frames_come_back_whole() {
        let mut pending = PendingStacks::default();
        let stacks = [&[1, 2, 3][..], &[1, 2, 4, 5], &[1], &[], &[9, 2, 3]].map(codes);
        let tickets: Vec<_> = (0..)
            .zip(&stacks)
            .map(|(version, stack)| pending.keep(stack, FIRST, version, None).unwrap())
            .collect();
        // Of the second only what the first has not is new.
        assert_eq!(pending.nodes.len(), 3 + 2 + 3);
        // More than once, and in any order.
        for &at in &[4, 0, 1, 3, 2, 1, 0] {
            let (thread, stack, _) = pending.get(tickets[at]).unwrap();
            assert_eq!((thread, stack), (FIRST, &stacks[at][..]));
        }
    }

    #[test]
    fn one_version_of_a_thread_is_kept_once() {
        let mut pending = PendingStacks::default();
        let stack = codes(&[1, 2]);
        let ticket = pending.keep(&stack, FIRST, 7, None).unwrap();
        assert_eq!(pending.keep(&stack, FIRST, 7, None), Some(ticket));
        assert!(pending.is(ticket, FIRST, 7));
        assert!(!pending.is(ticket, FIRST, 8), "it has moved on");
        assert!(!pending.is(ticket, SECOND, 7), "another's");
        let other = pending.keep(&stack, SECOND, 7, None).unwrap();
        assert_ne!(other, ticket);
        assert!(!pending.is(ticket, FIRST, 7), "not the newest any more");
        assert_eq!(pending.get(ticket).map(|(thread, ..)| thread), Some(FIRST));
    }

    #[test]
    fn what_is_given_up_is_not_known_again() {
        let mut pending = PendingStacks::default();
        let deep: Vec<_> = (0..ROOM as u64 / 2).map(Code).collect();
        let first = pending.keep(&deep, FIRST, 0, None).unwrap();
        let other: Vec<_> = deep.iter().map(|code| Code(code.0 + 1)).collect();
        let second = pending.keep(&other, FIRST, 1, None).unwrap();
        // All room is taken, but both may still be asked for.
        let third = pending.keep(&deep, FIRST, 2, None).unwrap();
        assert_eq!(pending.get(first).map(|(_, stack, _)| stack.len()), Some(deep.len()));
        for ticket in [second, third] {
            pending.asked_for(ticket);
        }
        let fourth = pending.keep(&other, FIRST, 3, None).unwrap();
        assert_eq!(pending.get(fourth).map(|(_, stack, _)| stack), Some(&other[..]));
        for gone in [first, second, third, fourth + 1, u64::MAX] {
            assert!(pending.get(gone).is_none(), "{gone}");
        }
    }
}
