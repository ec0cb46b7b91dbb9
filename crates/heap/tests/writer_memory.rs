//! The writer's own memory and the file's size, on data that is as bad for them as can be. Alone in its process, whose peak
//! it measures.

use std::fs;
use std::io::{self, Write};

use memtrail_heap::RootKind;
use memtrail_heap::write::{
    ClosureFormat, Custom, Details, Facts, Function, HeapRuntime, LabelRole, Labels, Layout, Owned,
    Region, Root, Source, Space, Strength, write,
};

const START: u64 = 0x7f00_0000_0000;
/// Bytes of each heap.
const BYTES: usize = 40 << 20;
const WORDS: usize = BYTES / 8;
/// Hashes of the program's names.
const HASHES: i64 = 50_000;

/// Numbers that look random (`xorshift64*`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }
}

fn hash(number: i64) -> i64 {
    (number + 1) * 7_919 + (1 << 21)
}

struct Program;

impl Details for Program {
    fn custom(&mut self, _: u64, _: u64, _: &[u64]) -> Custom {
        Custom::default()
    }

    fn identifier(&mut self, _: u64, _: &mut Vec<u8>) {}

    fn owned(&mut self, _: u64) -> Owned {
        Owned::default()
    }

    fn is_partial(&mut self, _: u64) -> bool {
        false
    }

    fn functions(&mut self, _: &[u64], _: &mut dyn FnMut(&Function)) {}

    fn hashes(&mut self, each: &mut dyn FnMut(i64)) {
        (0..HASHES).map(hash).for_each(each);
    }

    fn variants(&mut self, _: &[i64], _: &mut dyn FnMut(usize, &[u8])) {}

    fn continuation(&mut self, _: u64, _: &[u64], _: &mut dyn FnMut(u64)) {}

    fn pause(&mut self) -> u64 {
        0
    }
}

/// Blocks end to end, and how many there are.
#[derive(Default)]
struct Memory {
    words: Vec<u64>,
    blocks: u64,
    pointers: u64,
}

impl Memory {
    fn block(&mut self, tag: u8, fields: impl IntoIterator<Item = u64>) {
        let header = self.words.len();
        self.words.push(0);
        self.words.extend(fields);
        self.words[header] = ((self.words.len() - header - 1) as u64) << 10 | u64::from(tag);
        self.blocks += 1;
    }

    fn has_room(&self) -> bool {
        self.words.len() + 300 < WORDS
    }
}

fn int(value: u64) -> u64 {
    value << 1 | 1
}

/// Cells of a list, of integers.
fn cells(value: &mut dyn FnMut() -> u64) -> Memory {
    let mut memory = Memory::default();
    let mut last = 1;
    while memory.has_room() {
        let at = START + memory.words.len() as u64 * 8 + 8;
        memory.block(0, [int(value()), last]);
        last = at;
    }
    memory
}

/// Nodes of maps without subtrees, of integers.
fn nodes(value: &mut dyn FnMut() -> u64) -> Memory {
    let mut memory = Memory::default();
    while memory.has_room() {
        memory.block(0, [1, int(value()), 1, 1, int(1)]);
    }
    memory
}

/// Floats, strings and arrays of floats of any bits.
fn opaque(random: &mut Random) -> Memory {
    let mut memory = Memory::default();
    while memory.has_room() {
        let (tag, words) = match random.below(3) {
            0 => (253, 1),
            1 => (252, random.below(40) + 1),
            _ => (254, random.below(200) + 1),
        };
        memory.block(tag, (0..words).map(|_| random.next()).collect::<Vec<_>>());
    }
    memory
}

/// Blocks that point to any of many others.
fn pointers(random: &mut Random, fields: usize) -> Memory {
    let mut memory = Memory::default();
    let targets = 400_000;
    for _ in 0..targets {
        memory.block(0, [1]);
    }
    while memory.words.len() + fields + 300 < WORDS {
        let any = (0..fields).map(|_| START + random.below(targets) * 16 + 8);
        memory.block(0, any.collect::<Vec<_>>());
        memory.pointers += fields as u64;
    }
    memory
}

/// A number of bytes in `/proc/self/status`.
fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Counts what is written.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn assert_bounded(what: &str, memory: &Memory) {
    let mut labels = Labels::new();
    let label = labels.add(None, RootKind::Global, LabelRole::Symbol, b"root", b"", 0);
    let source = Source {
        regions: vec![Region {
            start: START,
            words: &memory.words,
            space: Space::Major,
            layout: Layout::Linear { free_colour: Some(2) },
        }],
        labels,
        roots: vec![Root { value: START + 8, slot: 0, label, strength: Strength::Strong }],
        ephemerons: Vec::new(),
        ephe_none: 0,
        samples: Vec::new(),
        facts: Facts::default(),
        runtime: HeapRuntime {
            reserved_header_bits: 0,
            closures: ClosureFormat::WithInfo,
            continuations: true,
        },
        contents: false,
    };
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS");
    let mut out = Counted(0);
    let written = write(&mut out, &source, &mut Program).unwrap();
    let own = status("VmHWM").saturating_sub(before);
    assert_eq!((written.blocks, written.bytes), (memory.blocks, out.0), "{what}");
    let bytes = memory.words.len() as u64 * 8;
    assert!(own <= bytes / 50 + (16 << 20), "{what}: {own} bytes of memory for {bytes}");
    let limit = 4 * (memory.blocks + memory.pointers) + 4096;
    assert!(out.0 <= limit, "{what}: {} bytes of file for {}", out.0, memory.blocks);
}

#[test]
fn the_writer_of_random_data_stays_within_a_fiftieth_of_the_heap() {
    let mut random = Random(7);
    let large = cells(&mut || (1 << 20) + random.below((1 << 30) - (1 << 20)));
    assert_bounded("large integers", &large);
    drop(large);
    let any = cells(&mut || random.next() >> 2);
    assert_bounded("any integers", &any);
    drop(any);
    assert_bounded("hashes", &cells(&mut || hash(random.below(HASHES as u64) as i64) as u64));
    assert_bounded("keys of maps", &nodes(&mut || (1 << 20) + random.below(1 << 29)));
    assert_bounded("floats and strings", &opaque(&mut random));
    assert_bounded("pairs of pointers", &pointers(&mut random, 2));
    assert_bounded("an array of pointers", &pointers(&mut random, WORDS - 900_000));
}
