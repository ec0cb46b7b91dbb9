//! Lists in damaged memory may lead back to one of their own members: this tells that they do, without keeping the members.

use crate::memory::Address;

/// The member that is compared with all that follow. It is replaced after one, two, four steps and so on (Brent's algorithm).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lap {
    compared: Address,
    steps: u64,
    replaced_after: u64,
}

impl Lap {
    /// Takes note of a member. `None` if the list has led back to an earlier one.
    pub fn step(&mut self, member: Address) -> Option<()> {
        if member == self.compared && self.replaced_after > 0 {
            return None;
        }
        self.steps += 1;
        if self.steps > self.replaced_after {
            self.compared = member;
            self.replaced_after = (2 * self.replaced_after).max(1);
            self.steps = 0;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_all_lengths_end() {
        for (before, length) in [(0, 1), (0, 2), (3, 1), (5, 7), (100, 33), (1, 1000)] {
            let members = (1..=before).chain((before + 1..=before + length).cycle());
            let mut lap = Lap::default();
            let steps = members.take_while(|member| lap.step(*member).is_some()).count() as u64;
            assert!(steps >= before + length && steps <= 4 * (before + length), "{steps}");
        }
    }

    #[test]
    fn lists_that_end_are_no_circles() {
        let mut lap = Lap::default();
        assert!((1..10_000).all(|member| lap.step(8 * member).is_some()));
    }
}
