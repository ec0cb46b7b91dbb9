//! Which of several blocks that are allocated at once a sample fell into: the code of its place in the
//! source, by return address and index.
//!
//! The answer is in the frame descriptor, four cold cache lines away; here are the last few.

use memtrail_trace::Code;

const KEPT: usize = 128;

/// Answers met before, one thread's.
pub(crate) struct SiteCache([(u64, Option<Code>); KEPT]);

impl Default for SiteCache {
    fn default() -> Self {
        Self([(0, None); KEPT])
    }
}

impl SiteCache {
    /// The code for the block at `index` of those allocated at `pc`, found by `find` if it is new.
    #[inline]
    pub(super) fn get(
        &mut self,
        pc: u64,
        index: u8,
        find: impl FnOnce() -> Option<Code>,
    ) -> Option<Code> {
        let key = pc << 8 | u64::from(index);
        let kept = &mut self.0[(pc ^ pc >> 7 ^ u64::from(index)) as usize % KEPT];
        if kept.0 != key {
            *kept = (key, find());
        }
        kept.1
    }
}
