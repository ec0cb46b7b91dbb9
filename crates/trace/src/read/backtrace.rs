//! Decodes backtraces: a cache of codes with, for each bucket, the bucket predicted to follow.
//!
//! A backtrace is the first `common_prefix` frames of the domain's previous one, then what the
//! codewords say. Each codeword names a bucket, by a hit or by filling it; then as many frames
//! as it says follow by prediction alone. The bucket named becomes the prediction of the one
//! before it; predictions change nothing.
//!
//! A recorder that meets a very deep stack cuts its codewords short, losing innermost frames, but
//! goes on counting the next prefix by the whole stack. A prefix longer than the backtrace we have
//! therefore means: use the codewords for the cache alone and keep the backtrace as it is.

use super::anomaly::Cause;
use super::tables::Tables;
use crate::header::Verify;
use crate::units::{Code, FrameId, StackId};
use crate::wire::{code63, tag};

/// Frames that one codeword can bring, rounded up to a whole number of fours after the first.
const MAX_FRAMES: usize = 257;
/// Frames that a stack can have. An OCaml 5 stack of 1 GiB, the default limit, holds fewer calls
/// than this unless they are of the smallest kind.
const MAX_DEPTH: usize = 1 << 25;

/// Indices that a `u16` can be.
const INDEXABLE: usize = 1 << 16;

/// Pairs of backtraces whose nodes are remembered, a power of two: 1 MiB.
const REMEMBERED: usize = 1 << 15;

/// Backtraces not decoded, decoded to codes, decoded to codes and nodes.
pub(super) const MARKS: u8 = 0;
pub(super) const CODES: u8 = 1;
pub(super) const STACKS: u8 = 2;

/// What of the state of a domain its backtraces need. Arrays of their own, because following
/// predictions is a chain of loads and `next` alone fits the first-level cache.
#[derive(Debug)]
pub(super) struct Backtraces {
    next: Box<[u16; INDEXABLE]>,
    cache: Box<[Code; INDEXABLE]>,
    /// The frame of each code, counted from 1; only kept for [`STACKS`].
    frame_of: Box<[u32; INDEXABLE]>,
    /// The last backtrace, outermost frame first: the first `depth` entries. The rest is room.
    stack: Vec<Code>,
    /// The same as frames; only kept for [`STACKS`], as is all that follows.
    frames: Vec<u32>,
    /// A hash of the backtrace up to each frame.
    hashes: Vec<u64>,
    /// The nodes of the first frames: not more of them than were needed.
    nodes: Vec<StackId>,
    /// The node of the whole.
    node: StackId,
    /// Nodes of backtraces met lately, by their hashes: most backtraces come again and again, and
    /// one look-up finds them, which need not wait for the one before.
    remembered: Vec<[(u64, u32); 2]>,
    depth: usize,
}

/// As long as a `u16` can index, so that no index needs a check. Only the first [`BUCKETS`](crate::wire::BUCKETS) are
/// ever used, and the zeros come from the system: a domain costs only the pages it touches.
#[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
fn zeroed<T: Copy + Default>() -> Box<[T; INDEXABLE]> {
    let zeros = vec![T::default(); INDEXABLE].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| Box::new([T::default(); INDEXABLE]))
}

impl Backtraces {
    pub(super) fn new() -> Self {
        Self {
            next: zeroed(),
            cache: zeroed(),
            frame_of: zeroed(),
            stack: Vec::new(),
            frames: Vec::new(),
            hashes: Vec::new(),
            nodes: Vec::new(),
            node: StackId::ROOT,
            // Zeros from the system, as above.
            remembered: vec![[(0, 0); 2]; REMEMBERED],
            depth: 0,
        }
    }

    /// The last backtrace.
    #[inline]
    pub(super) fn stack(&self) -> &[Code] {
        self.stack.get(..self.depth).unwrap_or_default()
    }

    /// Its node, for [`STACKS`].
    #[inline]
    pub(super) fn node(&self) -> StackId {
        self.node
    }

    pub(super) fn agrees(&self, verify: &Verify) -> bool {
        let bucket = usize::from(verify.bucket);
        self.next.get(bucket) == Some(&verify.next) && self.cache.get(bucket) == Some(&verify.code)
    }

    /// Decodes `count` codewords at the beginning of `rest`; what follows them, or `None` if
    /// [`failure`](Self::failure) says why not.
    #[inline]
    pub(super) fn decode<'a, const MODE: u8>(
        &mut self,
        rest: &'a [u8],
        count: usize,
        prefix: usize,
        tables: &mut Tables,
    ) -> Option<&'a [u8]> {
        if MODE == MARKS {
            return skip(rest, count);
        }
        let kept = prefix.min(self.depth);
        let Some((rest, depth)) = self.frames::<MODE>(rest, count, kept, tables) else {
            self.depth = kept;
            if MODE == STACKS {
                self.intern(kept, tables);
            }
            return None;
        };
        // A prefix beyond what we have: the codewords were only for the cache.
        if prefix <= self.depth {
            self.depth = depth;
            if MODE == STACKS {
                self.intern(kept, tables);
            }
        }
        Some(rest)
    }

    /// Why the last [`decode`](Self::decode) did not.
    #[cold]
    pub(super) fn failure(&self) -> Cause {
        if self.stack.len() > MAX_DEPTH { Cause::Depth(MAX_DEPTH as u64) } else { Cause::CutEvent }
    }

    /// Decodes codewords to frames from index `depth` on; what follows them, and the new depth.
    #[inline]
    fn frames<'a, const MODE: u8>(
        &mut self,
        mut rest: &'a [u8],
        count: usize,
        depth: usize,
        tables: &mut Tables,
    ) -> Option<(&'a [u8], usize)> {
        // Borrowed one by one, so that a store to one is known not to move another.
        let (next, cache, frame_of) = (&mut *self.next, &mut *self.cache, &mut *self.frame_of);
        let mut len = self.stack.len();
        let mut room = self.stack.get_mut(depth..)?;
        let mut frame_room: &mut [u32] = &mut [];
        if MODE == STACKS {
            frame_room = self.frames.get_mut(depth..)?;
        }
        let mut bucket = 0_u16;
        for _ in 0..count {
            let head = u32::from_le_bytes(*rest.first_chunk()?);
            let (named, tag) = (head as u16 >> 2, head as u16 & 3);
            next[usize::from(bucket)] = named;
            bucket = named;
            if room.len() < MAX_FRAMES {
                let depth = len - room.len();
                room = grow(&mut self.stack, depth)?;
                len = depth + room.len();
                if MODE == STACKS {
                    frame_room = grow(&mut self.frames, depth)?;
                }
            }
            let codes = room.first_chunk_mut::<MAX_FRAMES>()?;
            let mut none = [];
            let frames: &mut [u32] =
                if MODE == STACKS { frame_room.get_mut(..MAX_FRAMES)? } else { &mut none };
            let here = usize::from(bucket);
            let mut predicted = usize::from(tag);
            if tag == tag::MISS {
                codes[0] = code63(u64::from_le_bytes(*rest.get(2..)?.first_chunk()?));
                cache[here] = codes[0];
                if MODE == STACKS {
                    frames[0] = tables.locations.meet(codes[0]).0 + 1;
                    frame_of[here] = frames[0];
                }
                predicted = 0;
                rest = &rest[10..];
            } else {
                let is_counted = tag == tag::HIT_N;
                predicted = if is_counted { usize::from((head >> 16) as u8) } else { predicted };
                rest = &rest[2 + usize::from(is_counted)..];
                codes[0] = cache[here];
                if MODE == STACKS {
                    frames[0] = frame_of[here];
                }
                // In fours, because a branch that guesses wrong costs more than a few frames that
                // are followed in vain: what is too much will be overwritten.
                let mut at = here;
                let mut groups = codes[1..].chunks_exact_mut(4);
                let mut frame_groups = frames.get_mut(1..).unwrap_or_default().chunks_exact_mut(4);
                let mut left = predicted;
                while left >= 4 {
                    let before = at;
                    for code in groups.next()? {
                        at = usize::from(next[at]);
                        *code = cache[at];
                    }
                    if MODE == STACKS {
                        at = before;
                        for frame in frame_groups.next()? {
                            at = usize::from(next[at]);
                            *frame = frame_of[at];
                        }
                    }
                    left -= 4;
                }
                let first = usize::from(next[at]);
                let second = usize::from(next[first]);
                let third = usize::from(next[second]);
                let group = groups.next()?;
                group[0] = cache[first];
                group[1] = cache[second];
                group[2] = cache[third];
                if MODE == STACKS {
                    let group = frame_groups.next()?;
                    group[0] = frame_of[first];
                    group[1] = frame_of[second];
                    group[2] = frame_of[third];
                }
                bucket = [at, first, second, third][left & 3] as u16;
            }
            room = &mut room[predicted + 1..];
            if MODE == STACKS {
                frame_room = &mut frame_room[predicted + 1..];
            }
        }
        Some((rest, len - room.len()))
    }

    /// Finds the node of the backtrace, whose frames from index `kept` on are new.
    #[inline]
    fn intern(&mut self, kept: usize, tables: &mut Tables) {
        if kept == self.depth && self.hashes.len() == kept {
            return;
        }
        self.hashes.truncate(kept);
        self.nodes.truncate(kept);
        let mut hash = self.hashes.last().copied().unwrap_or(0);
        let frames = self.frames.get(kept..self.depth).unwrap_or_default();
        self.hashes.extend(frames.iter().map(|&frame| {
            hash = hash_with(hash, frame);
            hash
        }));
        let index = hash as usize % REMEMBERED;
        self.node = match self.remembered.get(index) {
            Some([(known, node), _] | [_, (known, node)]) if *known == hash => StackId(*node),
            _ => self.enter(index, hash, tables),
        };
    }

    /// Finds the nodes of all frames that have none yet, and remembers the last one.
    #[inline(never)]
    fn enter(&mut self, index: usize, hash: u64, tables: &mut Tables) -> StackId {
        let own = tables.own(self.stack());
        let mut intern = |node, from_1: u32| {
            let frame = match from_1.checked_sub(1) {
                Some(frame) => FrameId(frame),
                // A bucket that nothing has filled: the trace is damaged.
                None => tables.locations.meet(Code(0)),
            };
            tables.stacks.intern(node, frame)
        };
        let node = if own.start == 0 {
            let mut node = self.nodes.last().copied().unwrap_or(StackId::ROOT);
            let frames = self.frames.get(self.nodes.len()..own.end).unwrap_or_default();
            self.nodes.extend(frames.iter().map(|&frame| {
                node = intern(node, frame);
                node
            }));
            own.end.checked_sub(1).and_then(|last| self.nodes.get(last)).copied()
        } else {
            let frames = self.frames.get(own).unwrap_or_default();
            Some(frames.iter().fold(StackId::ROOT, |node, &frame| intern(node, frame)))
        };
        let node = node.unwrap_or(StackId::ROOT);
        if let Some(pair) = self.remembered.get_mut(index) {
            *pair = [(hash, node.0), pair[0]];
        }
        node
    }

    /// Frames of the last backtrace.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// The hash of a path with one more frame: 64 bits, of which a million different paths share one
/// with a chance of one in thirty million.
#[inline]
fn hash_with(hash: u64, frame: u32) -> u64 {
    let sum = hash.wrapping_add(u64::from(frame)).wrapping_add(0x632B_E59B_D9B4_E019);
    let product = sum.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ product >> 32
}

/// Makes room for one codeword's frames behind the first `depth`.
#[cold]
fn grow<T: Copy + Default>(stack: &mut Vec<T>, depth: usize) -> Option<&mut [T]> {
    if depth > MAX_DEPTH {
        return None;
    }
    stack.resize((depth + MAX_FRAMES) * 2, T::default());
    stack.get_mut(depth..)
}

fn skip(mut rest: &[u8], count: usize) -> Option<&[u8]> {
    const SKIP: [usize; 4] = [2, 2, 3, 10];
    for _ in 0..count {
        let low = rest.first()?;
        rest = rest.get(SKIP[usize::from(low & 3)]..)?;
    }
    Some(rest)
}
