//! For each type the block that it was compared with last, and the result: most blocks that pointers of one type lead
//! to are alike, and this is found without a hash.

use crate::instances::TypeId;
use crate::shape::Check;

/// A comparison.
#[derive(Clone, Copy, Debug)]
struct Compared {
    wosize: u64,
    tag: u8,
    check: Check,
}

/// The last comparison of each type.
#[derive(Debug, Default)]
pub(crate) struct LastChecks {
    of: Vec<Option<Compared>>,
}

impl LastChecks {
    /// The result if the last block that was compared with a type had this tag and size.
    #[inline]
    pub(crate) fn get(&self, ty: TypeId, tag: u8, wosize: u64) -> Option<Check> {
        let last = (*self.of.get(ty.0 as usize)?)?;
        (last.tag == tag && last.wosize == wosize).then_some(last.check)
    }

    /// Sets the result.
    pub(crate) fn set(&mut self, ty: TypeId, tag: u8, wosize: u64, check: Check) {
        let place = ty.0 as usize;
        if place >= self.of.len() {
            self.of.resize(place + 1, None);
        }
        self.of[place] = Some(Compared { wosize, tag, check });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_alone_is_known() {
        let mut checks = LastChecks::default();
        assert_eq!(checks.get(TypeId(3), 0, 2), None);
        checks.set(TypeId(3), 0, 2, Check::Contradiction);
        assert_eq!(checks.get(TypeId(3), 0, 2), Some(Check::Contradiction));
        assert_eq!([checks.get(TypeId(2), 0, 2), checks.get(TypeId(3), 1, 2)], [None; 2]);
        checks.set(TypeId(3), 0, 3, Check::Contradiction);
        assert_eq!(checks.get(TypeId(3), 0, 2), None);
    }
}
