//! The outermost frames of a stack that is too deep to be kept as a whole.

use memtrail_trace::{Code, omitted};

use super::frames::{Frame, Frames, Sizes, Step};
use super::segments::{StackSegment, Top};
use crate::os::heap::may_fail;
use crate::sampling::codes::code_of_return_address;
use crate::sampling::labels;

#[derive(Default)]
pub(super) struct Outermost {
    /// The outermost piece.
    pub(super) segment: Option<StackSegment>,
    /// Frames, outermost first.
    frames: Vec<Frame>,
    codes: Vec<Code>,
    /// How many of them stand on the outermost piece.
    in_piece: usize,
}

impl Outermost {
    pub(super) fn codes(&self) -> &[Code] {
        &self.codes
    }

    pub(super) fn clear(&mut self) {
        self.segment = None;
        self.in_piece = 0;
        self.frames.clear();
        self.codes.clear();
    }

    /// Whether they stand where they stood, as far as they are on the outermost piece, which must
    /// still be there. Their labels are read anew.
    pub(super) fn stand(&mut self, frames: &Frames) -> bool {
        let known = &self.frames[..self.in_piece];
        if !known.iter().all(|&(slot, pc)| frames.holds(slot, pc)) {
            return false;
        }
        if let Some(label) = labels::frame() {
            for (&(slot, pc), code) in known.iter().zip(&mut self.codes) {
                if pc == label.return_address {
                    *code = label.code(frames.memory, slot);
                }
            }
        }
        true
    }

    /// Finds them from the frame at `top` of `piece`, which is still to be met. Of the frames met
    /// before, `met` are the outermost, innermost first. Returns how many there are from `top` on.
    pub(super) fn find(
        &mut self,
        frames: &Frames,
        sizes: &mut Sizes,
        (mut segment, top): (StackSegment, Top),
        met: impl Iterator<Item = (StackSegment, Frame)>,
    ) -> usize {
        const KEPT: usize = omitted::OUTERMOST;
        let mut last = [(segment, (0, 0)); KEPT];
        let mut count = 0;
        for at in met {
            last[count % KEPT] = at;
            count += 1;
        }
        let before = count;
        let Top { mut slot, mut pc } = top;
        loop {
            match frames.step(sizes, segment.high, slot, pc) {
                Step::Frame(next) => {
                    last[count % KEPT] = (segment, (slot, pc));
                    count += 1;
                    (slot, pc) = next;
                }
                Step::Link(next) => (slot, pc) = next,
                Step::Last | Step::Unknown => match frames.parent(&segment) {
                    Some((parent, top)) => (segment, slot, pc) = (parent, top.slot, top.pc),
                    None => break,
                },
            }
        }
        let kept = count.min(KEPT);
        let label = labels::frame();
        self.set((0..kept).map(|i| {
            let (segment, (slot, pc)) = last[(count - 1 - i) % KEPT];
            let label = label.filter(|label| label.return_address == pc);
            let code = label.map(|label| label.code(frames.memory, slot));
            (segment, (slot, pc), code.unwrap_or_else(|| code_of_return_address(pc)))
        }));
        count - before
    }

    /// Keeps these frames, outermost first.
    pub(super) fn set(&mut self, outermost: impl Iterator<Item = (StackSegment, Frame, Code)>) {
        self.clear();
        let room = may_fail(|| self.frames.try_reserve(omitted::OUTERMOST)).is_ok()
            && may_fail(|| self.codes.try_reserve(omitted::OUTERMOST)).is_ok();
        for (segment, frame, code) in outermost.take(if room { omitted::OUTERMOST } else { 0 }) {
            if *self.segment.get_or_insert(segment) == segment {
                self.in_piece = self.frames.len() + 1;
            }
            self.frames.push(frame);
            self.codes.push(code);
        }
    }
}
