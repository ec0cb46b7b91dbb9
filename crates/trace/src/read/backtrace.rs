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
use crate::wire::{BUCKETS, code63, tag};

/// Frames that one codeword can bring.
const MOST_FRAMES: usize = 256;
/// Frames that a stack can have. An OCaml 5 stack of 1 GiB, the default limit, holds fewer calls
/// than this unless they are of the smallest kind.
const MAX_DEPTH: usize = 1 << 25;

/// Backtraces not decoded, decoded to codes, decoded to codes and nodes.
pub(super) const MARKS: u8 = 0;
pub(super) const CODES: u8 = 1;
pub(super) const STACKS: u8 = 2;

/// What of the state of a domain its backtraces need. Arrays of their own, because following
/// predictions is a chain of loads and `next` alone fits the first-level cache.
#[derive(Debug)]
pub(super) struct Backtraces {
    next: Box<[u16; BUCKETS]>,
    codes: Box<[Code; BUCKETS]>,
    /// The frame of each code; only kept for [`STACKS`].
    frames: Box<[FrameId; BUCKETS]>,
    /// The last backtrace, outermost frame first: the first `depth` entries. The rest is room.
    stack: Vec<Code>,
    /// The node of each of its frames; only kept for [`STACKS`].
    nodes: Vec<StackId>,
    depth: usize,
}

/// How the frames of an allocation came about.
pub(super) struct Decoded {
    /// Where the codewords end.
    pub(super) pos: usize,
    /// Frames kept of the previous backtrace.
    pub(super) common_prefix: usize,
}

/// Zeros from the system where possible, so that a domain costs only the pages it touches.
#[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
fn zeroed<T: Copy + Default>() -> Box<[T; BUCKETS]> {
    let zeros = vec![T::default(); BUCKETS].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| Box::new([T::default(); BUCKETS]))
}

impl Backtraces {
    pub(super) fn new() -> Self {
        Self {
            next: zeroed(),
            codes: zeroed(),
            frames: zeroed(),
            stack: Vec::new(),
            nodes: Vec::new(),
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
        match self.depth {
            0 => StackId::ROOT,
            depth => self.nodes.get(depth - 1).copied().unwrap_or_default(),
        }
    }

    pub(super) fn agrees(&self, verify: &Verify) -> bool {
        let bucket = usize::from(verify.bucket);
        self.next.get(bucket) == Some(&verify.next) && self.codes.get(bucket) == Some(&verify.code)
    }

    /// Decodes `count` codewords from `pos` of `bytes` on.
    #[inline]
    pub(super) fn decode<const MODE: u8>(
        &mut self,
        bytes: &[u8],
        mut pos: usize,
        count: usize,
        prefix: usize,
        tables: &mut Tables,
    ) -> Result<Decoded, Cause> {
        if MODE == MARKS {
            return skip(bytes, pos, count);
        }
        let keep = prefix > self.depth;
        let common_prefix = prefix.min(self.depth);
        let mut depth = common_prefix;
        let mut node = StackId::ROOT;
        if MODE == STACKS && depth > 0 {
            node = self.nodes.get(depth - 1).copied().unwrap_or_default();
        }
        let mut bucket = 0_usize;
        for _ in 0..count {
            let Some(head) = bytes.get(pos..).and_then(<[u8]>::first_chunk::<4>) else {
                return Err(Cause::CutEvent);
            };
            let codeword = u16::from_le_bytes([head[0], head[1]]);
            pos += 2;
            let named = codeword >> 2;
            self.next[bucket & (BUCKETS - 1)] = named;
            bucket = usize::from(named);
            let mut predicted = 0;
            match codeword & 3 {
                tag::MISS => {
                    let Some(code) = bytes.get(pos..).and_then(<[u8]>::first_chunk::<8>) else {
                        return Err(Cause::CutEvent);
                    };
                    pos += 8;
                    let code = code63(u64::from_le_bytes(*code));
                    self.codes[bucket] = code;
                    if MODE == STACKS {
                        self.frames[bucket] = tables.locations.meet(code);
                    }
                }
                tag::HIT_N => {
                    predicted = usize::from(head[2]);
                    pos += 1;
                }
                tag => predicted = usize::from(tag),
            }
            if self.stack.len() < depth + MOST_FRAMES {
                self.grow::<MODE>(depth)?;
            }
            let Some(codes) = self.stack.get_mut(depth..depth + MOST_FRAMES) else {
                return Err(Cause::CutEvent);
            };
            let mut nodes: &mut [StackId] = &mut [];
            if MODE == STACKS {
                nodes = self.nodes.get_mut(depth..depth + MOST_FRAMES).unwrap_or_default();
            }
            depth += predicted + 1;
            let mut room = 0;
            loop {
                codes[room & (MOST_FRAMES - 1)] = self.codes[bucket];
                if MODE == STACKS && !keep {
                    node = tables.stacks.intern(node, self.frames[bucket]);
                    if let Some(slot) = nodes.get_mut(room) {
                        *slot = node;
                    }
                }
                if room == predicted {
                    break;
                }
                room += 1;
                bucket = usize::from(self.next[bucket]) & (BUCKETS - 1);
            }
        }
        if !keep {
            self.depth = depth;
        }
        Ok(Decoded { pos, common_prefix })
    }

    #[cold]
    fn grow<const MODE: u8>(&mut self, depth: usize) -> Result<(), Cause> {
        if depth > MAX_DEPTH {
            return Err(Cause::Depth(MAX_DEPTH as u64));
        }
        let len = (depth + MOST_FRAMES) * 2;
        self.stack.resize(len, Code::default());
        if MODE == STACKS {
            self.nodes.resize(len, StackId::ROOT);
        }
        Ok(())
    }
}

fn skip(bytes: &[u8], mut pos: usize, count: usize) -> Result<Decoded, Cause> {
    const SKIP: [usize; 4] = [2, 2, 3, 10];
    for _ in 0..count {
        let Some(&low) = bytes.get(pos) else { return Err(Cause::CutEvent) };
        pos += SKIP[usize::from(low & 3)];
    }
    Ok(Decoded { pos, common_prefix: 0 })
}
