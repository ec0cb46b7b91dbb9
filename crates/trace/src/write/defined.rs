//! The set of codes that a stream has defined.

use crate::units::Code;

const FIRST_SLOTS: usize = 1 << 11;

/// An open-addressing set of codes other than 0, that forgets when memory runs out. A forgotten
/// code is defined again, which readers allow.
#[derive(Debug)]
pub(super) struct Defined {
    /// A power of two of slots, 0 where empty; or none at all.
    slots: Vec<u64>,
    len: usize,
    /// The format could, but should not, use code 0.
    zero: bool,
}

impl Defined {
    pub(super) fn new() -> Self {
        Self { slots: empty(FIRST_SLOTS).unwrap_or_default(), len: 0, zero: false }
    }

    /// Forgets all codes.
    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        (self.len, self.zero) = (0, false);
    }

    #[inline]
    pub(super) fn contains(&self, code: Code) -> bool {
        if code.0 == 0 {
            return self.zero;
        }
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(code.0) & mask;
        // At most half of the slots are taken, so the search ends.
        while let Some(&slot) = self.slots.get(at) {
            if slot == code.0 {
                return true;
            }
            if slot == 0 {
                return false;
            }
            at = (at + 1) & mask;
        }
        false
    }

    pub(super) fn insert(&mut self, code: Code) {
        if code.0 == 0 {
            self.zero = true;
            return;
        }
        if self.contains(code) || (self.len + 1) * 2 > self.slots.len() && !self.grow() {
            return;
        }
        put(&mut self.slots, code.0);
        self.len += 1;
    }

    fn grow(&mut self) -> bool {
        let Some(mut slots) = empty((self.slots.len() * 2).max(FIRST_SLOTS)) else { return false };
        self.slots.iter().filter(|&&code| code != 0).for_each(|&code| put(&mut slots, code));
        self.slots = slots;
        true
    }
}

fn empty(len: usize) -> Option<Vec<u64>> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(len).ok()?;
    slots.resize(len, 0);
    Some(slots)
}

fn put(slots: &mut [u64], code: u64) {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash(code) & mask;
    while let Some(slot) = slots.get_mut(at) {
        if *slot == 0 {
            *slot = code;
            return;
        }
        at = (at + 1) & mask;
    }
}

/// Codes are addresses: neighbours must not collide.
#[inline]
fn hash(code: u64) -> usize {
    (code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(codes in proptest::collection::vec(0_u64..500, 0..3000), spread in 1_u64..1 << 40) {
            let (mut ours, mut oracle) = (Defined::new(), HashSet::new());
            for code in codes.iter().map(|code| Code(code * spread)) {
                prop_assert_eq!(ours.contains(code), oracle.contains(&code));
                ours.insert(code);
                oracle.insert(code);
                prop_assert!(ours.contains(code));
            }
        }

        #[test]
        fn it_grows(count in 1_u64..20_000) {
            let mut ours = Defined::new();
            (1..=count).for_each(|code| ours.insert(Code(code << 7)));
            prop_assert!((1..=count).all(|code| ours.contains(Code(code << 7))));
            prop_assert!(!ours.contains(Code(3)));
        }
    }
}
