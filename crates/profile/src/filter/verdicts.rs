//! Which backtraces meet the conditions on frames: one bit a backtrace, from one pass over their
//! tree.
//!
//! Each condition has a bit. A frame sets those that it meets, a backtrace has the bits of its
//! frame and of its caller's, which stands before it in the tree.

use memtrail_trace::{FrameId, StackId};

use super::condition::FrameScope;
use super::names::Meant;
use crate::profile::Profile;

/// One condition on frames.
pub(super) struct Part {
    pub(super) not: bool,
    pub(super) which: FrameScope,
    pub(super) meant: Meant,
}

/// A bit a backtrace.
#[derive(Clone, Debug)]
pub(super) struct Verdicts(Vec<u64>);

impl Verdicts {
    pub(super) fn new(profile: &Profile, parts: &[Part]) -> Self {
        // Columns of small numbers are read faster.
        match parts.len() {
            0..=8 => Self(judge::<u8>(profile, parts)),
            9..=16 => Self(judge::<u16>(profile, parts)),
            17..=32 => Self(judge::<u32>(profile, parts)),
            _ => Self(judge::<u64>(profile, parts)),
        }
    }

    #[inline]
    pub(super) fn keeps(&self, stack: StackId) -> bool {
        let word = self.0.get(stack.0 as usize / 64).copied().unwrap_or(0);
        word >> (stack.0 % 64) & 1 == 1
    }
}

/// A set of conditions.
trait Bits: Copy + Default + PartialEq + std::ops::BitOr<Output = Self> {
    fn from_u64(bits: u64) -> Self;
}

macro_rules! bits {
    ($($bits:ty),*) => {$(
        impl Bits for $bits {
            fn from_u64(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}

bits!(u8, u16, u32, u64);

fn judge<B: Bits>(profile: &Profile, parts: &[Part]) -> Vec<u64> {
    let locations = &profile.locations;
    let (mut on_path, mut innermost) = (Vec::new(), Vec::new());
    for frame in 0..locations.frames() as u32 {
        let sites = locations.at(FrameId(frame));
        let (mut path, mut last) = (0_u64, 0_u64);
        for (bit, part) in parts.iter().enumerate() {
            let (sites, bits) = match part.which {
                FrameScope::Any => (sites, &mut path),
                FrameScope::Innermost => {
                    (sites.last().map_or(&[][..], std::slice::from_ref), &mut last)
                }
            };
            if sites.iter().any(|site| part.meant.holds(site.function, site.file)) {
                *bits |= 1 << bit;
            }
        }
        on_path.push(B::from_u64(path));
        innermost.push(B::from_u64(last));
    }
    let wanted = parts.iter().enumerate().filter(|(_, part)| !part.not);
    let wanted = B::from_u64(wanted.map(|(bit, _)| 1 << bit).sum());

    let (parents, frames) = (profile.stacks.parents(), profile.stacks.frames());
    let mut paths: Vec<B> = Vec::with_capacity(parents.len());
    let mut verdicts = Vec::with_capacity(parents.len().div_ceil(64));
    for (parents, frames) in parents.chunks(64).zip(frames.chunks(64)) {
        let mut word = 0;
        for (bit, (parent, frame)) in parents.iter().zip(frames).enumerate() {
            // The root's frame is none, and the root is its own parent.
            let frame = frame.0 as usize;
            let before = paths.get(parent.0 as usize).copied().unwrap_or_default();
            let path = before | on_path.get(frame).copied().unwrap_or_default();
            paths.push(path);
            let last = innermost.get(frame).copied().unwrap_or_default();
            word |= u64::from(path | last == wanted) << bit;
        }
        verdicts.push(word);
    }
    verdicts
}
