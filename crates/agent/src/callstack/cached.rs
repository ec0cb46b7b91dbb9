//! The last callstack of a thread, and how the next one is found by looking only at what moved.
//!
//! Samples follow each other closely, so most of a deep stack is where it was at the last sample.
//! The walk steps frame by frame from the allocation point until it stands on a (slot, return
//! address) pair that it knows. From there on the positions of all older frames follow from the
//! return addresses, so it is enough to compare what each known slot holds now with what it held;
//! at the first difference the walk steps again, until it meets the known stack anew. The result is
//! always exactly what a full walk finds.
//!
//! An entry is a frame, or a *link* that ends a chunk of OCaml frames (a callback from C): links
//! are followed and compared but are no part of a callstack.

use memtrail_ocaml::memory::ThisProcess;
use memtrail_trace::Code;

use super::code_of_return_address;
use super::frames::{Frame, Frames, Sizes, Step};
use crate::program::{self, LabelFrame};

/// A contiguous stack: the system stack before OCaml 5, one fiber after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Address of the runtime's record of it; 0 where there is only one.
    pub(super) stack: u64,
    /// The runtime's number for it, as addresses are reused.
    pub(super) id: u64,
    /// Address after its highest word.
    pub(super) high: u64,
}

#[derive(Clone, Copy)]
struct Part {
    piece: Piece,
    /// Its outermost entry.
    start: usize,
}

/// Where a walk begins: the innermost OCaml frame of a piece.
#[derive(Clone, Copy)]
pub(super) struct Top {
    /// Stack pointer of the frame's caller side: its return address stands one word below.
    pub(super) sp: u64,
    /// The return address.
    pub(super) pc: u64,
}

/// Columns, outermost entry first.
#[derive(Default)]
pub(crate) struct CachedStack {
    slots: Vec<u64>,
    returns: Vec<u64>,
    /// Indices of the entries that are links, ascending.
    links: Vec<usize>,
    /// Indices of the entries that hold a label of the program's, ascending.
    labelled: Vec<usize>,
    /// One code a frame: the return address names the call site, or a label that stands in the frame.
    codes: Vec<Code>,
    parts: Vec<Part>,
    /// Frames that are as they were when [`CachedStack::mark_seen`] was last called.
    unchanged: usize,
    version: u64,
    /// Scratch: entries found by stepping, innermost first, and which of them are links.
    fresh: Vec<Frame>,
    fresh_links: Vec<usize>,
    /// Frame sizes met before.
    sizes: Sizes,
    /// Pieces walked so far in the walk under way.
    settled: usize,
    /// Scratch: the fibers of the walk under way, the running one first.
    chain: Vec<(Piece, Top)>,
}

impl CachedStack {
    /// The callstack, outermost frame first.
    pub(crate) fn codes(&mut self) -> &mut [Code] {
        &mut self.codes
    }

    /// Forgets the callstack, so that the next walk starts from scratch.
    pub(super) fn forget(&mut self) {
        self.truncate(0);
        self.parts.clear();
    }

    /// Whether two threads of thought come to the same callstack.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.codes == other.codes && self.slots == other.slots && self.links == other.links
    }

    /// A number that changes whenever the callstack does.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// How many outer frames are as they were at the last [`Self::mark_seen`].
    pub(crate) fn unchanged(&self) -> usize {
        self.unchanged
    }

    /// Starts counting changes anew, with `frames` frames taken as seen.
    pub(crate) fn mark_seen(&mut self, frames: usize) {
        self.unchanged = frames.min(self.codes.len());
    }

    /// An empty list for the pieces of a walk, which keeps its memory from walk to walk.
    pub(super) fn take_chain(&mut self) -> Vec<(Piece, Top)> {
        let mut chain = std::mem::take(&mut self.chain);
        chain.clear();
        chain
    }

    /// Where that list is kept.
    pub(super) fn give_chain_back(&mut self, chain: Vec<(Piece, Top)>) {
        self.chain = chain;
    }

    /// Begins a walk; pieces follow, outermost first.
    pub(super) fn begin(&mut self) {
        self.settled = 0;
    }

    /// Walks the next piece. False if there was no memory for it: the callstack ends there.
    pub(super) fn walk(&mut self, frames: &Frames, piece: Piece, top: Top) -> bool {
        let i = self.settled;
        self.settled += 1;
        let (low, high) = match self.parts.get(i) {
            Some(part) if part.piece == piece => {
                let next = self.parts.get(i + 1).map_or(self.slots.len(), |next| next.start);
                (part.start, next)
            }
            other => {
                let start = other.map_or(self.slots.len(), |part| part.start);
                self.truncate(start);
                self.parts.truncate(i);
                if self.parts.try_reserve(1).is_err() {
                    return false;
                }
                self.parts.push(Part { piece, start });
                (start, start)
            }
        };
        let Some(kept) = self.find(frames, piece, top, low, high) else {
            self.truncate(low);
            self.parts.truncate(i);
            return false;
        };
        if kept == high && self.fresh.is_empty() {
            return true;
        }
        self.truncate(kept);
        self.parts.truncate(i + 1);
        self.append()
    }

    /// Ends a walk: what was not met again is gone, and labels are those that stand there now.
    pub(super) fn end(&mut self, memory: ThisProcess) {
        if let Some(part) = self.parts.get(self.settled) {
            let start = part.start;
            self.parts.truncate(self.settled);
            self.truncate(start);
        }
        if !self.labelled.is_empty()
            && let Some(frame) = program::label_frame()
        {
            self.read_labels(memory, frame);
        }
    }

    /// A frame may stay where it is while its label changes: what its function does in a loop.
    #[cold]
    fn read_labels(&mut self, memory: ThisProcess, frame: LabelFrame) {
        for &entry in &self.labelled {
            let place = entry - self.links.partition_point(|&link| link < entry);
            let code = frame.code(memory, self.slots[entry]);
            if let Some(known) = self.codes.get_mut(place)
                && *known != code
            {
                *known = code;
                self.version += 1;
                self.unchanged = self.unchanged.min(place);
            }
        }
    }

    /// Fills `fresh` with the entries that are new, and returns how many entries stay.
    fn find(
        &mut self,
        frames: &Frames,
        piece: Piece,
        top: Top,
        low: usize,
        high: usize,
    ) -> Option<usize> {
        self.fresh.clear();
        self.fresh_links.clear();
        let mut known = high;
        let (mut slot, mut pc) = (top.sp.wrapping_sub(8), top.pc);
        loop {
            while known > low && self.slots[known - 1] < slot {
                known -= 1;
            }
            if known > low && self.slots[known - 1] == slot && self.returns[known - 1] == pc {
                let (first, whole) = self.verify(frames, low, known - 1);
                if whole {
                    return Some(known);
                }
                // Entries from `first` up stand; what is below the first of them has changed.
                for entry in (first..known).rev() {
                    let link = self.links.binary_search(&entry).is_ok();
                    self.note(self.slots[entry], self.returns[entry], link)?;
                }
                (slot, pc) = (self.slots[first], self.returns[first]);
                known = first;
                match frames.step(&mut self.sizes, piece.high, slot, pc) {
                    Step::Frame(next) | Step::Link(next) => (slot, pc) = next,
                    Step::Last | Step::Unknown => return Some(low),
                }
                continue;
            }
            match frames.step(&mut self.sizes, piece.high, slot, pc) {
                Step::Frame(next) => {
                    self.note(slot, pc, false)?;
                    (slot, pc) = next;
                }
                Step::Link(next) => {
                    self.note(slot, pc, true)?;
                    (slot, pc) = next;
                }
                Step::Last | Step::Unknown => {
                    self.note(slot, pc, true)?;
                    return Some(low);
                }
            }
        }
    }

    /// The outermost entry of the unbroken run of entries, ending at `known`, that still hold, and
    /// whether what is below it holds too (there is nothing more to compare).
    fn verify(&self, frames: &Frames, low: usize, known: usize) -> (usize, bool) {
        let mut entry = known;
        let mut links = self.links.partition_point(|&link| link <= known);
        loop {
            let link = links.checked_sub(1).map(|i| self.links[i]).filter(|&link| link >= low);
            // Down to the next link all entries are ordinary: a load and a compare each.
            let stop = link.unwrap_or(low);
            if let Some(changed) =
                frames.last_changed(&self.slots[stop..entry], &self.returns[stop..entry])
            {
                return (stop + changed + 1, false);
            }
            entry = stop;
            let Some(link) = link else { return (entry, true) };
            links -= 1;
            let older = (link > low).then(|| (self.slots[link - 1], self.returns[link - 1]));
            if !frames.link_holds(self.slots[link], older) {
                return (link, false);
            }
            if link == low {
                return (low, true);
            }
            entry = link - 1;
        }
    }

    #[inline]
    fn note(&mut self, slot: u64, pc: u64, link: bool) -> Option<()> {
        if link {
            self.fresh_links.try_reserve(1).ok()?;
            self.fresh_links.push(self.fresh.len());
        }
        if self.fresh.len() == self.fresh.capacity() {
            self.fresh.try_reserve(64).ok()?;
        }
        self.fresh.push((slot, pc));
        Some(())
    }

    fn append(&mut self) -> bool {
        let count = self.fresh.len();
        let room = self.slots.try_reserve(count).is_ok()
            && self.returns.try_reserve(count).is_ok()
            && self.codes.try_reserve(count).is_ok()
            && self.links.try_reserve(self.fresh_links.len()).is_ok();
        self.version += 1;
        if !room {
            return false;
        }
        let end = self.slots.len() + count;
        self.slots.extend(self.fresh.iter().rev().map(|&(slot, _)| slot));
        self.returns.extend(self.fresh.iter().rev().map(|&(_, pc)| pc));
        // Codes are those of the runs between the links.
        let mut rest = self.fresh.as_slice();
        for &link in self.fresh_links.iter().rev() {
            let (older, run) = rest.split_at(link + 1);
            self.codes.extend(run.iter().rev().map(|&(_, pc)| code_of_return_address(pc)));
            rest = older.split_last().map_or(&[], |(_, older)| older);
            self.links.push(end - 1 - link);
        }
        self.codes.extend(rest.iter().rev().map(|&(_, pc)| code_of_return_address(pc)));
        if let Some(frame) = program::label_frame() {
            for entry in end - count..end {
                if self.returns[entry] == frame.return_address {
                    if self.labelled.try_reserve(1).is_err() {
                        break;
                    }
                    self.labelled.push(entry);
                }
            }
        }
        true
    }

    fn truncate(&mut self, entries: usize) {
        if entries >= self.slots.len() {
            return;
        }
        self.version += 1;
        let links = self.links.partition_point(|&link| link < entries);
        self.links.truncate(links);
        let labelled = self.labelled.partition_point(|&entry| entry < entries);
        self.labelled.truncate(labelled);
        self.slots.truncate(entries);
        self.returns.truncate(entries);
        self.codes.truncate(entries - links);
        self.unchanged = self.unchanged.min(self.codes.len());
    }
}
