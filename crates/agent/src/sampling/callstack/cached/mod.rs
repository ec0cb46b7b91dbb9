//! The last callstack of a thread, and how the next one is found by looking only at what moved.
//!
//! Samples follow each other closely, so most of a deep stack is where it was at the last sample.
//! The walk steps frame by frame from the allocation point until it stands on a (slot, return
//! address) pair that it knows. From there on the positions of all older frames follow from the
//! return addresses, so it is enough to compare what each known slot holds now with what it held;
//! at the first difference the walk steps again, until it meets the known stack anew.
//!
//! An entry is a frame, or a *link* that ends a chunk of OCaml frames (a callback from C, the end
//! of a fiber): links are followed and compared but are no part of a callstack.
//!
//! # Deep stacks
//!
//! Of a stack with more frames than the limit only the two ends are [shown](super::shown). Where it
//! has more entries than that, the walk compares as many of the innermost frames as are shown, and the
//! outermost ones, but not what lies between: what a sample costs does not grow with the depth. What
//! is so guaranteed:
//!
//! - Up to the limit, links included, a callstack is exactly what a full walk finds. So are the
//!   innermost frames of a deeper one (of fibers without frames, those within the limit).
//! - Each of the outermost frames was found by a full walk, and its return address still is in
//!   its place. (On OCaml 5, that is looked at where the outermost fiber is at most [`MAX_FIBERS_CHECKED`] fibers
//!   away.)
//! - What lies between was so when it was last walked. It can only be wrong if the program has since
//!   returned to there and come back, by other calls, to frames at the very same addresses. All is
//!   walked anew after one sample for each [`SHARE`] entries.
//!
//! Beyond [`WINDOW`] frames the older ones are not kept, and the gap is only told to be that large.
//! Finding the outermost frames takes a full walk then, but only after the program has made all those
//! calls since they were last looked at.

mod columns;
mod walk;

use memtrail_ocaml::memory::ThisProcess;
use memtrail_trace::{Code, omitted};

use super::frames::{Frame, Frames, Sizes};
use super::outermost::Outermost;
use super::segments::{StackSegment, Top};
use super::shown::Shown;
use crate::sampling::labels::{self, LabelFrame};

/// Frames that are kept of any stack, at least; at most three times as many.
const WINDOW: usize = (1 << 16) + 1024;
/// As many frames as a deep stack is walked anew for after one sample.
const SHARE: usize = 512;
/// Fibers that are followed to see whether the outermost one is still there.
const MAX_FIBERS_CHECKED: usize = 64;

#[derive(Clone, Copy)]
struct Segment {
    segment: StackSegment,
    /// Its outermost entry.
    start: usize,
}

/// How a walk ended.
enum End {
    /// At entries that are known: the outermost ones, so many, stay. `seen` is the first of them that
    /// was looked at, in this part.
    Met { kept: usize, seen: usize, part: usize },
    /// At the end of the stack.
    Last,
    /// After more frames than are kept.
    TooDeep,
    /// There was no memory.
    Failed,
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
    /// One code a frame: the return address names the call site, or a label that is in the frame.
    codes: Vec<Code>,
    parts: Vec<Segment>,
    /// Frames that are not kept, older than the first entry.
    dropped: usize,
    /// Where some are not kept: the outermost ones.
    outermost: Outermost,
    /// Whether only the two ends are shown.
    is_deep: bool,
    shown: Shown,
    /// Samples since all entries were walked.
    since_walked: usize,
    /// Frames that are as they were when [`CachedStack::mark_seen`] was last called.
    unchanged: usize,
    version: u64,
    /// Scratch: entries found by stepping, innermost first, which of them are links, and where the
    /// pieces begin.
    fresh: Vec<Frame>,
    fresh_links: Vec<usize>,
    fresh_parts: Vec<Segment>,
    /// Frame sizes met before.
    sizes: Sizes,
}

impl CachedStack {
    /// The callstack, outermost frame first.
    pub(crate) fn codes(&mut self) -> &mut [Code] {
        if self.is_deep { self.shown.codes_mut() } else { &mut self.codes }
    }

    /// Forgets the callstack, so that the next walk starts from scratch.
    pub(super) fn forget(&mut self) {
        self.truncate(0);
        self.parts.clear();
        self.dropped = 0;
        self.outermost.clear();
    }

    /// Whether two threads of thought come to the same callstack.
    pub(super) fn same_as(&mut self, other: &mut Self) -> bool {
        if !self.is_deep && !other.is_deep {
            return self.codes == other.codes
                && self.slots == other.slots
                && self.links == other.links;
        }
        if self.dropped == 0 && other.dropped == 0 {
            return self.codes() == other.codes();
        }
        // Where the gap ends depends on what was dropped.
        let (ours, theirs) = (self.codes(), other.codes());
        let inner = ours.len().min(theirs.len()).saturating_sub(omitted::OUTERMOST + 1);
        ours.len() > omitted::OUTERMOST
            && theirs.len() > omitted::OUTERMOST
            && ours[..=omitted::OUTERMOST] == theirs[..=omitted::OUTERMOST]
            && ours[ours.len() - inner..] == theirs[theirs.len() - inner..]
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
        self.unchanged = frames.min(self.codes().len());
    }

    /// Brings the callstack up to date. `limit` is the depth up to which it is shown as a whole.
    /// Without memory it is cut short.
    pub(super) fn update(
        &mut self,
        frames: &Frames,
        running: Option<(StackSegment, Top)>,
        limit: usize,
    ) {
        let Some(running) = running else {
            self.forget();
            self.show(limit);
            return;
        };
        let mut thorough = self.since_walked * SHARE > self.dropped + self.slots.len();
        let mut end = self.find(frames, running, limit, thorough);
        let mut outer_seen = 0;
        if let End::Met { kept, seen, part } = end
            && (seen > 0 || self.dropped > 0)
        {
            if let Some(count) = self.outermost_stand(frames, kept, part) {
                outer_seen = count;
            } else {
                thorough = true;
                end = self.find(frames, running, limit, true);
            }
        }
        let mut seen = self.accept(frames, &end);
        if self.dropped > 0 && self.codes.len() < WINDOW && matches!(end, End::Met { .. }) {
            // What was not kept is needed now.
            self.forget();
            end = self.find(frames, running, limit, true);
            seen = self.accept(frames, &end);
        }
        let passed_over = matches!(end, End::Met { seen: 1.., .. }) && !thorough;
        self.since_walked = if passed_over { self.since_walked + 1 } else { 0 };
        if thorough && self.dropped > 0 && matches!(end, End::Met { .. }) {
            self.find_outermost(frames);
        }
        if !self.labelled.is_empty()
            && let Some(label) = labels::frame()
        {
            self.read_labels(frames.memory, label, outer_seen, seen);
        }
        self.trim();
        self.show(limit);
    }

    /// Takes over what a walk found. Returns the first entry of those that it ended at, or passed.
    fn accept(&mut self, frames: &Frames, end: &End) -> usize {
        let (kept, seen) = match *end {
            End::Met { kept, seen, .. } => (kept, seen),
            _ => (0, 0),
        };
        if kept == self.slots.len() && self.fresh.is_empty() {
            return seen;
        }
        self.truncate(kept);
        let taken = !matches!(end, End::Failed) && self.append();
        if !taken {
            self.forget();
        } else if kept == 0 {
            self.dropped = 0;
            self.outermost.clear();
        }
        if taken && matches!(end, End::TooDeep) {
            self.find_outermost(frames);
        }
        seen
    }

    /// Finds the outermost frames anew, where some are not kept.
    fn find_outermost(&mut self, frames: &Frames) {
        let Some(part) = self.parts.first() else { return };
        let oldest = Top { slot: self.slots[0], pc: self.returns[0] };
        let mut met = [(part.segment, (0, 0)); omitted::OUTERMOST];
        let mut count = 0;
        for at in self.frames_to(self.entry_of(omitted::OUTERMOST)).skip(1) {
            met[count] = at;
            count += 1;
        }
        let from = (part.segment, oldest);
        let met = met[..count].iter().rev().copied();
        let there = self.outermost.find(frames, &mut self.sizes, from, met);
        self.dropped = there.saturating_sub(1).max(1);
    }

    /// Whether the outermost frames stand where they stood, after a walk that ended in this part at
    /// entries of which so many stay. If so, how many of the first entries were looked at.
    fn outermost_stand(&mut self, frames: &Frames, kept: usize, part: usize) -> Option<usize> {
        let whole = self.dropped == 0;
        let first = self.parts.first().map(|part| part.segment);
        let outermost = if whole { first } else { self.outermost.segment }?;
        let mut segment = self.parts.get(part)?.segment;
        for _ in 0..MAX_FIBERS_CHECKED {
            if segment == outermost {
                if !whole {
                    return self.outermost.stand(frames).then_some(0);
                }
                let next = self.parts.get(1).map_or(kept, |part| part.start);
                let end = self.entry_of(omitted::OUTERMOST).min(next).min(kept);
                let (slots, returns) = (&self.slots[..end], &self.returns[..end]);
                // SAFETY: they are in the outermost segment, which is still there, and older than the
                // entry that the walk met.
                let changed = unsafe { frames.last_changed(slots, returns) };
                return changed.is_none().then_some(end);
            }
            segment = frames.parent(&segment)?.0;
        }
        Some(0)
    }

    /// Drops the oldest entries of a stack that has very many.
    fn trim(&mut self) {
        if self.codes.len() <= 3 * WINDOW {
            return;
        }
        if self.dropped == 0 {
            let mut outermost = std::mem::take(&mut self.outermost);
            let end = self.entry_of(omitted::OUTERMOST);
            let coded = self.frames_to(end).zip(&self.codes);
            outermost.set(coded.map(|((segment, frame), &code)| (segment, frame, code)));
            self.outermost = outermost;
        }
        self.drop_oldest(self.codes.len() - 2 * WINDOW);
    }

    /// Decides what is shown.
    fn show(&mut self, limit: usize) {
        let depth = self.depth();
        let gap = omitted::gap(depth).filter(|_| depth > limit);
        let was_deep = std::mem::replace(&mut self.is_deep, gap.is_some());
        let Some(gap) = gap else {
            if was_deep {
                self.version += 1;
                self.unchanged = 0;
            }
            return;
        };
        let inner = &self.codes[gap.end.saturating_sub(self.dropped)..];
        let (outer, missing) = match self.dropped {
            0 => (&self.codes[..gap.start], gap.len()),
            _ => (self.outermost.codes(), usize::MAX),
        };
        if !was_deep {
            self.shown.clear();
        }
        let before = self.shown.codes().len();
        let same = self.shown.show(outer, missing, inner);
        let codes = self.shown.codes();
        if !was_deep || before != codes.len() || same < codes.len() {
            self.version += 1;
        }
        self.unchanged = self.unchanged.min(same);
    }

    /// Frames of the stack, as far as known.
    fn depth(&self) -> usize {
        self.dropped + self.codes.len()
    }

    /// A frame may stay where it is while its label changes: what its function does in a loop.
    #[cold]
    fn read_labels(&mut self, memory: ThisProcess, label: LabelFrame, outer: usize, seen: usize) {
        for &entry in self.labelled.iter().filter(|&&entry| entry < outer || entry >= seen) {
            let place = entry - self.links.partition_point(|&link| link < entry);
            let code = label.code(memory, self.slots[entry]);
            if let Some(known) = self.codes.get_mut(place)
                && *known != code
            {
                *known = code;
                self.version += 1;
                self.unchanged = self.unchanged.min(place);
            }
        }
    }
}
