//! The columns of a cached stack: what is appended, cut off at either end, and counted.

use super::super::frames::Frame;
use super::super::segments::StackSegment;
use super::{CachedStack, Segment};
use crate::os::heap::may_fail;
use crate::sampling::codes::code_of_return_address;
use crate::sampling::labels;

impl CachedStack {
    /// Frames among the first `entries` entries.
    pub(super) fn frames_in(&self, entries: usize) -> usize {
        entries - self.links.partition_point(|&link| link < entries)
    }

    /// The entry of a frame, the oldest that is kept being number 0; the number of entries if there
    /// are no more frames.
    pub(super) fn entry_of(&self, frame: usize) -> usize {
        if frame >= self.codes.len() {
            return self.slots.len();
        }
        // As many links stand before it as have no more than that many frames before them.
        let (mut low, mut high) = (0, self.links.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.links[middle] - middle <= frame { low = middle + 1 } else { high = middle }
        }
        frame + low
    }

    /// The frames among the first `entries` entries.
    pub(super) fn frames_to(&self, entries: usize) -> impl Iterator<Item = (StackSegment, Frame)> {
        let mut links = self.links.iter().peekable();
        let mut parts = self.parts.iter().peekable();
        let mut segment = None;
        (0..entries).filter_map(move |entry| {
            while let Some(part) = parts.next_if(|part| part.start <= entry) {
                segment = Some(part.segment);
            }
            let is_link = links.next_if_eq(&&entry).is_some();
            let at = (self.slots[entry], self.returns[entry]);
            segment.filter(|_| !is_link).map(|segment| (segment, at))
        })
    }

    /// Appends what was found. False if there is no memory for it.
    pub(super) fn append(&mut self) -> bool {
        let count = self.fresh.len();
        let room = may_fail(|| self.slots.try_reserve(count)).is_ok()
            && may_fail(|| self.returns.try_reserve(count)).is_ok()
            && may_fail(|| self.codes.try_reserve(count)).is_ok()
            && may_fail(|| self.links.try_reserve(self.fresh_links.len())).is_ok()
            && may_fail(|| self.parts.try_reserve(self.fresh_parts.len())).is_ok();
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
        // Of a piece, the entries from its innermost to the next piece's are its own.
        let mut outer = count;
        for part in self.fresh_parts.iter().rev() {
            let start = end - outer;
            let goes_on = self.parts.last().is_some_and(|last| last.segment == part.segment);
            if outer > part.start && !goes_on {
                self.parts.push(Segment { segment: part.segment, start });
            }
            outer = part.start;
        }
        if let Some(frame) = labels::frame() {
            for entry in end - count..end {
                if self.returns[entry] == frame.return_address {
                    if may_fail(|| self.labelled.try_reserve(1)).is_err() {
                        break;
                    }
                    self.labelled.push(entry);
                }
            }
        }
        true
    }

    /// Keeps only the first `entries` entries.
    pub(super) fn truncate(&mut self, entries: usize) {
        if entries >= self.slots.len() {
            return;
        }
        self.version += 1;
        let links = self.links.partition_point(|&link| link < entries);
        self.links.truncate(links);
        let labelled = self.labelled.partition_point(|&entry| entry < entries);
        self.labelled.truncate(labelled);
        let parts = self.parts.partition_point(|part| part.start < entries);
        self.parts.truncate(parts);
        self.slots.truncate(entries);
        self.returns.truncate(entries);
        self.codes.truncate(entries - links);
        self.unchanged = self.unchanged.min(self.codes.len());
    }

    /// Drops the oldest `frames` frames, and the links up to the first frame that stays.
    pub(super) fn drop_oldest(&mut self, frames: usize) {
        let entries = self.entry_of(frames);
        self.slots.drain(..entries);
        self.returns.drain(..entries);
        self.codes.drain(..frames);
        for indices in [&mut self.links, &mut self.labelled] {
            let gone = indices.partition_point(|&index| index < entries);
            indices.drain(..gone);
            for index in indices.iter_mut() {
                *index -= entries;
            }
        }
        let gone = self.parts.partition_point(|part| part.start <= entries);
        self.parts.drain(..gone.saturating_sub(1));
        for part in &mut self.parts {
            part.start = part.start.saturating_sub(entries);
        }
        self.dropped += frames;
        self.unchanged = 0;
    }
}
