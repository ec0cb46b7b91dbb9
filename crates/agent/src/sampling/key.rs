//! What a sampled block is known by: its id, the domain in whose part of the trace it is, and whether it
//! is off-heap.

use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_trace::{BlockId, DomainId};

use crate::recording::files::RecordingFiles;

/// What the runtime keeps for us with each sampled block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) id: BlockId,
    pub(crate) domain: DomainId,
    pub(crate) epoch: u8,
    pub(crate) external: bool,
}

impl Key {
    pub(crate) fn value(self) -> Value {
        let bits = self.id.0 << 18
            | u64::from(self.domain.0 & 0x3ff) << 8
            | u64::from(self.epoch & 0x7f) << 1
            | u64::from(self.external);
        block::integer(bits as i64)
    }

    fn read(value: Value) -> Option<Self> {
        let bits = as_integer(value)? as u64 & (u64::MAX >> 1);
        Some(Self {
            id: BlockId(bits >> 18),
            domain: DomainId((bits >> 8) as u16 & 0x3ff),
            epoch: (bits >> 1) as u8 & 0x7f,
            external: bits & 1 == 1,
        })
    }

    /// The key, if its block belongs to this recording.
    pub(crate) fn of(files: &RecordingFiles, value: Value) -> Option<Self> {
        Self::read(value).filter(|key| key.epoch == files.epoch & 0x7f)
    }
}

/// The id in the trace of the block whose key the sampler keeps, if it belongs to the recording of
/// this epoch.
pub(crate) fn id_of(key: Value, epoch: u8) -> Option<BlockId> {
    Key::read(key).filter(|key| key.epoch == epoch & 0x7f).map(|key| key.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_as_it_was() {
        for id in [0, 1, 0xffff_ffff, (1 << 44) - 1] {
            for (domain, epoch, external) in [(0, 0, false), (1023, 127, true), (5, 64, false)] {
                let key = Key { id: BlockId(id), domain: DomainId(domain), epoch, external };
                let value = key.value();
                assert_eq!(value & 1, 1, "an integer to the collector");
                assert_eq!(Key::read(value), Some(key));
                assert_eq!(id_of(value, epoch), Some(BlockId(id)));
                assert_eq!(id_of(value, (epoch + 1) & 0x7f), None);
            }
        }
        assert_eq!(Key::read(0x7000), None, "a pointer");
    }
}
