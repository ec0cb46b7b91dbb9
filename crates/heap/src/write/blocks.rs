//! Blocks on their way into a section; `format.rs` has the bytes.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::format::{CODES, SHAPE_FIELDS, SHORT_CODES};
use crate::space::Space;
use memtrail_leb128::{put, zigzag};

/// A section is full with so many blocks,
const MAX_BLOCKS: usize = 1 << 16;
/// or so many bytes.
const MAX_BYTES: usize = 1 << 20;

/// Tag, size, and which fields point to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    mask: u32,
    tag: u8,
    wosize: u8,
}

/// Blocks that follow each other in memory.
#[derive(Clone, Copy, Debug)]
struct Run {
    space: Space,
    slot: u32,
    address: u64,
    count: u64,
}

/// A section of blocks that is being filled. Its memory is used again for the next one.
#[derive(Debug)]
pub(super) struct Blocks {
    edges: u64,
    runs: Vec<Run>,
    shapes: Vec<(Shape, u32)>,
    known: HashMap<Shape, u32, FxBuildHasher>,
    /// For each block the number of its shape, from 1; 0 for those told in `extras`.
    codes: Vec<u32>,
    targets: Vec<u8>,
    extras: Vec<u8>,
    gaps: Vec<u8>,
    /// Where the next block is expected, and how many blocks there were since one was not there.
    expected: u64,
    met: u64,
    /// Numbers of shapes from the most frequent on, and the code of each.
    order: Vec<u32>,
    code_of: Vec<u32>,
    out: Vec<u8>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self {
            edges: 0,
            runs: Vec::new(),
            shapes: Vec::new(),
            known: HashMap::default(),
            codes: Vec::with_capacity(MAX_BLOCKS),
            targets: Vec::new(),
            extras: Vec::new(),
            gaps: Vec::new(),
            expected: 0,
            met: 0,
            order: Vec::new(),
            code_of: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Whether the section should be written before the next block.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.codes.len() >= MAX_BLOCKS
            || self.targets.len() >= MAX_BYTES
            || self.extras.len() >= MAX_BYTES
            || self.shapes.len() as u32 >= CODES - 1
    }

    /// A run starts with the next block, whose header is at `address`.
    pub(super) fn run(&mut self, space: Space, slot: u32, address: u64) {
        self.runs.push(Run { space, slot, address, count: 0 });
        self.expected = address;
    }

    /// Adds the block with the header at `address` to the run. `edges` are its fields that point to
    /// blocks, in order, and the numbers of those. One that is `apart` has no shape in common with others.
    #[inline]
    pub(super) fn push(
        &mut self,
        index: u32,
        address: u64,
        tag: u8,
        wosize: u64,
        edges: &[(u64, u32)],
        apart: bool,
    ) {
        if address == self.expected {
            self.met += 1;
        } else {
            self.gap(address);
        }
        if let Some(run) = self.runs.last_mut() {
            run.count += 1;
            self.expected = match run.slot {
                0 => address + wosize * 8 + 8,
                slot => address + u64::from(slot) * 8,
            };
        }

        let told = edges.last().is_none_or(|(field, _)| *field < SHAPE_FIELDS);
        let told = told && edges.last().is_none_or(|(field, _)| *field < wosize);
        if wosize <= SHAPE_FIELDS && told && !apart {
            let mut mask = 0;
            for (field, _) in edges {
                mask |= 1 << field;
            }
            let shape = Shape { mask, tag, wosize: wosize as u8 };
            let next = self.shapes.len() as u32;
            let number = *self.known.entry(shape).or_insert(next);
            if number == next {
                self.shapes.push((shape, 0));
            }
            self.shapes[number as usize].1 += 1;
            self.codes.push(number + 1);
        } else {
            self.codes.push(0);
            self.extras.push(tag);
            put(&mut self.extras, wosize);
            put(&mut self.extras, edges.len() as u64);
            let mut expected = 0;
            for (field, _) in edges {
                put(&mut self.extras, field - expected);
                expected = field + 1;
            }
        }
        for (_, target) in edges {
            put(&mut self.targets, zigzag(i64::from(*target) - i64::from(index)));
        }
        self.edges += edges.len() as u64;
    }

    #[cold]
    fn gap(&mut self, address: u64) {
        let slot = self.runs.last().map_or(0, |run| run.slot);
        let words = address.wrapping_sub(self.expected) / 8;
        put(&mut self.gaps, self.met);
        put(&mut self.gaps, if slot == 0 { words } else { words / u64::from(slot) });
        self.met = 1;
    }

    /// Adds a number to what is told of the last block.
    #[inline]
    pub(super) fn extra(&mut self, number: u64) {
        put(&mut self.extras, number);
    }

    /// How many blocks are in it.
    pub(super) fn count(&self) -> u32 {
        self.codes.len() as u32
    }

    /// The section's bytes; it is empty afterwards.
    pub(super) fn finish(&mut self) -> &[u8] {
        // The most frequent shapes get the short codes.
        let (order, code_of) = (&mut self.order, &mut self.code_of);
        order.clear();
        order.extend(0..self.shapes.len() as u32);
        order.sort_unstable_by_key(|number| {
            (std::cmp::Reverse(self.shapes[*number as usize].1), *number)
        });
        code_of.clear();
        code_of.resize(order.len() + 1, 0);
        for (code, number) in (1..).zip(order.iter()) {
            code_of[*number as usize + 1] = code;
        }
        let short = |code: &&u32| code_of[**code as usize] < SHORT_CODES;
        let two = self.codes.len() - self.codes.iter().filter(short).count();

        let out = &mut self.out;
        out.clear();
        put(out, self.edges);
        put(out, self.runs.len() as u64);
        for run in &self.runs {
            out.push(run.space as u8);
            put(out, u64::from(run.slot));
            put(out, run.address);
            put(out, run.count);
        }
        put(out, self.order.len() as u64);
        for number in &self.order {
            let (shape, _) = self.shapes[*number as usize];
            out.push(shape.tag);
            put(out, u64::from(shape.wosize));
            put(out, u64::from(shape.mask));
        }
        put(out, (self.codes.len() + two) as u64);
        put(out, self.targets.len() as u64);
        put(out, self.extras.len() as u64);
        put(out, self.gaps.len() as u64);
        for code in &self.codes {
            let code: u32 = self.code_of[*code as usize];
            if code < SHORT_CODES {
                out.push(code as u8);
            } else {
                out.push((SHORT_CODES + (code - SHORT_CODES) / 256) as u8);
                out.push((code - SHORT_CODES) as u8);
            }
        }
        out.extend_from_slice(&self.targets);
        out.extend_from_slice(&self.extras);
        out.extend_from_slice(&self.gaps);

        self.edges = 0;
        self.met = 0;
        self.runs.clear();
        self.shapes.clear();
        self.known.clear();
        self.codes.clear();
        self.targets.clear();
        self.extras.clear();
        self.gaps.clear();
        &self.out
    }
}
