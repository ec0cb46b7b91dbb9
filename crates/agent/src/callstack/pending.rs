//! Callstacks of allocations whose callback the runtime postpones (those made by C code).
//!
//! Between the allocation and its callback other samples may be taken, so the thread's cached stack
//! has moved on; the callstack is kept here until then. One may serve many callbacks (unmarshalling
//! captures once for all its blocks), so entries are never freed but overwritten by the newest, in
//! a ring whose memory is bounded.

use memtrail_trace::Code;

use crate::threads::Author;

/// Words in the ring: 4 MiB, touched only as far as used.
const CAPACITY: usize = 1 << 19;
/// Frames kept of one callstack, the outermost ones.
const LONGEST: usize = CAPACITY / 8;

/// Whose callstack an entry is.
#[derive(Clone, Copy)]
struct Newest {
    thread: Author,
    version: u64,
    ticket: u64,
}

pub(crate) struct PendingStacks {
    ring: Vec<Code>,
    /// Words ever written; a ticket is the value at which its callstack begins.
    written: u64,
    /// The newest entry: mostly it is asked for before its thread's callstack changes.
    newest: Option<Newest>,
}

impl PendingStacks {
    pub(crate) const fn new() -> Self {
        Self { ring: Vec::new(), written: 0, newest: None }
    }

    /// Keeps the callstack that `thread` has in `version`, and gives a ticket for it.
    pub(crate) fn keep(&mut self, stack: &[Code], thread: Author, version: u64) -> Option<u64> {
        if let Some(newest) = self.newest.filter(|n| n.thread == thread && n.version == version) {
            return Some(newest.ticket);
        }
        if self.ring.is_empty() {
            self.ring.try_reserve_exact(CAPACITY).ok()?;
            self.ring.resize(CAPACITY, Code(0));
        }
        let stack = &stack[..stack.len().min(LONGEST)];
        // An entry does not wrap: it starts over at the beginning of the ring instead.
        let at = (self.written % CAPACITY as u64) as usize;
        if at + 1 + stack.len() > CAPACITY {
            self.written += (CAPACITY - at) as u64;
        }
        let ticket = self.written;
        let at = (ticket % CAPACITY as u64) as usize;
        self.ring[at] = Code(u64::from(thread.0) << 32 | stack.len() as u64);
        self.ring[at + 1..][..stack.len()].copy_from_slice(stack);
        self.written += 1 + stack.len() as u64;
        self.newest = Some(Newest { thread, version, ticket });
        Some(ticket)
    }

    /// Whether `ticket` stands for the callstack that `thread` has in `version`.
    pub(crate) fn is(&self, ticket: u64, thread: Author, version: u64) -> bool {
        self.newest.is_some_and(|newest| {
            newest.ticket == ticket && newest.thread == thread && newest.version == version
        })
    }

    /// The callstack kept under `ticket`, and whose it is, unless it has been overwritten.
    pub(crate) fn get(&self, ticket: u64) -> Option<(Author, &[Code])> {
        if ticket >= self.written || ticket + (CAPACITY as u64) < self.written {
            return None;
        }
        let at = (ticket % CAPACITY as u64) as usize;
        let head = self.ring.get(at)?.0;
        let stack = self.ring.get(at + 1..at + 1 + (head as u32) as usize)?;
        Some((Author((head >> 32) as u32), stack))
    }
}
