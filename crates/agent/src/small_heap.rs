//! Small minor heaps, in which the sampler of OCaml 5.3 and later loses samples.
//!
//! A sample that falls into the last 257 words of the minor heap makes the runtime collect it
//! (`caml_poll_gc_work` in `runtime/domain.c`: what is left would not hold the largest young block), and
//! after a minor collection `runtime/memprof.c` draws the distance to the next sample anew. So no
//! allocation there is ever sampled: 0.1 % of the default minor heap, half of one of 512 words. The
//! runtime's own `Gc.Memprof` has the same fault. What is lost cannot be told from what is recorded, so
//! the recording says that its figures are low.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

use memtrail_ocaml::Version;
use memtrail_ocaml::memory::Memory;

use crate::runtime::Runtime;

/// In words. With as many, less than 1 % of the samples are lost.
const LARGE_ENOUGH: u64 = 32 * 1024;

/// Whether a domain was seen with a small minor heap, and whether the recording says so.
#[derive(Default)]
pub(crate) struct SmallHeap {
    /// Words of the first that was seen; 0 while there is none.
    words: AtomicU64,
    noted: AtomicBool,
}

impl SmallHeap {
    /// Looks at the minor heap of the domain with this state: programs may change it at any time.
    #[inline]
    pub(crate) fn look(&self, runtime: &Runtime, memory: &impl Memory, state: u64) {
        if runtime.version < Version::V5_3 || self.words.load(Relaxed) != 0 {
            return;
        }
        if let Some(words) = memory.field(state, runtime.layout.state.minor_heap_wsz)
            && words < LARGE_ENOUGH
        {
            self.words.store(words.max(1), Release);
        }
    }

    /// Whether there is something that the recording does not say yet.
    pub(crate) fn is_news(&self) -> bool {
        self.words.load(Acquire) != 0 && !self.noted.load(Relaxed)
    }

    /// What readers of the recording should know, once.
    pub(crate) fn take_note(&self) -> Option<String> {
        if !self.is_news() || self.noted.swap(true, Relaxed) {
            return None;
        }
        let words = self.words.load(Acquire);
        Some(format!(
            "estimates are too low: with a minor heap of {words} words the runtime of OCaml 5.3 and \
             later loses samples, with 32k words (OCAMLRUNPARAM=s=32k) hardly any"
        ))
    }
}
