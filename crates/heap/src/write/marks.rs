//! Numbers of some of the blocks, on their way into sections: so they take no memory in proportion to the heap.

use std::io::{self, Write};

use super::sections::Sections;
use memtrail_leb128::{put, zigzag};

/// A section is written when it has so many bytes.
const MAX_BYTES: usize = 1 << 18;

/// Blocks and their numbers that are in no section yet.
#[derive(Debug)]
pub(super) struct Marks {
    /// The kind of section.
    kind: u16,
    blocks: Vec<u8>,
    /// Apart from the blocks: so each compresses better.
    numbers: Vec<u8>,
    raw: Vec<u8>,
    count: u64,
    last: u32,
}

impl Marks {
    pub(super) const fn new(kind: u16) -> Self {
        Self { kind, blocks: Vec::new(), numbers: Vec::new(), raw: Vec::new(), count: 0, last: 0 }
    }

    /// One more block.
    #[inline]
    pub(super) fn push<W: Write>(
        &mut self,
        block: u32,
        number: u32,
        sections: &mut Sections<W>,
    ) -> io::Result<()> {
        put(&mut self.blocks, zigzag(i64::from(block) - i64::from(self.last)));
        put(&mut self.numbers, u64::from(number));
        self.last = block;
        self.count += 1;
        if self.blocks.len() + self.numbers.len() >= MAX_BYTES {
            self.write(sections)
        } else {
            Ok(())
        }
    }

    /// Writes what is in no section yet.
    pub(super) fn write<W: Write>(&mut self, sections: &mut Sections<W>) -> io::Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        self.raw.clear();
        put(&mut self.raw, self.count);
        self.raw.extend_from_slice(&self.blocks);
        self.raw.extend_from_slice(&self.numbers);
        self.blocks.clear();
        self.numbers.clear();
        (self.count, self.last) = (0, 0);
        sections.section(self.kind, 0, &self.raw)
    }
}
