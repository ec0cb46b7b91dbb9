//! Backtraces as differences: from the previous one of the stream, and from what usually follows
//! each call site.
//!
//! The cache of codes and its predictions are the same in the reader; only which of
//! two buckets a code is given is the writer's own choice.

use crate::header::{VERIFY_FIRST, VERIFY_STEP, Verify};
use crate::units::Code;
use crate::wire::{BUCKETS, tag};
use crate::write::sink::Sink;

/// Bytes that a backtrace takes at most: nearly a whole packet. Readers take any number.
pub(super) const MAX_BYTES: usize = 30 << 10;
/// Frames at the inner end that are written in any case: where a block was allocated is never lost.
const ALWAYS: usize = 16;
/// Bytes that one frame takes at most, and the count that the codeword before it may still get.
const MAX_FRAME: usize = 2 + 8 + 1;
/// Bytes for them, and for one more.
const RESERVE: usize = (ALWAYS + 1) * MAX_FRAME;
/// The most predictions that one codeword counts.
const MAX_RUN: u8 = u8::MAX;

const MASK: usize = BUCKETS - 1;
/// The code of a bucket after a restart: readers may have any there. No code is equal to it, for codes have 63 bits.
const ANY_CODE: Code = Code(u64::MAX);
/// Likewise the bucket that follows. There are fewer.
const ANY_BUCKET: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    code: Code,
    /// Which backtrace last used it, modulo 2^32.
    date: u32,
    /// The bucket that followed it last.
    next: u16,
}

// A table of these is walked at random in somebody else's process: four to a cache line.
const _: () = assert!(size_of::<Bucket>() == 16);

/// What a reader of the stream knows of its backtraces.
#[derive(Debug)]
pub(super) struct Backtraces {
    buckets: Box<[Bucket; BUCKETS]>,
    /// The previous backtrace as the reader has it, outermost frame first.
    last: Vec<Code>,
    date: u32,
    verify: u16,
}

impl Backtraces {
    /// `None` when there is no memory for it.
    pub(super) fn new() -> Option<Self> {
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(BUCKETS).ok()?;
        buckets.resize(BUCKETS, Bucket::default());
        let buckets = buckets.into_boxed_slice().try_into().ok()?;
        let mut last = Vec::new();
        last.try_reserve(1024).ok()?;
        Some(Self { buckets, last, date: 0, verify: VERIFY_FIRST })
    }

    /// Forgets what a reader of the stream knows.
    pub(super) fn restart(&mut self) {
        self.buckets.fill(Bucket { code: ANY_CODE, date: 0, next: ANY_BUCKET });
        self.last.clear();
    }

    /// Frames that the previous backtrace has in common with one that begins with `kept` equal
    /// frames and goes on with `rest`, of which the common ones are taken.
    pub(super) fn common(
        &self,
        kept: usize,
        rest: &mut std::iter::Peekable<impl Iterator<Item = Code>>,
    ) -> usize {
        let kept = kept.min(self.last.len());
        let more = self.last.iter().skip(kept);
        kept + more.take_while(|&&code| rest.next_if(|&ours| real(ours) == code).is_some()).count()
    }

    /// Frames that the previous backtrace and `backtrace` begin with, the first `kept` of which are
    /// known to be equal.
    pub(super) fn shared(&self, backtrace: &[Code], kept: usize) -> usize {
        let kept = kept.min(self.last.len()).min(backtrace.len());
        let pairs = self.last.iter().zip(backtrace).skip(kept);
        kept + pairs.take_while(|&(&last, &ours)| real(ours) == last).count()
    }

    /// Bytes that are to be left for these frames: they take less, but if codes are driven out of the
    /// cache on the way.
    pub(super) fn estimate(&self, frames: impl ExactSizeIterator<Item = Code>) -> usize {
        /// A few frames take so little that it need not be known.
        const FEW: usize = 256;
        // Of codewords that count predictions, the third byte says at least three frames.
        const HIT: usize = 2;
        if frames.len() <= FEW {
            return frames.len() * MAX_FRAME;
        }
        // Codes that come to the cache on the way, as far as they do not drive each other out of here.
        let mut new = [Code(0); 64];
        let bytes = |code: Code| {
            let code = real(code);
            let known = &mut new[(code.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize];
            if self.has(code) || std::mem::replace(known, code) == code { HIT } else { MAX_FRAME }
        };
        frames.map(bytes).sum::<usize>() + RESERVE
    }

    /// Whether a backtrace can be written whole when these frames of it must be said.
    pub(super) fn fits(&self, frames: &[Code]) -> bool {
        self.estimate(frames.iter().copied()) <= MAX_BYTES
    }

    /// Whether a code is in the cache: then this stream has used it before.
    #[inline]
    pub(super) fn has(&self, code: Code) -> bool {
        self.place(code).1
    }

    /// Frames of the previous backtrace, as the reader has it.
    pub(super) fn depth(&self) -> usize {
        self.last.len()
    }

    /// Writes the backtrace made of the first `kept` frames of the previous one and of `rest`, in this
    /// many bytes.
    /// Returns how many codewords it took.
    pub(super) fn put(
        &mut self,
        out: &mut Sink<'_>,
        kept: usize,
        rest: impl Iterator<Item = Code>,
        len: usize,
        bytes: usize,
    ) -> u16 {
        self.date = self.date.wrapping_add(1);
        self.last.truncate(kept);
        if self.last.try_reserve(len).is_err() {
            // What we cannot remember, we do not say.
            return 0;
        }
        let limit = out.at() + bytes.saturating_sub(RESERVE);
        let mut codewords = 0;
        let mut at = 0; // the bucket before
        let mut run = None; // the codeword whose predictions are being counted
        let mut rest = rest.take(len).map(real);
        let mut left = len;
        while let Some(mut code) = rest.next() {
            left = left.saturating_sub(1);
            if let Some((word, count)) = &mut run {
                let next = self.bucket(at).next;
                let is_known = next != ANY_BUCKET;
                let next = usize::from(next);
                if is_known && self.bucket(next).code == code && *count < MAX_RUN {
                    *count += 1;
                    at = next;
                    self.bucket_mut(at).date = self.date;
                    self.last.push(code);
                    continue;
                }
                end_run(out, *word, *count);
            }
            run = None;
            if out.at() > limit && left >= ALWAYS {
                // Only what does not fit comes here; what is left out is not even counted.
                let Some(inner) = rest.nth(left - ALWAYS) else { break };
                (code, left) = (inner, ALWAYS - 1);
            }
            let (bucket, hit) = self.place(code);
            self.bucket_mut(at).next = bucket as u16;
            at = bucket;
            codewords += 1;
            let entry = self.bucket_mut(bucket);
            entry.code = code;
            if hit {
                run = Some((Word { at: out.at(), bucket: bucket as u16 }, 0));
                out.u16((bucket as u16) << 2);
            } else {
                out.u16((bucket as u16) << 2 | tag::MISS);
                out.u64(code.0);
            }
            self.bucket_mut(bucket).date = self.date;
            self.last.push(code);
        }
        if let Some((word, count)) = run {
            end_run(out, word, count);
        }
        codewords
    }

    /// The bucket of a code, and whether the code is in it already.
    #[inline]
    fn place(&self, code: Code) -> (usize, bool) {
        let hash = code.0.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (one, other) = ((hash >> 50) as usize & MASK, (hash >> 36) as usize & MASK);
        let (first, second) = (self.bucket(one), self.bucket(other));
        if first.code == code {
            (one, true)
        } else if second.code == code {
            (other, true)
        } else if self.age(first) > self.age(second) {
            (one, false)
        } else {
            (other, false)
        }
    }

    fn age(&self, bucket: &Bucket) -> u32 {
        if bucket.code.0 == 0 || bucket.code == ANY_CODE {
            u32::MAX
        } else {
            self.date.wrapping_sub(bucket.date)
        }
    }

    #[inline]
    fn bucket(&self, index: usize) -> &Bucket {
        &self.buckets[index & MASK]
    }

    #[inline]
    fn bucket_mut(&mut self, index: usize) -> &mut Bucket {
        &mut self.buckets[index & MASK]
    }

    /// The bucket that the packet about to begin lets readers compare with theirs, unless what they have there is not
    /// known since a restart.
    pub(super) fn verify(&mut self) -> Option<Verify> {
        let bucket = self.verify;
        self.verify = (bucket + VERIFY_STEP) & MASK as u16;
        let &Bucket { code, next, .. } = self.bucket(bucket.into());
        (code != ANY_CODE && next != ANY_BUCKET).then_some(Verify { bucket, next, code })
    }
}

/// A hit in the making.
#[derive(Clone, Copy)]
struct Word {
    at: usize,
    bucket: u16,
}

fn end_run(out: &mut Sink<'_>, word: Word, count: u8) {
    match count {
        0 => {}
        1 => out.patch(word.at, (word.bucket << 2 | 1).to_le_bytes()),
        _ => {
            out.patch(word.at, (word.bucket << 2 | tag::HIT_N).to_le_bytes());
            out.u8(count);
        }
    }
}

/// The 63 bits of a code that readers take.
#[inline]
pub(super) fn real(code: Code) -> Code {
    crate::wire::code63(code.0)
}
