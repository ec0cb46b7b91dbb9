//! Units and ids. No bare `u64` crosses a module boundary.

/// A number of machine words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "analysis", derive(serde::Serialize), serde(transparent))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Words(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "analysis", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Bytes(pub u64);

impl Bytes {
    /// What part of a whole it is; nothing of nothing.
    pub fn share_of(self, whole: Self) -> f64 {
        if whole.0 == 0 { 0.0 } else { self.0 as f64 / whole.0 as f64 }
    }
}

impl std::ops::AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl std::ops::Add for Bytes {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(bytes: I) -> Self {
        bytes.fold(Self(0), |mut sum, bytes| {
            sum += bytes;
            sum
        })
    }
}

impl Words {
    /// The same amount in bytes; every OCaml that is recorded has words of eight.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0.saturating_mul(8))
    }
}

/// A block of a snapshot: its place in the order of addresses, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "analysis", derive(serde::Serialize), serde(transparent))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct BlockIndex(pub u32);

/// A label of roots: its place among the labels of a snapshot, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "analysis", derive(serde::Serialize), serde(transparent))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct LabelId(pub u32);

/// Where something stood in the target's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "analysis", derive(serde::Serialize), serde(transparent))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Address(pub u64);
