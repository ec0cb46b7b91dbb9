//! The sampled blocks as the sampler has them.

use memtrail_sampler::{each_tracked, holding_tracked};

use crate::malloc::tracker::BlockWriter;
use crate::references::{Area, Sampled};

/// Lists begin with this capacity, so that their memory is their own.
const AT_ONCE: usize = 1 << 16;

/// What only the library does that has functions before the allocator's.
pub(super) struct Functions {
    pub(super) hold: fn(&mut dyn FnMut()) -> bool,
    /// Only in a copy that was made while they were held.
    pub(super) list: unsafe fn(u8) -> List,
}

pub(super) const FUNCTIONS: Functions = Functions { hold, list };

/// Sampled blocks, and where they are noted.
pub(crate) struct List {
    pub(crate) blocks: Vec<Sampled>,
    pub(crate) ours: Vec<Area>,
}

fn hold(run: &mut dyn FnMut()) -> bool {
    holding_tracked(run).is_some()
}

unsafe fn list(epoch: u8) -> List {
    let mut blocks = Vec::with_capacity(AT_ONCE);
    // SAFETY: as the caller promises.
    let tables = unsafe {
        each_tracked::<BlockWriter>(|address, block| {
            if block.epoch == epoch {
                let (address, size, id) = (address.0 as u64, block.size.0, block.id);
                blocks.push(Sampled { address, size, id });
            }
        })
    };
    let ours = tables.into_iter().map(|table| table.start as u64..table.end as u64).collect();
    List { blocks, ours }
}
