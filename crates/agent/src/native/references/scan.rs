//! Looks at each word of the copy that may be a reference to a block.

use memtrail_ocaml::Memory;
use memtrail_references::{
    Block, Bytes, Edge, Module, Node, Place, References, Root, Thread as ThreadId,
};
use memtrail_trace::BlockId;

use super::areas::{Area, Areas, united, without};
use super::chunks::Chunks;
use super::pages::Pages;
use super::threads::Thread;

/// A sampled block.
pub(super) struct Sampled {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) id: BlockId,
}

/// Memory that may be referred to.
struct Target {
    start: u64,
    end: u64,
    sampled: Option<BlockId>,
}

/// Blocks by address.
struct Targets(Vec<Target>);

impl Targets {
    /// Sampled blocks, and chunks that are none.
    fn new(mut sampled: Vec<Sampled>, chunks: &Chunks) -> Self {
        sampled.sort_unstable_by_key(|block| block.address);
        let is_sampled = |start: u64, end: u64| {
            let next = sampled.partition_point(|block| block.address < start);
            sampled.get(next).is_some_and(|block| block.address < end)
        };
        let unsampled = chunks.in_use.iter().filter(|&(&start, &end)| !is_sampled(start, end));
        let unsampled = unsampled.map(|(&start, &end)| Target { start, end, sampled: None });
        let mut all: Vec<Target> = Vec::with_capacity(sampled.len() + chunks.in_use.len());
        all.extend(unsampled);
        // An empty block has an address, too.
        all.extend(sampled.iter().map(|block| Target {
            start: block.address,
            end: block.address.saturating_add(block.size.max(1)),
            sampled: Some(block.id),
        }));
        all.sort_unstable_by_key(|target| target.start);
        Self(all)
    }

    #[inline]
    fn find(&self, word: u64) -> Option<u32> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        if word < first.start || word >= last.end {
            return None;
        }
        let after = self.0.partition_point(|target| target.start <= word);
        let at = after.checked_sub(1)?;
        (word < self.0.get(at)?.end).then_some(at as u32)
    }
}

/// Calls a function with the address of each word of an area that leads to a block, and the block.
fn each_reference(
    memory: &impl Memory,
    targets: &Targets,
    pages: &mut Pages,
    area: &Area,
    mut see: impl FnMut(u64, u32),
) {
    pages.each(area, |part| {
        let first = part.start.next_multiple_of(8);
        for at in (first..part.end.saturating_sub(7)).step_by(8) {
            if let Some(to) = memory.u64(at).and_then(|word| targets.find(word)) {
                see(at, to);
            }
        }
    });
}

/// What is looked at.
pub(super) struct Copy {
    pub(super) areas: Areas,
    pub(super) chunks: Chunks,
    pub(super) threads: Vec<Thread>,
    pub(super) sampled: Vec<Sampled>,
    /// The thread that the copy was made in, and where its stack is in use, if it is one of the program's.
    pub(super) caller: Option<(u32, u64)>,
    pub(super) main: u32,
    /// Memory of ours.
    pub(super) ours: Vec<Area>,
}

/// Finds all references.
pub(super) fn references(memory: &impl Memory, copy: Copy, pages: &mut Pages) -> References {
    let Copy { areas, chunks, threads, sampled, caller, main, ours } = copy;
    let targets = Targets::new(sampled, &chunks);
    let mut roots: Vec<(u32, Place)> = Vec::new();
    let mut root = |pages: &mut Pages, area: &Area, place: &dyn Fn(u64) -> Place| {
        each_reference(memory, &targets, pages, area, |at, to| roots.push((to, place(at))));
    };
    for (module, data) in (0..).zip(&areas.data) {
        for area in &data.areas {
            root(pages, area, &|at| Place::Data {
                module: Module(module),
                address: at.wrapping_sub(data.bias),
                variable: None,
            });
        }
    }
    // Where a thread's stack is not known to begin, all of it may be in use.
    let in_use = |id: u32, stack: &Area| {
        let top = caller.filter(|(caller, top)| *caller == id && stack.contains(top));
        top.map_or(stack.start, |(_, top)| top)..stack.end
    };
    let mut excluded = ours;
    if let Some(stack) = &areas.stack {
        root(pages, &in_use(main, stack), &|_| Place::Stack(ThreadId(main)));
    }
    for thread in &threads {
        excluded.extend([thread.stack.clone(), thread.local.clone()]);
        if thread.id != 0 {
            let id = ThreadId(thread.id);
            root(pages, &in_use(thread.id, &thread.stack), &|_| Place::Stack(id));
            root(pages, &thread.local, &|_| Place::ThreadLocal(id));
        }
    }
    excluded.extend(chunks.areas.iter().cloned());
    excluded
        .extend(targets.0.iter().filter(|target| target.sampled.is_some()).map(|t| t.start..t.end));
    let excluded = united(excluded);
    let mut is_referred_to = vec![false; targets.0.len()];
    for area in areas.heap.iter().chain(&areas.anonymous).chain(&areas.files) {
        for part in without(area, &excluded) {
            each_reference(memory, &targets, pages, &part, |_, to| {
                if !std::mem::replace(&mut is_referred_to[to as usize], true) {
                    roots.push((to, Place::Elsewhere));
                }
            });
        }
    }
    // One of each kind is enough.
    roots.sort_by(|(a, at), (b, other)| (a, key(at)).cmp(&(b, key(other))));
    roots.dedup_by(|(a, at), (b, other)| a == b && key(at).0 == key(other).0);
    let mut edges: Vec<(u32, u64, u32)> = Vec::new();
    for (from, target) in (0_u32..).zip(&targets.0) {
        let first = edges.len();
        each_reference(memory, &targets, pages, &(target.start..target.end), |at, to| {
            if to != from {
                edges.push((from, at - target.start, to));
            }
        });
        if let Some(own) = edges.get_mut(first..) {
            own.sort_unstable_by_key(|&(_, at, to)| (to, at));
        }
        edges.dedup_by_key(|&mut (from, _, to)| (from, to));
    }
    numbered(&targets, &edges, roots, areas)
}

/// What distinguishes roots of a block, and their order among these.
fn key(place: &Place) -> ((u8, u32), u64) {
    match place {
        Place::Data { module, address, .. } => ((0, module.0), *address),
        Place::Stack(thread) => ((1, thread.0), 0),
        Place::ThreadLocal(thread) => ((2, thread.0), 0),
        Place::Elsewhere => ((3, 0), 0),
    }
}

/// Leaves blocks out that were not sampled and refer to nothing.
fn numbered(
    targets: &Targets,
    edges: &[(u32, u64, u32)],
    roots: Vec<(u32, Place)>,
    areas: Areas,
) -> References {
    let mut is_kept: Vec<bool> = targets.0.iter().map(|target| target.sampled.is_some()).collect();
    for &(from, ..) in edges {
        is_kept[from as usize] = true;
    }
    let mut blocks = Vec::new();
    let mut numbers = vec![None; targets.0.len()];
    for ((target, number), _) in
        targets.0.iter().zip(&mut numbers).zip(&is_kept).filter(|(_, is_kept)| **is_kept)
    {
        *number = Some(Node(blocks.len() as u32));
        blocks.push(Block { sampled: target.sampled, size: Bytes(target.end - target.start) });
    }
    let node = |at: u32| numbers[at as usize];
    let edge = |&(from, at, to): &(u32, u64, u32)| {
        Some(Edge { from: node(from)?, at: Bytes(at), to: node(to)? })
    };
    References {
        taken_unix_us: 0,
        modules: areas.data.into_iter().map(|data| data.path).collect(),
        edges: edges.iter().filter_map(edge).collect(),
        roots: roots
            .into_iter()
            .filter_map(|(to, place)| Some(Root { place, to: node(to)? }))
            .collect(),
        blocks,
    }
}
