//! Bigarrays, and the memory outside the heap that they have or share (`runtime/caml/bigarray.h`,
//! `runtime/bigarray.c`, `otherlibs/unix/mmap_ba.c`).
//!
//! As soon as a bigarray has a view (`sub`, `slice`, `reshape`), both and all further views share a
//! proxy, which counts them. The data go when the last of them does.

use crate::memory::{Address, Memory};

/// Who frees a bigarray's data, and how much that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// C code does: whether, and how much, is unknown.
    External,
    /// The block does: so many bytes.
    Own(u64),
    /// The last of all views of the same data does.
    Shared(View),
}

/// A bigarray that shares its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// What all views of the data have in common.
    pub proxy: Address,
    /// Where the data of this one begin.
    pub data: Address,
    /// How many bytes they are.
    pub bytes: u64,
    /// Whether it is marked as a view of another. Runtimes that have the mark (5.3 does, 4.14 does
    /// not) set it on all but the one that the data were allocated for.
    pub is_marked: bool,
}

/// The memory that views share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Where it begins.
    pub data: Address,
    /// How large it is, if it is a mapped file: other memory came from `malloc`.
    pub mapped: Option<u64>,
}

/// The field of the block that has the proxy.
pub const PROXY_FIELD: u64 = 4;

/// `struct caml_ba_array`, behind the block's operations.
mod field {
    pub(super) const DATA: u64 = 8;
    pub(super) const DIMENSIONS: u64 = 16;
    pub(super) const FLAGS: u64 = 24;
    pub(super) const PROXY: u64 = 8 * super::PROXY_FIELD;
    pub(super) const FIRST: u64 = 40;
    /// In `struct caml_ba_proxy`.
    pub(super) const PROXY_DATA: u64 = 8;
    pub(super) const PROXY_SIZE: u64 = 16;
}

const KIND: u64 = 0xFF;
/// Who owns the memory; 0 is C code.
const MANAGED: u64 = 0x600;
/// It is a view.
const SUBARRAY: u64 = 0x800;
const MAX_DIMENSIONS: u64 = 16;

/// Bytes of an element by kind: floats, integers from 8 bits to native, complex, char, half float.
const ELEMENT: [u64; 14] = [4, 8, 1, 1, 2, 2, 4, 8, 8, 8, 8, 16, 1, 2];

/// Looks at a bigarray, `block` being its field 0. `None` if it is none that we know.
pub fn data(memory: &impl Memory, block: Address) -> Option<Data> {
    let flags = memory.field(block, field::FLAGS)?;
    if flags & MANAGED == 0 {
        return Some(Data::External);
    }
    let dimensions = memory.field(block, field::DIMENSIONS)?;
    if dimensions > MAX_DIMENSIONS {
        return None;
    }
    let mut bytes = *ELEMENT.get((flags & KIND) as usize)?;
    for dimension in 0..dimensions {
        bytes = bytes.checked_mul(memory.field(block, field::FIRST + 8 * dimension)?)?;
    }
    Some(match memory.field(block, field::PROXY)? {
        0 => Data::Own(bytes),
        proxy => Data::Shared(View {
            proxy,
            data: memory.field(block, field::DATA)?,
            bytes,
            is_marked: flags & SUBARRAY != 0,
        }),
    })
}

/// Looks at a proxy.
pub fn proxy(memory: &impl Memory, proxy: Address) -> Option<Proxy> {
    let mapped = memory.field(proxy, field::PROXY_SIZE)?;
    let data = memory.field(proxy, field::PROXY_DATA)?;
    Some(Proxy { data, mapped: (mapped != 0).then_some(mapped) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x8000;

    fn of(words: &[u64]) -> Option<Data> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        data(&Image { base: BASE, bytes: &bytes }, BASE)
    }

    #[test]
    fn a_bigarray_is_as_large_as_its_dimensions_say() {
        // 3 x 100 doubles, allocated by the runtime.
        assert_eq!(of(&[0, 0x7000, 2, 0x201, 0, 3, 100]), Some(Data::Own(2400)));
        // The same, owned by C code.
        assert_eq!(of(&[0, 0x7000, 2, 0x001, 0, 3, 100]), Some(Data::External));
        // An unknown kind, dimensions that are none, memory that ends.
        assert_eq!(of(&[0, 0x7000, 1, 0x2ff, 0, 3]), None);
        assert_eq!(of(&[0, 0x7000, 99, 0x201, 0, 3]), None);
        assert_eq!(of(&[0, 0x7000, 2, 0x201, 0, 3]), None);
        assert_eq!(of(&[0, 0x7000, 2, 0x201, 0, 1 << 40, 1 << 40]), None);
    }

    #[test]
    fn views_have_a_proxy() {
        let view = |is_marked| View { proxy: 0x9000, data: 0x7000, bytes: 9, is_marked };
        assert_eq!(of(&[0, 0x7000, 1, 0x203, 0x9000, 9]), Some(Data::Shared(view(false))));
        assert_eq!(of(&[0, 0x7000, 1, 0xa03, 0x9000, 9]), Some(Data::Shared(view(true))));
    }

    #[test]
    fn proxies_of_mapped_files_have_a_size() {
        let of = |words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            proxy(&Image { base: BASE, bytes: &bytes }, BASE)
        };
        assert_eq!(of(&[2, 0x7000, 0]), Some(Proxy { data: 0x7000, mapped: None }));
        assert_eq!(of(&[2, 0x7000, 99]), Some(Proxy { data: 0x7000, mapped: Some(99) }));
        assert_eq!(of(&[2, 0x7000]), None);
    }
}
