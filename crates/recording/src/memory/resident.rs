//! What the resident memory of a process is used for, by its mappings: the text of `smaps`, and what the
//! agent knows of addresses.
//!
//! Each resident byte is counted once, so the parts add up to what the kernel counts.

use std::ops::Range;

use memtrail_heap::Bytes;

use super::{Figure, MemoryFigures};
use crate::mappings::{Mapping, with_resident};

/// glibc's arenas of threads begin at a multiple of this, and end before the next (`HEAP_MAX_SIZE`).
const ARENA: u64 = 64 << 20;
/// Guard pages of threads' stacks are not larger than this, as far as glibc chooses.
const LARGEST_GUARD: u64 = 16 << 10;
/// The zeros that follow a file's data are not taken for more than this: a mapping of another kind may be
/// next to a file's.
const LARGEST_ZEROS: u64 = 4 << 20;

/// What the agent knows.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Path of the executable.
    pub program: &'a [u8],
    /// An address in the agent's library.
    pub agent: u64,
    /// Folder of the files that the agent maps.
    pub session: &'a [u8],
    /// Bytes of one of the agent's stacks, and of the guard below it.
    pub agent_stack: (u64, u64),
    /// Bytes of the agent's heap.
    pub agent_heap: Bytes,
    /// Memory of the OCaml runtime's, ascending, without overlap.
    pub runtime: &'a [RuntimeMemory],
}

/// A piece of the OCaml runtime's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeMemory {
    /// Where it is.
    pub addresses: Range<u64>,
    /// What of it is resident.
    pub resident: Bytes,
    /// [`Figure::MinorHeaps`] or [`Figure::Chunks`].
    pub figure: Figure,
}

/// Adds the parts of the resident memory to the figures.
pub fn measure(smaps: &[u8], known: &Known<'_>, figures: &mut MemoryFigures) {
    let agent = with_resident(smaps)
        .find(|(mapping, _)| mapping.addresses.contains(&known.agent))
        .map_or(&b""[..], |(mapping, _)| mapping.path);
    let mut sums = Sums::default();
    let mut before = Before::default();
    for (mapping, resident) in with_resident(smaps) {
        let figure = kind(&mapping, known, agent, &before);
        sums.add(figure, resident);
        if matches!(figure, Figure::Arenas | Figure::Anonymous) {
            sums.take_runtime(&mapping, known.runtime, figure);
        }
        before.passes(&mapping, figure);
    }
    sums.move_to_agent(known.agent_heap);
    for &(figure, bytes) in &sums.0 {
        figures.set(figure, bytes);
    }
}

/// Sums of figures; few.
#[derive(Default)]
struct Sums(Vec<(Figure, Bytes)>);

impl Sums {
    fn of(&mut self, figure: Figure) -> &mut Bytes {
        let at = self.0.iter().position(|(known, _)| *known == figure).unwrap_or_else(|| {
            self.0.push((figure, Bytes(0)));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    fn add(&mut self, figure: Figure, bytes: Bytes) {
        *self.of(figure) += bytes;
    }

    /// Counts so much memory without a file as the agent's.
    fn move_to_agent(&mut self, bytes: Bytes) {
        let from = self.of(Figure::Anonymous);
        let taken = Bytes(bytes.0.min(from.0));
        from.0 -= taken.0;
        self.add(Figure::Agent, taken);
    }

    /// Moves what the runtime has in a mapping from the mapping's figure to the runtime's.
    fn take_runtime(&mut self, mapping: &Mapping<'_>, runtime: &[RuntimeMemory], from: Figure) {
        let first = runtime.partition_point(|r| r.addresses.start < mapping.addresses.start);
        let space = match from {
            Figure::Arenas => Figure::RuntimeInArenas,
            _ => Figure::RuntimeInMappings,
        };
        let inside = |r: &&RuntimeMemory| r.addresses.start < mapping.addresses.end;
        for piece in runtime[first..].iter().take_while(inside) {
            let left = self.of(from);
            let taken = piece.resident.0.min(left.0);
            left.0 -= taken;
            self.add(piece.figure, Bytes(taken));
            self.add(space, Bytes(piece.addresses.end.saturating_sub(piece.addresses.start)));
        }
    }
}

/// The mappings below the one that is looked at.
#[derive(Default)]
struct Before {
    /// Where the last one ends.
    end: u64,
    /// The figure of a file whose data it is.
    data_of: Option<Figure>,
    /// Bytes at its end that cannot be accessed.
    guard: u64,
    /// Where the arena ends that it is in.
    arena_end: u64,
}

impl Before {
    fn passes(&mut self, mapping: &Mapping<'_>, figure: Figure) {
        let (start, end) = (mapping.addresses.start, mapping.addresses.end);
        if figure == Figure::Arenas && start.is_multiple_of(ARENA) {
            self.arena_end = start.saturating_add(ARENA);
        }
        let guards = mapping.is_inaccessible();
        // The rest of an arena is inaccessible, too, and the kernel joins it with a guard above.
        let from = start.max(self.arena_end);
        self.guard = if guards { end.saturating_sub(from) } else { 0 };
        self.data_of = (mapping.is_file() && mapping.is_data()).then_some(figure);
        self.end = end;
    }
}

fn kind(mapping: &Mapping<'_>, known: &Known<'_>, agent: &[u8], before: &Before) -> Figure {
    let path = mapping.path;
    if mapping.is_file() {
        return kind_of_file(path, known, agent);
    }
    match path {
        b"[heap]" => return Figure::Arenas,
        b"[stack]" => return Figure::Stacks,
        // Names that programs gave to memory, and the kernel's own pages.
        _ if path.starts_with(b"[anon_shmem:") => return Figure::Shared,
        _ if path.starts_with(b"[v") => return Figure::Files,
        _ => {}
    }
    if !mapping.is_data() {
        return Figure::Anonymous;
    }
    let follows = before.end == mapping.addresses.start;
    let (stack, guard) = known.agent_stack;
    if follows && before.guard >= guard && mapping.size() == stack {
        return Figure::Agent;
    }
    if follows && (1..=LARGEST_GUARD).contains(&before.guard) {
        return Figure::Stacks;
    }
    if let Some(file) = before.data_of.filter(|_| follows && mapping.size() <= LARGEST_ZEROS) {
        return file;
    }
    let is_arena = mapping.addresses.start.is_multiple_of(ARENA) && mapping.size() <= ARENA;
    if is_arena { Figure::Arenas } else { Figure::Anonymous }
}

fn kind_of_file(path: &[u8], known: &Known<'_>, agent: &[u8]) -> Figure {
    let name = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let contains = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    let in_session = name.strip_prefix(known.session).is_some_and(|rest| rest.starts_with(b"/"));
    if (!agent.is_empty() && path == agent) || in_session {
        Figure::Agent
    } else if name == known.program {
        Figure::Program
    } else if name == b"/dev/zero"
        || [&b"/memfd:"[..], b"/SYSV", b"/dev/shm/"].iter().any(|start| name.starts_with(start))
    {
        Figure::Shared
    } else if name.ends_with(b".so") || name.ends_with(b".cmxs") || contains(b".so.") {
        Figure::Libraries
    } else {
        Figure::Files
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const STACK: u64 = 0x10_0000;
    const GUARD: u64 = 0x1_0000;

    fn known(runtime: &[RuntimeMemory]) -> Known<'_> {
        Known {
            program: b"/bin/server",
            agent: 0x7f50_0000_1000,
            session: b"/tmp/session",
            agent_stack: (STACK, GUARD),
            agent_heap: Bytes(2 << 10),
            runtime,
        }
    }

    /// `start`, `end` and access of mappings in hexadecimal, their path, and resident KiB.
    fn figures(mappings: &[(&str, &str, u64)], runtime: &[RuntimeMemory]) -> Vec<(Figure, u64)> {
        let lines = mappings.iter().map(|(range, path, resident)| {
            format!("{range} 00000000 00:00 0 {path}\nSize: 9 kB\nRss: {resident} kB\n")
        });
        let text: String = lines.collect();
        let mut found = MemoryFigures::new(Duration::ZERO);
        measure(text.as_bytes(), &known(runtime), &mut found);
        let kilobytes = |&figure| found.get(figure).map(|bytes| (figure, bytes.0 >> 10));
        Figure::ALL.iter().filter_map(kilobytes).collect()
    }

    #[test]
    fn each_mapping_is_of_one_kind() {
        let all = [
            ("00400000-00500000 r-xp", "/bin/server", 1),
            ("00500000-00600000 rw-p", "/bin/server", 2),
            // Zeros of the program's, malloc's main arena.
            ("00600000-00601000 rw-p", "", 4),
            ("00700000-00800000 rw-p", "[heap]", 8),
            // An arena of a thread's, the rest of it, and the guard of a thread's stack above.
            ("7f4000000000-7f4000100000 rw-p", "", 16),
            ("7f4000100000-7f4004001000 ---p", "", 0),
            ("7f4004001000-7f4004801000 rw-p", "", 32),
            ("7f4005000000-7f4005800000 rw-p", "", 64),
            ("7f5000000000-7f5000100000 r-xp", "/tmp/agent.so (deleted)", 128),
            ("7f5000200000-7f5000208000 rw-s", "/tmp/session/tail-1-0-0", 256),
            ("7f5000300000-7f5000310000 ---p", "", 0),
            ("7f5000310000-7f5000410000 rw-p", "", 512),
            ("7f5000500000-7f5000510000 r--p", "/lib/libc.so.6", 1024),
            ("7f5000600000-7f5000610000 r--s", "/data/table", 2048),
            ("7f5000700000-7f5000710000 rw-s", "/dev/zero (deleted)", 4096),
            ("7ffc00000000-7ffc00100000 rw-p", "[stack]", 8192),
            ("7ffc00200000-7ffc00201000 r-xp", "[vdso]", 16384),
        ];
        let expected = [
            (Figure::Program, 1 + 2 + 4),
            (Figure::Libraries, 1024),
            (Figure::Files, 2048 + 16384),
            (Figure::Shared, 4096),
            (Figure::Stacks, 32 + 8192),
            (Figure::Agent, 128 + 256 + 512 + 2),
            (Figure::Arenas, 8 + 16),
            (Figure::Anonymous, 64 - 2),
        ];
        assert_eq!(figures(&all, &[]), expected);
        let sum: u64 = expected.iter().map(|(_, kilobytes)| kilobytes).sum();
        let all: u64 = all.iter().map(|(_, _, kilobytes)| kilobytes).sum();
        assert_eq!(sum, all);
    }

    #[test]
    fn memory_of_the_runtime_is_taken_from_where_it_is() {
        let piece = |start: u64, bytes: u64, kilobytes: u64, figure| RuntimeMemory {
            addresses: start..start + bytes,
            resident: Bytes(kilobytes << 10),
            figure,
        };
        let runtime = [
            piece(0x70_1000, 0x2000, 4, Figure::Chunks),
            piece(0x7f40_0500_1000, 0x4000, 12, Figure::MinorHeaps),
            piece(0x7f40_0500_8000, 0x4000, 100, Figure::Chunks),
            // Not mapped any more.
            piece(0x7f90_0000_0000, 0x4000, 16, Figure::Chunks),
        ];
        let all =
            [("00700000-00800000 rw-p", "[heap]", 8), ("7f4005001000-7f4005800000 rw-p", "", 64)];
        let expected = [
            (Figure::Agent, 0),
            (Figure::Arenas, 4),
            (Figure::Anonymous, 0),
            (Figure::MinorHeaps, 12),
            (Figure::Chunks, 4 + 52),
            (Figure::RuntimeInArenas, 8),
            (Figure::RuntimeInMappings, 32),
        ];
        assert_eq!(figures(&all, &runtime), expected);
    }
}
