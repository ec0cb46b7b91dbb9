//! Heaps made by hand, laid out as a runtime would and written by the real writer: for tests and
//! benchmarks.

use std::io;

use crate::facts::Facts;
use crate::function_lines::Between;
use crate::label::{LabelRole, Labels, RootKind};
use crate::tag;
use crate::units::LabelId;
use crate::write::{
    ClosureFormat, Custom, Details, Function, HeapRuntime, Layout, Owned, Region, Root, Sample,
    Shared, Source, Space, Strength, Written, write,
};

/// A block of a [`Heap`]: its place in the order of making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Made(pub usize);

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A block.
    Block(Made),
    /// The place `words` into a block, where a closure inside it is.
    Infix(Made, u64),
    /// Any word.
    Raw(u64),
}

type MadeRoot = (Value, LabelId, Strength, Option<(Made, u64)>);

#[derive(Clone, Debug)]
struct Model {
    tag: u8,
    space: Space,
    fields: Vec<Value>,
}

/// A heap.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    blocks: Vec<Model>,
    /// Its roots' labels.
    pub labels: Labels,
    roots: Vec<MadeRoot>,
    ephemerons: Vec<Made>,
    samples: Vec<(Made, u64)>,
    /// What is said of the process.
    pub facts: Facts,
    /// Whether strings' contents are written.
    pub contents: bool,
    /// Hashes of the program's names.
    pub hashes: Vec<i64>,
    /// Whether the heap is laid out in slots, as OCaml 5 does, instead of end to end.
    pub slots: bool,
}

/// Where the major heap starts.
const MAJOR: u64 = 0x7f00_0000_0000;
/// Where the minor heap starts.
const MINOR: u64 = 0x7e00_0000_0000;
/// Where static data starts.
const STATIC: u64 = 0x5500_0000_0000;
/// A key or data that is not set.
const UNSET: u64 = 0x4400_0000_0008;
/// In a custom block's second word: it is unknown how much is outside.
pub const UNKNOWN: u64 = u64::MAX;

/// A custom block's third word: that it shares so many bytes outside the heap with all blocks that
/// have the same there.
pub const fn shared(bytes: u64) -> Value {
    Value::Raw(bytes << 4)
}

/// Code of partial applications is odd and more than this.
pub const PARTIAL: u64 = 1 << 32;

/// Code of functions without a line is more than this, and divisible by four that of those whose last possible line is known.
pub const BETWEEN: u64 = 1 << 33;

/// Words of a slot.
const SLOT: u64 = 12;

impl Heap {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block in the major heap.
    pub fn block(&mut self, tag: u8, fields: &[Value]) -> Made {
        self.block_in(Space::Major, tag, fields)
    }

    /// Adds a block.
    pub fn block_in(&mut self, space: Space, tag: u8, fields: &[Value]) -> Made {
        self.blocks.push(Model { tag, space, fields: fields.to_vec() });
        Made(self.blocks.len() - 1)
    }

    /// Adds a string.
    pub fn string(&mut self, text: &[u8]) -> Made {
        let mut bytes = text.to_vec();
        let padding = 7 - text.len() % 8;
        bytes.resize(text.len() + padding, 0);
        bytes.push(padding as u8);
        let fields: Vec<Value> = bytes
            .chunks_exact(8)
            .map(|word| Value::Raw(u64::from_le_bytes(word.try_into().unwrap_or_default())))
            .collect();
        self.block(tag::STRING, &fields)
    }

    /// Adds an ephemeron; what is `None` is not set.
    pub fn ephemeron(&mut self, data: Option<Value>, keys: &[Option<Value>]) -> Made {
        let set = |value: Option<Value>| value.unwrap_or(Value::Raw(UNSET));
        let mut fields = vec![Value::Int(0), set(data)];
        fields.extend(keys.iter().map(|key| set(*key)));
        let made = self.block(tag::ABSTRACT, &fields);
        self.ephemerons.push(made);
        made
    }

    /// Changes a field.
    pub fn set(&mut self, block: Made, field: usize, value: Value) {
        self.blocks[block.0].fields[field] = value;
    }

    /// Adds a root below a label of its own.
    pub fn root(
        &mut self,
        kind: RootKind,
        name: &str,
        value: Value,
        strength: Strength,
    ) -> LabelId {
        let label = self.labels.add(None, kind, LabelRole::Symbol, name.as_bytes(), b"", 0);
        self.root_at(label, value, strength, None);
        label
    }

    /// Adds a root, which may be a field of a static block.
    pub fn root_at(
        &mut self,
        label: LabelId,
        value: Value,
        strength: Strength,
        slot: Option<(Made, u64)>,
    ) {
        self.roots.push((value, label, strength, slot));
    }

    /// Says that the allocation trace knows a block.
    pub fn sample(&mut self, block: Made, id: u64) {
        self.samples.push((block, id));
    }

    /// How many blocks were made.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether none was made.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn slot(&self) -> Option<u64> {
        let fits =
            |model: &Model| model.space != Space::Major || model.fields.len() < SLOT as usize;
        (self.slots && self.blocks.iter().all(fits)).then_some(SLOT)
    }

    /// The addresses of all blocks, and the words of each space.
    fn lay_out(&self) -> (Vec<u64>, [Vec<u64>; 3]) {
        let slot = self.slot();
        let mut words: [Vec<u64>; 3] = [Vec::new(), Vec::new(), Vec::new()];
        let mut addresses = Vec::with_capacity(self.blocks.len());
        for model in &self.blocks {
            let (base, at) = match model.space {
                Space::Major | Space::Large => (MAJOR, 0),
                Space::Minor => (MINOR, 1),
                Space::Static | Space::OffHeap => (STATIC, 2),
            };
            addresses.push(base + words[at].len() as u64 * 8 + 8);
            let mut size = model.fields.len() as u64 + 1;
            if let (0, Some(slot)) = (at, slot) {
                size = slot;
            }
            let length = words[at].len() + size as usize;
            words[at].resize(length, 0);
        }
        for (model, address) in self.blocks.iter().zip(&addresses) {
            let (base, at) = match model.space {
                Space::Major | Space::Large => (MAJOR, 0),
                Space::Minor => (MINOR, 1),
                Space::Static | Space::OffHeap => (STATIC, 2),
            };
            let start = ((address - base) / 8) as usize;
            let colour = if model.space == Space::Static { 3 } else { 0 };
            words[at][start - 1] =
                (model.fields.len() as u64) << 10 | colour << 8 | u64::from(model.tag);
            for (field, value) in model.fields.iter().enumerate() {
                words[at][start + field] = word(*value, &addresses);
            }
        }
        (addresses, words)
    }

    /// Writes the snapshot.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: impl io::Write) -> io::Result<Written> {
        let (addresses, words) = self.lay_out();
        let linear = Layout::Linear { free_colour: Some(2) };
        let major = match self.slot() {
            Some(slot) => Layout::Slots { first: 0, slot: slot as u32 },
            None => linear,
        };
        let region = |start, words, space, layout| Region { start, words, space, layout };
        let source = Source {
            regions: vec![
                region(MAJOR, &words[0], Space::Major, major),
                region(MINOR, &words[1], Space::Minor, linear),
                region(STATIC, &words[2], Space::Static, Layout::Reached),
            ],
            labels: self.labels.clone(),
            roots: self
                .roots
                .iter()
                .map(|(value, label, strength, slot)| Root {
                    value: word(*value, &addresses),
                    slot: slot.map_or(0, |(block, field)| addresses[block.0] + field * 8),
                    label: *label,
                    strength: *strength,
                })
                .collect(),
            ephemerons: self.ephemerons.iter().map(|made| addresses[made.0]).collect(),
            ephe_none: UNSET,
            samples: self
                .samples
                .iter()
                .map(|(made, id)| Sample { block: addresses[made.0], id: *id, samples: 1 })
                .collect(),
            facts: self.facts.clone(),
            runtime: HeapRuntime {
                reserved_header_bits: 0,
                closures: ClosureFormat::WithInfo,
                continuations: true,
            },
            contents: self.contents,
        };
        write(
            out,
            &source,
            &mut FixedDetails { pause: self.facts.pause, hashes: self.hashes.clone() },
        )
    }

    /// The snapshot's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.write(&mut bytes) {
            Ok(_) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// The number that each block has in the snapshot, where all are in it.
    pub fn numbers(&self) -> Vec<u32> {
        let (addresses, _) = self.lay_out();
        let mut order: Vec<usize> = (0..addresses.len()).collect();
        order.sort_unstable_by_key(|made| addresses[*made]);
        let mut numbers = vec![0; order.len()];
        for (number, made) in (0..).zip(order) {
            numbers[made] = number;
        }
        numbers
    }
}

fn word(value: Value, addresses: &[u64]) -> u64 {
    match value {
        Value::Int(number) => (number << 1 | 1) as u64,
        Value::Block(made) => addresses[made.0],
        Value::Infix(made, words) => addresses[made.0] + words * 8,
        Value::Raw(word) => word,
    }
}

/// Tells of functions and custom blocks what their words say: names are numbers.
struct FixedDetails {
    pause: u64,
    hashes: Vec<i64>,
}

impl Details for FixedDetails {
    /// The second word says how much is outside, the third what it shares.
    fn custom(&mut self, _: u64, _: u64, words: &[u64]) -> Custom {
        let owner = words.get(2).filter(|owner| **owner != 0);
        Custom {
            external: words.get(1).copied().or(Some(0)).filter(|bytes| *bytes != UNKNOWN),
            shared: owner.map(|owner| Shared { field: 2, owner: *owner }),
        }
    }

    /// As [`shared`] says.
    fn owned(&mut self, owner: u64) -> Owned {
        let bytes = owner >> 4;
        Owned { external: (bytes != UNKNOWN >> 4).then_some(bytes), name: "memory" }
    }

    fn identifier(&mut self, ops: u64, into: &mut Vec<u8>) {
        into.extend_from_slice(format!("_custom{ops}").as_bytes());
    }

    /// As [`PARTIAL`] says.
    fn is_partial(&mut self, code: u64) -> bool {
        code % 2 == 1 && code > PARTIAL
    }

    fn functions(&mut self, codes: &[u64], each: &mut dyn FnMut(&Function)) {
        for code in codes {
            let line = *code as u32;
            let is_between = *code > BETWEEN;
            let last = Some(line + 8).filter(|_| line.is_multiple_of(4));
            each(&Function {
                symbol: format!("camlModule__f{code}_1").into_bytes(),
                name: format!("Module.f{code}").into_bytes(),
                file: b"module.ml".to_vec(),
                line: if is_between { 0 } else { line },
                column: if is_between { 0 } else { 4 },
                is_start: !is_between,
                between: is_between.then_some(Between { first: line, last }),
                is_of_class: is_between && last.is_none(),
            });
        }
    }

    /// As [`Heap::hashes`] says.
    fn hashes(&mut self, each: &mut dyn FnMut(i64)) {
        self.hashes.iter().copied().for_each(each);
    }

    fn variants(&mut self, hashes: &[i64], each: &mut dyn FnMut(usize, &[u8])) {
        for (place, hash) in hashes.iter().enumerate().filter(|(_, hash)| **hash % 2 == 0) {
            each(place, format!("Even{hash}").as_bytes());
        }
    }

    /// The stack of a continuation is whatever its fields from the second on hold.
    fn continuation(&mut self, _: u64, words: &[u64], each: &mut dyn FnMut(u64)) {
        for word in words.iter().skip(1) {
            each(*word);
        }
    }

    fn pause(&mut self) -> u64 {
        self.pause
    }
}
