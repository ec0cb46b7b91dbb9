//! Looks at each word of the copy that may be a reference to a block.

use memtrail_ocaml::Memory;
use memtrail_references::{
    Block, Bytes, Edge, HeapBlock, Module, Node, Place, References, Root, Thread as ThreadId,
};

use super::areas::{Area, Areas, united, without};
use super::chunks::Chunks;
use super::pages::Pages;
use super::system_calls::Waiting;
use super::targets::{Sampled, Targets};
use super::thread_ids::ids;
use super::threads::{Thread, threads};

/// Blocks of OCaml's heap that refer to the same block of `malloc`, at most.
const MAX_HEAP_BLOCKS: usize = 8;

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

/// True for glibc, whose variables have the bins of its main arena.
fn is_libc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("libc.so.") || name.starts_with("libc-")
}

/// What is looked at.
pub(crate) struct Copy {
    pub(crate) areas: Areas,
    pub(crate) sampled: Vec<Sampled>,
    /// The thread that the copy was made in, and where its stack is in use, if it is one of the program's.
    pub(crate) caller: Option<(u32, u64)>,
    /// The process that was copied.
    pub(crate) pid: u32,
    /// Memory of ours.
    pub(crate) ours: Vec<Area>,
    /// Memory of OCaml's heap, of which [`Scan::heap_block`] is called for each block.
    pub(crate) heap: Vec<Area>,
    /// Memory that OCaml's heap is in and grows into.
    pub(crate) reserved: Vec<Area>,
}

/// A pointer in a block of OCaml's heap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HeapPointer {
    to: u32,
    block: HeapBlock,
    at: u64,
}

/// A scan under way.
pub(crate) struct Scan<M> {
    memory: M,
    copy: Copy,
    targets: Targets,
    chunks: Chunks,
    threads: Vec<Thread>,
    pages: Pages,
    from_heap: Vec<HeapPointer>,
}

impl<M: Memory> Scan<M> {
    /// Finds blocks and threads.
    pub(crate) fn new(memory: M, mut copy: Copy) -> Self {
        let mut pages = Pages::of_this_process();
        let threads = threads(&memory, &copy.areas, &mut pages, &ids(copy.pid));
        let mut chunks = Chunks::default();
        for area in &copy.areas.heap {
            chunks.add_heap(&memory, area);
        }
        for area in &copy.areas.anonymous {
            chunks.add_anonymous(&memory, area, |page| pages.is_there(page));
        }
        chunks.remove_cached(&memory);
        copy.heap = united(std::mem::take(&mut copy.heap));
        chunks.remove(&copy.heap);
        let targets = Targets::new(std::mem::take(&mut copy.sampled), &chunks);
        Self { memory, copy, targets, chunks, threads, pages, from_heap: Vec::new() }
    }

    /// Looks at the words of a block of OCaml's heap.
    #[inline]
    pub(crate) fn heap_block(&mut self, block: HeapBlock, words: &[u64]) {
        for (at, &word) in (0..).step_by(8).zip(words) {
            if let Some(to) = self.targets.find(word) {
                self.from_heap.push(HeapPointer { to, block, at });
            }
        }
    }

    /// Looks at all other memory.
    pub(crate) fn finish(self) -> References {
        let Self { memory, copy, targets, chunks, threads, mut pages, from_heap } = self;
        let Copy { areas, caller, pid: main, ours, heap, reserved, .. } = copy;
        let memory = &memory;
        let mut roots: Vec<(u32, Place)> = Vec::new();
        add_heap_pointers(from_heap, &mut roots);
        for Waiting { thread, arguments } in &areas.waiting {
            let found = arguments.iter().filter_map(|&word| targets.find(word));
            roots.extend(found.map(|to| (to, Place::SystemCall(ThreadId(*thread)))));
        }
        for (module, data) in (0..).zip(&areas.data) {
            let is_allocator = is_libc(&data.path);
            for area in &data.areas {
                each_reference(memory, &targets, &mut pages, area, |at, to| {
                    let is_bin = || memory.u64(at).is_some_and(|word| targets.is_behind(word, to));
                    if !(is_allocator && is_bin()) {
                        let address = at.wrapping_sub(data.bias);
                        let module = Module(module);
                        roots.push((to, Place::Data { module, address, variable: None }));
                    }
                });
            }
        }
        let mut root = |pages: &mut Pages, area: &Area, place: &dyn Fn(u64) -> Place| {
            each_reference(memory, &targets, pages, area, |at, to| roots.push((to, place(at))));
        };
        // Where a thread's stack is not known to begin, all of it may be in use.
        let in_use = |id: u32, stack: &Area| {
            let top = caller.filter(|(caller, top)| *caller == id && stack.contains(top));
            top.map_or(stack.start, |(_, top)| top)..stack.end
        };
        let mut excluded = ours;
        if let Some(stack) = &areas.stack {
            root(&mut pages, &in_use(main, stack), &|_| Place::Stack(ThreadId(main)));
        }
        for thread in &threads {
            excluded.extend([thread.stack.clone(), thread.local.clone()]);
            if thread.id != 0 {
                let id = ThreadId(thread.id);
                root(&mut pages, &in_use(thread.id, &thread.stack), &|_| Place::Stack(id));
                root(&mut pages, &thread.local, &|_| Place::ThreadLocal(id));
            }
        }
        excluded.extend(chunks.areas);
        excluded.extend(targets.sampled());
        excluded.extend(heap.into_iter().chain(reserved));
        let excluded = united(excluded);
        let mut is_referred_to = vec![false; targets.all().len()];
        for area in areas.heap.iter().chain(&areas.anonymous).chain(&areas.files) {
            for part in without(area, &excluded) {
                each_reference(memory, &targets, &mut pages, &part, |_, to| {
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
        for (from, target) in (0_u32..).zip(targets.all()) {
            let first = edges.len();
            let area = target.start..target.end;
            each_reference(memory, &targets, &mut pages, &area, |at, to| {
                if to != from {
                    edges.push((from, at - target.start, to));
                }
            });
            if let Some(own) = edges.get_mut(first..) {
                own.sort_unstable_by_key(|&(_, at, to)| (to, at));
            }
        }
        edges.dedup_by_key(|&mut (from, _, to)| (from, to));
        numbered(&targets, &edges, roots, areas)
    }
}

/// Some of the blocks of OCaml's heap that refer to each block.
fn add_heap_pointers(mut pointers: Vec<HeapPointer>, roots: &mut Vec<(u32, Place)>) {
    pointers.sort_unstable();
    pointers.dedup_by_key(|pointer| (pointer.to, pointer.block));
    for alike in pointers.chunk_by(|a, b| a.to == b.to) {
        let some = alike.iter().take(MAX_HEAP_BLOCKS);
        roots.extend(some.map(|&HeapPointer { to, block, at }| {
            (to, Place::Heap { block, at: Bytes(at), is_garbage: false })
        }));
    }
}

/// What distinguishes roots of a block, and their order among these.
fn key(place: &Place) -> ((u8, u32), u64) {
    match place {
        // What is more exact comes first.
        Place::Heap { block, at, .. } => ((0, block.0), at.0),
        Place::Data { module, address, .. } => ((1, module.0), *address),
        Place::Stack(thread) => ((2, thread.0), 0),
        Place::ThreadLocal(thread) => ((3, thread.0), 0),
        Place::SystemCall(thread) => ((4, thread.0), 0),
        Place::Elsewhere => ((5, 0), 0),
    }
}

/// Leaves blocks out that were not sampled and refer to nothing.
fn numbered(
    targets: &Targets,
    edges: &[(u32, u64, u32)],
    roots: Vec<(u32, Place)>,
    areas: Areas,
) -> References {
    let mut is_kept: Vec<bool> =
        targets.all().iter().map(|target| target.sampled.is_some()).collect();
    for &(from, ..) in edges {
        is_kept[from as usize] = true;
    }
    let mut blocks = Vec::new();
    let mut numbers = vec![None; targets.all().len()];
    for ((target, number), _) in
        targets.all().iter().zip(&mut numbers).zip(&is_kept).filter(|(_, is_kept)| **is_kept)
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
