//! The sampler's table of blocks that it tracks (`struct tracked` in 4.x's `runtime/memprof.c`,
//! `entry_s` in 5.3's): the runtime's iterators hand out the addresses of their user data.

use crate::memory::{Address, Memory};
use crate::version::Family;

/// A tracked block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Address of its field 0.
    pub block: Address,
    /// How many samples fell into it.
    pub samples: u64,
    /// What the callback of its allocation returned, or, before that, its callstack.
    pub user_data: u64,
}

/// 5.3: a flag that the block is an offset yet, not an address.
const IS_OFFSET: u64 = 1 << 2;
/// Offset of 5.3's flags from the user data.
const FLAGS_MULTICORE: u64 = 32;

impl Tracked {
    /// The entry whose user data stands at `slot`; `None` if its block is dead, or not yet there.
    pub fn read(memory: &impl Memory, family: Family, slot: Address) -> Option<Self> {
        let (block, samples) = match family {
            Family::Single => {
                (memory.u64(slot.checked_sub(24)?)?, memory.u64(slot.checked_sub(16)?)?)
            }
            Family::Multicore => {
                if memory.field(slot, FLAGS_MULTICORE)? & IS_OFFSET != 0 {
                    return None;
                }
                (memory.u64(slot.checked_sub(8)?)?, memory.field(slot, 8)?)
            }
        };
        if block == 0 || !block.is_multiple_of(8) {
            return None;
        }
        Some(Self { block, samples, user_data: memory.u64(slot)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    fn image(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn entries_of_both_families_are_read() {
        let single = image(&[0x9000, 2, 5, 77, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &single };
        let expected = Some(Tracked { block: 0x9000, samples: 2, user_data: 77 });
        assert_eq!(Tracked::read(&memory, Family::Single, 0x8018), expected);
        let multicore = image(&[0x9000, 77, 2, 5, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &multicore };
        assert_eq!(Tracked::read(&memory, Family::Multicore, 0x8008), expected);
    }

    #[test]
    fn blocks_that_are_dead_or_not_yet_made_are_none() {
        let dead = image(&[1, 2, 5, 77, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &dead };
        assert_eq!(Tracked::read(&memory, Family::Single, 0x8018), None);
        let offset = image(&[0x90, 77, 2, 5, 0, 4]);
        let memory = Image { base: 0x8000, bytes: &offset };
        assert_eq!(Tracked::read(&memory, Family::Multicore, 0x8008), None);
    }
}
