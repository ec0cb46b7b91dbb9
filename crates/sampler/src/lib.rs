//! Statistical memory profiling for Rust programs, with the interface of OCaml's `Gc.Memprof`.
//!
//! A [profile](start) samples every allocated byte with the same probability, independently of all others.
//! A [`Tracker`] gets each sampled block with its callstack, remembers what it likes of it, and gets that
//! back when the block is freed. Cost and detail follow from the rate: one sample for 512 KiB costs
//! little; at [`Rate::EXACT`] every allocation is seen.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//!
//! use memtrail_sampler::{Alloc, Allocation, Bytes, Rate, Samples, Tracker, start};
//!
//! #[global_allocator]
//! static ALLOCATOR: Alloc = Alloc::system();
//!
//! /// Estimates how much memory is in use.
//! #[derive(Default)]
//! struct InUse(AtomicU64);
//!
//! impl Tracker for InUse {
//!     type Data = u64;
//!
//!     fn allocated(&self, allocation: &Allocation<'_>) -> Option<u64> {
//!         let samples = allocation.n_samples().0;
//!         self.0.fetch_add(samples, Relaxed);
//!         Some(samples)
//!     }
//!
//!     fn freed(&self, samples: u64) {
//!         self.0.fetch_sub(samples, Relaxed);
//!     }
//! }
//!
//! let rate = Rate::every(Bytes(512));
//! let profile = start(rate, 32, InUse::default()).expect("no profile is running yet");
//! let blocks: Vec<Vec<u8>> = (0..1000).map(|_| vec![1; 10_000]).collect();
//! drop(blocks.into_iter().skip(500).collect::<Vec<_>>());
//! let in_use = rate.estimate(Samples(profile.stop().0.into_inner()));
//! println!("{} bytes, give or take {}", in_use.bytes, in_use.variance.sqrt());
//! ```
//!
//! With [`trace_if_requested`] in its `main`, a program writes a recording of itself under `memtrail run`, which
//! `memtrail report` and `memtrail view` show.
//!
//! [`testing`] has assertions for tests about the memory that some code uses.
//!
//! # What is counted
//!
//! A block counts with the size that the program asked for. Changing a block's size frees it and allocates
//! another one, be it at the same address: the new one is sampled for itself. So the samples of all blocks in
//! use have, at any moment, a binomial distribution, and [`Rate::estimate`] is unbiased for any set of them.
//!
//! # Cost
//!
//! - An allocation costs a subtraction from a counter of the thread's and a branch; a deallocation costs a
//!   load from a table of 64 KiB and a branch. No lock is taken and nothing is allocated. Both together are 12 instructions (`examples/cost.rs`).
//! - Each thread looks every 64 KiB of its allocation whether a profile is running.
//! - A sample costs its callstack, up to five microseconds, and the tracker's callback: at one sample for 512 KiB
//!   about 1 % of the CPU time for each GB that the program allocates in a second.
//!
//! # Static probes
//!
//! Blocks that a tracker remembers are announced to profilers outside of the process by the probes (USDT)
//! `otel_memory:alloc(address, size, weighted_bytes)` and `otel_memory:free(address)`, on x86-64 and arm64. Without a
//! listener each is an instruction that does nothing.
//!
//! # Invariants
//!
//! - An allocation that is not sampled reads and writes data of its thread alone.
//! - No callback runs with a lock of this crate held, and none is sampled itself.
//! - A tracked block is taken out of the table before its memory is freed: no two blocks of one address
//!   are ever in it.
//! - The table's memory comes from the kernel, never from the allocator that is profiled.
//! - A forked child finds every table whole, and samples on with random numbers of its own.

mod alloc;
mod callstack;
pub mod draw;
pub mod events;
mod filter;
mod fork;
mod hash;
mod labels;
mod mapping;
mod pending;
mod probes;
mod profile;
mod rate;
#[cfg(feature = "recording")]
mod recording;
#[cfg(any(feature = "preloaded", feature = "recording"))]
mod signals;
mod spin_lock;
mod table;
pub mod testing;
mod thread;
mod thread_slot;
#[cfg(feature = "preloaded")]
mod tracked;
mod tracker;
mod units;
mod value;

pub use alloc::Alloc;
pub use callstack::{Callstack, MAX_FRAMES, Registers, forget_rules};
#[cfg(feature = "preloaded")]
pub use callstack::{is_uninterrupted, walk_only_by_rules};
pub use events::suspended;
pub use labels::{LabelGuard, label};
pub use mapping::memory_of_tables;
pub use profile::{Profile, StartError, start, start_in_words, start_seeded};
pub use rate::{Estimate, InvalidRate, Rate};
#[cfg(feature = "recording")]
pub use recording::trace_if_requested;
#[cfg(feature = "preloaded")]
pub use signals::without_signals;
#[cfg(feature = "preloaded")]
pub use tracked::{each_tracked, holding_tracked};
pub use tracker::{Allocation, NullTracker, Source, Tracker};
pub use units::{Address, Bytes, Samples};
