//! The walk, from the innermost frame outwards until nothing is new.

use memtrail_trace::omitted;

use super::super::frames::{Frames, Step};
use super::super::segments::{StackSegment, Top};
use super::{CachedStack, End, Segment, WINDOW};
use crate::os::heap::may_fail;

/// Where a walk stands among the entries that are known.
struct Place {
    /// Parts that may still be met: the outermost ones, so many.
    parts: usize,
    /// Entries of the piece under way that may be met: from `low` up to `known`.
    low: usize,
    known: usize,
    segment: StackSegment,
}

impl CachedStack {
    /// Fills `fresh` with the entries that are new.
    pub(super) fn find(
        &mut self,
        frames: &Frames,
        running: (StackSegment, Top),
        limit: usize,
        thorough: bool,
    ) -> End {
        self.fresh.clear();
        self.fresh_links.clear();
        self.fresh_parts.clear();
        self.try_find(frames, running, limit, thorough).unwrap_or(End::Failed)
    }

    fn try_find(
        &mut self,
        frames: &Frames,
        (segment, Top { mut slot, mut pc }): (StackSegment, Top),
        limit: usize,
        thorough: bool,
    ) -> Option<End> {
        let mut place = self.enter(segment, self.parts.len())?;
        loop {
            while place.known > place.low && self.slots[place.known - 1] < slot {
                place.known -= 1;
            }
            let known = place.known;
            let is_known =
                known > place.low && self.slots[known - 1] == slot && self.returns[known - 1] == pc;
            if is_known {
                let stop = if thorough { 0 } else { self.last_to_see(known, limit) };
                let part = place.parts;
                let Some(first) = self.verify(frames, part, known - 1, stop) else {
                    let part = self.parts.partition_point(|part| part.start <= stop);
                    return Some(End::Met {
                        kept: known,
                        seen: stop,
                        part: part.saturating_sub(1),
                    });
                };
                // Entries from `first` up stand; what is below the first of them has changed.
                self.note_known(&mut place, first)?;
                (slot, pc) = (self.slots[first], self.returns[first]);
            }
            match frames.step(&mut self.sizes, place.segment.high, slot, pc) {
                Step::Frame(next) => {
                    if !is_known {
                        self.note(slot, pc, false)?;
                        if self.fresh.len() - self.fresh_links.len() > 2 * WINDOW {
                            return Some(End::TooDeep);
                        }
                    }
                    (slot, pc) = next;
                }
                Step::Link(next) => {
                    if !is_known {
                        self.note(slot, pc, true)?;
                    }
                    (slot, pc) = next;
                }
                Step::Last | Step::Unknown => {
                    if !is_known {
                        self.note(slot, pc, true)?;
                    }
                    let Some((segment, top)) = frames.parent(&place.segment) else {
                        return Some(End::Last);
                    };
                    place = self.enter(segment, place.parts)?;
                    (slot, pc) = (top.slot, top.pc);
                }
            }
        }
    }

    /// Begins with a piece. The first `parts` parts may still be met.
    fn enter(&mut self, segment: StackSegment, parts: usize) -> Option<Place> {
        may_fail(|| self.fresh_parts.try_reserve(1)).ok()?;
        self.fresh_parts.push(Segment { segment, start: self.fresh.len() });
        let candidates = self.parts.get(..parts).unwrap_or_default();
        // Mostly it is the last one, or fibers are numbered in the order in which they were made.
        let found = match candidates.last() {
            Some(last) if last.segment == segment => Some(parts - 1),
            Some(_) => {
                let at = candidates.partition_point(|part| part.segment.id < segment.id);
                candidates.get(at).filter(|part| part.segment == segment).map(|_| at)
            }
            None => None,
        };
        Some(match found {
            Some(part) => {
                let next = self.parts.get(part + 1).map_or(self.slots.len(), |next| next.start);
                Place { parts: part, low: self.parts[part].start, known: next, segment }
            }
            None => Place { parts, low: 0, known: 0, segment },
        })
    }

    /// The outermost entry that a walk that meets the entry below `known` must look at.
    fn last_to_see(&self, known: usize, limit: usize) -> usize {
        if self.dropped + known + self.fresh.len() <= limit {
            return 0;
        }
        // As many frames as are shown; but a fiber may have none.
        let found = self.fresh.len() - self.fresh_links.len();
        let frames = omitted::MAX_FRAMES_LEFT.saturating_sub(found);
        let shown = self.entry_of(self.frames_in(known).saturating_sub(frames));
        let most = known.saturating_sub(limit.saturating_sub(self.fresh.len()));
        shown.max(most).min(known - 1)
    }

    /// Looks at the entries from `known`, in this part, down to `stop`. `None` if they hold;
    /// otherwise the outermost entry of the unbroken run of those that do.
    fn verify(&self, frames: &Frames, mut part: usize, known: usize, stop: usize) -> Option<usize> {
        let mut entry = known;
        let mut links = self.links.partition_point(|&link| link <= known);
        loop {
            let link = links.checked_sub(1).map(|i| self.links[i]).filter(|&link| link >= stop);
            // Down to the next link all entries are ordinary: a load and a compare each.
            let end = link.unwrap_or(stop);
            let (slots, returns) = (&self.slots[end..entry], &self.returns[end..entry]);
            // SAFETY: the walk met the entry that they are older than, so they are in the stack above it.
            if let Some(changed) = unsafe { frames.last_changed(slots, returns) } {
                return Some(end + changed + 1);
            }
            let link = link?;
            links -= 1;
            if !self.leads_on(frames, &mut part, link) {
                return Some(link);
            }
            if link <= stop {
                return None;
            }
            entry = link - 1;
        }
    }

    /// Whether a link of this part still leads to the entry before it. Then that one's part is `part`.
    fn leads_on(&self, frames: &Frames, part: &mut usize, link: usize) -> bool {
        let older = link.checked_sub(1).map(|older| (self.slots[older], self.returns[older]));
        let Some(at) = self.parts.get(*part) else { return false };
        if link > at.start {
            return frames.link_holds(self.slots[link], older);
        }
        let parent = frames.parent(&at.segment);
        match (older, part.checked_sub(1).and_then(|part| self.parts.get(part))) {
            (Some((slot, pc)), Some(outer)) => {
                *part -= 1;
                parent == Some((outer.segment, Top { slot, pc }))
            }
            _ => parent.is_none() && frames.link_holds(self.slots[link], None),
        }
    }

    /// Notes the entries from `first` up to those that may be met as new ones.
    fn note_known(&mut self, place: &mut Place, first: usize) -> Option<()> {
        let mut part = place.parts;
        for entry in (first..place.known).rev() {
            while self.parts.get(part).is_some_and(|at| at.start > entry) {
                part -= 1;
                may_fail(|| self.fresh_parts.try_reserve(1)).ok()?;
                let segment = self.parts[part].segment;
                self.fresh_parts.push(Segment { segment, start: self.fresh.len() });
            }
            let link = self.links.binary_search(&entry).is_ok();
            self.note(self.slots[entry], self.returns[entry], link)?;
        }
        let at = *self.parts.get(part)?;
        *place = Place { parts: part, low: at.start, known: first, segment: at.segment };
        Some(())
    }

    #[inline]
    fn note(&mut self, slot: u64, pc: u64, link: bool) -> Option<()> {
        if link {
            may_fail(|| self.fresh_links.try_reserve(1)).ok()?;
            self.fresh_links.push(self.fresh.len());
        }
        if self.fresh.len() == self.fresh.capacity() {
            may_fail(|| self.fresh.try_reserve(64)).ok()?;
        }
        self.fresh.push((slot, pc));
        Some(())
    }
}
