//! Allocates and frees many small blocks, directly or through the sampler, for a tool that counts instructions:
//!
//! ```sh
//! cargo build --release -p memtrail-sampler --example cost
//! for how in system sampler profile; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/cost $how
//! done
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

use memtrail_sampler::{Alloc, Bytes, NullTracker, Rate, start};

static SAMPLER: Alloc = Alloc::system();
const BLOCKS: u32 = 1_000_000;

fn churn(allocator: &impl GlobalAlloc) {
    let layout = Layout::new::<[u64; 4]>();
    for _ in 0..BLOCKS {
        // SAFETY: the size is not 0, and the block is freed as it was allocated.
        unsafe {
            let block = black_box(allocator.alloc(layout));
            allocator.dealloc(block, layout);
        }
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("sampler") => churn(&SAMPLER),
        Some("profile") => {
            let profile = start(Rate::every(Bytes(512 << 10)), 64, NullTracker);
            churn(&SAMPLER);
            drop(profile);
        }
        _ => churn(&System),
    }
}
