//! What a process's resident memory was used for: parts that add up to it.
//!
//! Mappings are counted by the kernel, so their sum is exact. What is inside them is counted by the OCaml
//! runtime and by `malloc`, in bytes of address space; pages that were never touched are not resident, so
//! each part is bounded by what is left of its mappings.

use std::time::Duration;

use memtrail_heap::Bytes;

use super::{Figure, MemoryFigures};

macro_rules! parts {
    ($($(#[$doc:meta])* $variant:ident = $id:literal,)*) => {
        /// What memory is used for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Part {
            $($(#[$doc])* $variant,)*
        }

        impl Part {
            /// All of them, as a table lists them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// What people read.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }
        }
    };
}

parts! {
    /// OCaml's minor heaps, of all domains.
    MinorHeaps = "OCaml minor heap",
    /// Blocks in OCaml's major heap: live ones, and dead ones that are not collected yet.
    MajorUsed = "OCaml major heap, blocks",
    /// Free memory in OCaml's major heap.
    MajorFree = "OCaml major heap, free",
    /// Memory in OCaml's major heap that is lost between blocks and the ends of their slots.
    MajorLost = "OCaml major heap, lost between blocks",
    /// Memory that `malloc` gave to all others, bigarrays among them.
    MallocUsed = "malloc, in use",
    /// Memory that `malloc` keeps after `free`.
    MallocKept = "malloc, kept after free",
    /// The executable, with its static data.
    Program = "program file and its data",
    /// Shared libraries, with their static data.
    Libraries = "shared libraries",
    /// Other files that are mapped.
    Files = "mapped files",
    /// Memory that may be shared with other processes.
    Shared = "shared memory",
    /// Stacks of threads.
    Stacks = "stacks of threads",
    /// What recording takes.
    Agent = "memtrail's agent",
    /// Memory without a file that is none of the others.
    Other = "other anonymous memory",
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Row {
    /// What for.
    pub part: Part,
    /// How many bytes.
    pub bytes: u64,
}

/// The resident memory of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTable {
    /// Since the recording began.
    pub elapsed: Duration,
    /// All of it, by the kernel's counter.
    pub rss: Bytes,
    /// The most that there was until then.
    pub peak_rss: Option<Bytes>,
    /// Swapped out, besides.
    pub swapped: Option<Bytes>,
    /// CPU time of the process from the beginning of the recording until then.
    pub cpu: Option<Duration>,
    /// What for, a row for each part.
    pub rows: Vec<Row>,
}

impl MemoryTable {
    /// The table for the figures of a moment; none if mappings could not be read.
    pub fn new(figures: &MemoryFigures) -> Option<Self> {
        let rss = figures.get(Figure::Rss)?;
        figures.get(Figure::Anonymous)?;
        let row = |&part| Row { part, bytes: 0 };
        let mut table = Self {
            elapsed: figures.elapsed,
            rss,
            peak_rss: figures.get(Figure::PeakRss),
            swapped: figures.get(Figure::Swapped),
            cpu: figures.cpu,
            rows: Part::ALL.iter().map(row).collect(),
        };
        table.fill(figures);
        Some(table)
    }

    /// Bytes of a part.
    pub fn bytes(&self, part: Part) -> u64 {
        self.rows[part as usize].bytes
    }

    /// All parts together.
    pub fn sum(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.bytes))
    }

    fn put(&mut self, part: Part, bytes: u64) {
        self.rows[part as usize].bytes = bytes;
    }

    fn fill(&mut self, figures: &MemoryFigures) {
        let of = |figure| figures.get(figure).unwrap_or_default().0;
        for (part, figure) in [
            (Part::MinorHeaps, Figure::MinorHeaps),
            (Part::Program, Figure::Program),
            (Part::Libraries, Figure::Libraries),
            (Part::Files, Figure::Files),
            (Part::Shared, Figure::Shared),
            (Part::Stacks, Figure::Stacks),
            (Part::Agent, Figure::Agent),
        ] {
            self.put(part, of(figure));
        }
        let mut anonymous = of(Figure::Anonymous);
        let mut take = |bytes: u64| {
            let taken = bytes.min(anonymous);
            anonymous -= taken;
            taken
        };
        let has_chunks =
            [Figure::Chunks, Figure::MajorFree].iter().any(|&f| figures.get(f).is_some());
        if has_chunks {
            let resident = of(Figure::Chunks);
            let used = of(Figure::MajorHeap).saturating_sub(of(Figure::MajorFree)).min(resident);
            self.put(Part::MajorUsed, used);
            self.put(Part::MajorFree, resident - used);
        } else {
            // All of a pool is written to when it is taken into use.
            let pools = take(of(Figure::MajorHeap));
            let used = of(Figure::PoolsUsed).min(pools);
            let lost = of(Figure::PoolsLost).min(pools - used);
            self.put(Part::MajorUsed, used);
            self.put(Part::MajorLost, lost);
            self.put(Part::MajorFree, pools - used - lost);
        }
        // Chunks and minor heaps of OCaml 4 are memory of malloc's, and counted above.
        let of_runtime = |figure| if has_chunks { of(figure) } else { 0 };
        let mapped = of(Figure::MallocMapped).saturating_sub(of_runtime(Figure::RuntimeInMappings));
        let mapped = take(mapped);
        let arenas = of(Figure::Arenas);
        let used = of(Figure::ArenasUsed).saturating_sub(of_runtime(Figure::RuntimeInArenas));
        let kept = arenas.saturating_sub(used).min(of(Figure::ArenasFree));
        let malloc = arenas - kept + mapped;
        let large = of(Figure::LargeBlocks).min(malloc);
        self.put(Part::MallocKept, kept);
        self.put(Part::MallocUsed, malloc - large);
        self.put(Part::MajorUsed, self.bytes(Part::MajorUsed) + large);
        self.put(Part::Other, anonymous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(figures: &[(Figure, u64)]) -> MemoryTable {
        let mut all = MemoryFigures::new(Duration::ZERO);
        for &(figure, bytes) in figures {
            all.set(figure, Bytes(bytes));
        }
        MemoryTable::new(&all).expect("a table")
    }

    fn rows(table: &MemoryTable) -> Vec<(Part, u64)> {
        let some = table.rows.iter().filter(|row| row.bytes != 0);
        some.map(|row| (row.part, row.bytes)).collect()
    }

    #[test]
    fn ocaml_4_has_its_heap_in_memory_of_mallocs() {
        let found = table(&[
            (Figure::Rss, 1_000),
            (Figure::MinorHeaps, 100),
            (Figure::Chunks, 400),
            (Figure::MajorHeap, 600),
            (Figure::MajorFree, 350),
            (Figure::RuntimeInArenas, 300),
            (Figure::RuntimeInMappings, 500),
            // Of these 330 in use for others than the runtime, and 40 of its 90 free are resident.
            (Figure::Arenas, 370),
            (Figure::ArenasUsed, 630),
            (Figure::ArenasFree, 90),
            (Figure::Anonymous, 70),
            (Figure::MallocMapped, 520),
        ]);
        let expected = [
            (Part::MinorHeaps, 100),
            (Part::MajorUsed, 250),
            (Part::MajorFree, 150),
            (Part::MallocUsed, 330 + 20),
            (Part::MallocKept, 40),
            (Part::Other, 50),
        ];
        assert_eq!(rows(&found), expected);
        assert_eq!(found.sum(), 100 + 400 + 370 + 70);
    }

    #[test]
    fn ocaml_5_has_pools_of_its_own_and_large_blocks_of_mallocs() {
        let found = table(&[
            (Figure::Rss, 1_000),
            (Figure::MinorHeaps, 100),
            (Figure::MajorHeap, 400),
            (Figure::PoolsUsed, 250),
            (Figure::PoolsLost, 20),
            (Figure::LargeBlocks, 60),
            // A minor heap may look as if it were in an arena.
            (Figure::RuntimeInArenas, 50),
            (Figure::RuntimeInMappings, 100),
            (Figure::Arenas, 100),
            (Figure::ArenasUsed, 80),
            (Figure::ArenasFree, 500),
            (Figure::Anonymous, 500),
            (Figure::MallocMapped, 30),
        ]);
        let expected = [
            (Part::MinorHeaps, 100),
            (Part::MajorUsed, 250 + 60),
            (Part::MajorFree, 130),
            (Part::MajorLost, 20),
            (Part::MallocUsed, 80 + 30 - 60),
            (Part::MallocKept, 20),
            (Part::Other, 70),
        ];
        assert_eq!(rows(&found), expected);
        assert_eq!(found.sum(), 100 + 100 + 500);
    }

    #[test]
    fn whatever_the_figures_the_parts_add_up_to_the_mappings() {
        // Sums of the runtime's and of malloc's that are too large, too small, or absent.
        let mappings = [Figure::Chunks, Figure::MinorHeaps, Figure::Arenas, Figure::Anonymous];
        let counters = [
            Figure::MajorHeap,
            Figure::MajorFree,
            Figure::PoolsUsed,
            Figure::PoolsLost,
            Figure::LargeBlocks,
            Figure::ArenasUsed,
            Figure::ArenasFree,
            Figure::MallocMapped,
            Figure::RuntimeInArenas,
            Figure::RuntimeInMappings,
        ];
        for (index, _) in counters.iter().enumerate() {
            for value in [0, 1, 70, 150, 1_000, u64::MAX] {
                let mut all = vec![(Figure::Rss, 400)];
                all.extend(mappings.iter().map(|&figure| (figure, 100)));
                all.extend(counters.iter().map(|&figure| (figure, 50)));
                all.push((counters[index], value));
                assert_eq!(table(&all).sum(), 400, "{:?} is {value}", counters[index]);
                all.retain(|(figure, _)| *figure != counters[index]);
                assert_eq!(table(&all).sum(), 400, "no {:?}", counters[index]);
            }
        }
        let mut without_mappings = MemoryFigures::default();
        assert_eq!(MemoryTable::new(&without_mappings), None);
        without_mappings.set(Figure::Rss, Bytes(1));
        assert_eq!(MemoryTable::new(&without_mappings), None);
    }
}
