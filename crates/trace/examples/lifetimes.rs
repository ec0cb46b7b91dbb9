//! How long do blocks live that are allocated inside calls to one function?
//!
//! `lifetimes TRACE FUNCTION` prints a line for each sampled block with FUNCTION anywhere in its
//! backtrace: when it was allocated and how long it lived, both in seconds, and its size in
//! words. A block that was never collected lives to the end of the trace, and its line ends in
//! `live`. FUNCTION is a whole name (`Stdlib.List.map`); `--containing` takes any part of one.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_trace::{
    BlockId, Code, Detail, Event, Locations, Reader, StackId, StackTree, Timestamp, Words,
};

/// Whether a function is in a backtrace, found once for each node of the tree.
struct Inside<'a> {
    name: &'a [u8],
    is_whole: bool,
    /// For each node met: whether it or one of its ancestors matches.
    nodes: Vec<bool>,
}

impl Inside<'_> {
    fn is_in(&mut self, stack: StackId, stacks: &StackTree, locations: &Locations) -> bool {
        // A node's parent comes before it, so new nodes can be decided in order.
        for node in self.nodes.len()..stacks.len() {
            let node = StackId(node as u32);
            let is_match = node != StackId::ROOT
                && (self.nodes[stacks.parent(node).0 as usize]
                    || self.matches(locations.code(stacks.frame(node)), locations));
            self.nodes.push(is_match);
        }
        self.nodes[stack.0 as usize]
    }

    /// Whether a call site is in the function; inlined calls count.
    fn matches(&self, code: Code, locations: &Locations) -> bool {
        locations.of(code).iter().any(|&site| {
            let function = locations.resolve(site).function;
            let is_part = |part: &[u8]| part == self.name;
            function == self.name
                || (!self.is_whole && function.windows(self.name.len().max(1)).any(is_part))
        })
    }
}

struct Block {
    allocated: Timestamp,
    length: Words,
    collected: Option<Timestamp>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let is_whole = !args.iter().any(|arg| arg == "--containing");
    args.retain(|arg| arg != "--containing");
    let [path, name] = args.as_slice() else {
        return Err("usage: lifetimes TRACE [--containing] FUNCTION".into());
    };
    let trace = MappedFile::open(Path::new(path))?;
    let reader = Reader::new(&trace)?;
    let start = reader.info().start;

    let mut inside = Inside { name: name.as_bytes(), is_whole, nodes: Vec::new() };
    let mut blocks: Vec<Block> = Vec::new();
    let mut live: HashMap<BlockId, usize> = HashMap::new();
    let decoded = reader.for_each(Detail::Stacks, |event, tables| match event {
        Event::Alloc(alloc) => {
            if inside.is_in(alloc.stack, &tables.stacks, &tables.locations) {
                live.insert(alloc.id, blocks.len());
                blocks.push(Block { allocated: alloc.time, length: alloc.length, collected: None });
            }
        }
        Event::Collect(mark) => {
            if let Some(block) = live.remove(&mark.id) {
                blocks[block].collected = Some(mark.time);
            }
        }
        Event::Promote(_) => {}
    });

    let seconds = |from: Timestamp, to: Timestamp| to.0.saturating_sub(from.0) as f64 / 1e6;
    let mut out = BufWriter::new(io::stdout().lock());
    for block in &blocks {
        let at = seconds(start, block.allocated);
        let lifetime = seconds(block.allocated, block.collected.unwrap_or(decoded.end));
        let mark = if block.collected.is_none() { " live" } else { "" };
        writeln!(out, "{at:.6} {lifetime:.6} {}{mark}", block.length.0)?;
    }
    out.flush()?;
    for anomaly in decoded.anomalies.list() {
        eprintln!("{path}: {anomaly}");
    }
    Ok(())
}
