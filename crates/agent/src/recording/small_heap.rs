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
use memtrail_recording::{Description, too_low};

use crate::context::runtime::OcamlRuntime;

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
    pub(crate) fn look(&self, runtime: &OcamlRuntime, memory: &impl Memory, state: u64) {
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

    /// Writes into the recording's description, once, what its readers should know.
    pub(crate) fn note(&self, description: &mut Description) {
        if !self.is_news() || self.noted.swap(true, Relaxed) {
            return;
        }
        let words = self.words.load(Acquire);
        description.sampling.small_minor_heap = Some(words);
        description.notes.push(too_low(words));
    }
}
