//! What the OCaml runtime counts, and where its memory is, read while the program runs.
//!
//! Everything is read through the kernel, which refuses what is not mapped any more. A list that changes
//! meanwhile gives a piece too many or too few.

use std::ops::Range;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_heap::Bytes;
use memtrail_ocaml::Memory;
use memtrail_ocaml::heap::code::referred;
use memtrail_ocaml::heap::pools::Unowned;
use memtrail_ocaml::heap::{chunks, counters, pools};
use memtrail_ocaml::memory::Probed;
use memtrail_ocaml::symbols::{heap as names, minor_gc};
use memtrail_recording::memory::resident::RuntimeMemory;
use memtrail_recording::memory::{Figure, MemoryFigures};

use crate::context::functions::size_of_function;
use crate::context::runtime::OcamlRuntime;
use crate::os::objects::writable_around;
use crate::os::symbol::symbol;

/// Domains beyond these are not measured.
const MAX_DOMAINS: usize = 128;
/// Free pools beyond these are not measured: 1 GiB.
const MAX_FREE_POOLS: usize = 1 << 15;
/// Chunks beyond these are not measured.
const MAX_CHUNKS: usize = 1 << 16;
/// Bytes of a function's code that are looked at.
const MAX_CODE: usize = 4096;
const WORD: u64 = 8;

/// The addresses of the domains' states; 0 where none is known. OCaml 4 has one.
pub(crate) struct Domains {
    states: [AtomicU64; MAX_DOMAINS],
    /// The place to look for the heap's memory that no domain has; none before OCaml 5.
    statics: Option<Statics>,
    /// The address of the list of that memory; 0 as long as it is not known.
    unowned: AtomicU64,
}

impl Domains {
    pub(super) fn new(state: u64) -> Self {
        let states = [const { AtomicU64::new(0) }; MAX_DOMAINS];
        let domains = Self { states, statics: Statics::find(), unowned: AtomicU64::new(0) };
        domains.found(0, state);
        domains
    }

    /// The domain with this number has its state there.
    pub(crate) fn found(&self, number: u16, state: u64) {
        if let Some(place) = self.states.get(usize::from(number)) {
            place.store(state, Relaxed);
        }
    }

    fn all(&self) -> impl Iterator<Item = u64> {
        self.states.iter().map(|state| state.load(Relaxed)).filter(|&state| state != 0)
    }

    /// Adds the runtime's figures, and gives its memory, by address.
    pub(super) fn measure(
        &self,
        runtime: &OcamlRuntime,
        figures: &mut MemoryFigures,
    ) -> Vec<RuntimeMemory> {
        let Ok(memory) = Probed::open() else { return Vec::new() };
        let layout = &runtime.layout;
        let mut found = Vec::new();
        for state in self.all() {
            // A domain that has ended has left its heap to others.
            let ended = layout
                .multicore()
                .is_some_and(|fields| pools::heap_of_owner(&memory, fields, state).is_none());
            if ended {
                continue;
            }
            let field = |offset| memory.field(state, offset);
            let ends = field(layout.state.young_start).zip(field(layout.state.young_end));
            found.extend(ends.map(|(start, end)| piece(start..end, Figure::MinorHeaps)));
            counters::each(&memory, layout, state, |name, words| {
                let figure = match name {
                    "heap_words" | "pool_words" => Figure::MajorHeap,
                    "pool_live_words" => Figure::PoolsUsed,
                    "pool_frag_words" => Figure::PoolsLost,
                    "large_words" => Figure::LargeBlocks,
                    _ => return,
                };
                add(figures, figure, words);
            });
        }
        if let Some(unowned) = self.unowned(&memory, runtime) {
            add(figures, Figure::MajorHeap, unowned.pools.saturating_add(unowned.free));
            add(figures, Figure::PoolsUsed, unowned.used);
            add(figures, Figure::PoolsLost, unowned.lost);
            add(figures, Figure::LargeBlocks, unowned.large);
        }
        if layout.single().is_some() {
            let words = memory.u64(symbol(names::FREE_WORDS) as u64);
            figures.set(Figure::MajorFree, words.map(|words| Bytes(words.saturating_mul(WORD))));
            let first = symbol(names::CHUNKS) as u64;
            let chunks = chunks::Chunks::new(&memory, layout.version, first).into_iter().flatten();
            found.extend(chunks.take(MAX_CHUNKS).map(|chunk| {
                piece(chunk.start..chunk.start.saturating_add(chunk.bytes), Figure::Chunks)
            }));
        }
        found.sort_unstable_by_key(|piece| piece.addresses.start);
        found
    }

    /// OCaml 5: memory of the heap that domains which have ended left behind, and free pools. The runtime keeps both in a
    /// variable that has no symbol. It is found by its content, which another domain may change meanwhile: then later.
    fn unowned(&self, memory: &Probed, runtime: &OcamlRuntime) -> Option<Unowned> {
        let statics = self.statics.as_ref()?;
        let memory = StaticsFirst { statics: &statics.data, memory };
        let mut at = self.unowned.load(Relaxed);
        if at == 0 {
            let candidates = referred(statics.code, statics.code.as_ptr() as u64)
                .filter(|at| statics.data.contains(at));
            let is_mapped = |address| memory.u64(address).is_some();
            at = pools::find_pool_freelist(&memory, runtime.version, candidates, is_mapped)?;
            self.unowned.store(at, Relaxed);
        }
        Unowned::read(&memory, at, MAX_FREE_POOLS)
    }
}

/// The runtime's static data, and the code of the function that refers to the heap's memory that no domain has.
struct Statics {
    code: &'static [u8],
    data: Range<u64>,
}

impl Statics {
    fn find() -> Option<Self> {
        let function = symbol(names::ORPHANS);
        if function.is_null() {
            return None;
        }
        let size = size_of_function(names::ORPHANS).min(MAX_CODE);
        // SAFETY: the code of a function of an object that stays.
        let code = unsafe { slice::from_raw_parts(function.cast::<u8>(), size) };
        let data = writable_around(symbol(minor_gc::BEGIN_HOOK) as u64, u64::MAX)?;
        Some(Self { code, data })
    }
}

/// Memory of this process, of which static data are read without the kernel: most of a search looks at nothing else.
struct StaticsFirst<'m> {
    statics: &'m Range<u64>,
    memory: &'m Probed,
}

impl Memory for StaticsFirst<'_> {
    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        if !self.statics.contains(&at) || self.statics.end - at < N as u64 {
            return self.memory.bytes(at);
        }
        // SAFETY: writable data of an object that stays. Another thread may write a word meanwhile: it is read before or after.
        Some(unsafe { ptr::with_exposed_provenance::<[u8; N]>(at as usize).read_volatile() })
    }
}

fn add(figures: &mut MemoryFigures, figure: Figure, words: u64) {
    let sum = figures.get(figure).unwrap_or_default();
    figures.set(figure, sum + Bytes(words.saturating_mul(WORD)));
}

fn piece(addresses: Range<u64>, figure: Figure) -> RuntimeMemory {
    RuntimeMemory { resident: resident(addresses.clone()), addresses, figure }
}

/// Pages that the kernel is asked for at once.
const PAGES: usize = 4096;

/// How much is resident of memory without a file.
fn resident(addresses: Range<u64>) -> Bytes {
    // SAFETY: asks for a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as u64;
    let mut states = [0_u8; PAGES];
    let mut at = addresses.start & !(page - 1);
    let mut pages = 0;
    while at < addresses.end {
        let left = (addresses.end - at).div_ceil(page).min(PAGES as u64);
        let start = ptr::without_provenance_mut(at as usize);
        // SAFETY: reads no memory there, and fails if there is none; a byte for each page has room.
        let known =
            unsafe { libc::mincore(start, (left * page) as usize, states.as_mut_ptr()) } == 0;
        let states = states.get(..left as usize).filter(|_| known).unwrap_or_default();
        pages += states.iter().filter(|&&state| state & 1 != 0).count() as u64;
        at += left * page;
    }
    Bytes(pages * page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_resident_once_they_are_touched() {
        const PAGES: usize = 5_000;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping, whose pages of ordinary size are written to, and which is given back.
        unsafe {
            let at = libc::mmap(ptr::null_mut(), PAGES * 4096, access, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            libc::madvise(at, PAGES * 4096, libc::MADV_NOHUGEPAGE);
            let range = at as u64..at as u64 + PAGES as u64 * 4096;
            assert_eq!(resident(range.clone()), Bytes(0));
            for page in [0, 7, 4_095, 4_096, 4_999] {
                at.cast::<u8>().add(page * 4096 + 17).write_volatile(1);
            }
            assert_eq!(resident(range.clone()), Bytes(5 * 4096));
            assert_eq!(resident(range.start + 100..range.start + 200), Bytes(4096));
            libc::munmap(at, PAGES * 4096);
            assert_eq!(resident(range), Bytes(0));
        }
    }
}
