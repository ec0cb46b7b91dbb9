//! How much is in the last snapshots of a family: of all processes, of each, and of each generation.

use std::cmp::Reverse;

use memtrail_heap::Bytes;
use memtrail_text::rounded::{bytes, count, grouped};
use serde::Serialize;

use crate::canvas::{Canvas, FAINT};
use crate::heap::table::{Table, outside};
use crate::recording_source::Fitting;

/// What is said below sums over processes of which some are forks.
const NOTE: &str =
    "a process that was forked still has what its parent had then: that is counted in both";
/// Processes in the table, at most.
const MAX_ROWS: usize = 20;

/// What is looked at in a snapshot: all that is reachable, or what was asked for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sizes {
    /// Blocks.
    pub(super) blocks: u64,
    /// Their size.
    pub(super) owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub(super) owned_external: Bytes,
}

impl Sizes {
    fn add(&mut self, more: Self) {
        self.blocks += more.blocks;
        self.owned += more.owned;
        self.owned_external += more.owned_external;
    }

    fn figures(self) -> Vec<String> {
        let Self { blocks, owned, owned_external } = self;
        vec![count(blocks as f64), bytes(owned.0 as f64), outside(owned_external)]
    }
}

/// The last snapshot of a process.
#[derive(Serialize)]
struct OfProcess {
    /// The folder of the process's recording.
    recording: String,
    pid: Option<u32>,
    program: Option<String>,
    generation: u32,
    #[serde(flatten)]
    sizes: Sizes,
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    is_fork: bool,
}

/// The processes of a generation.
#[derive(Serialize)]
struct Generation {
    #[serde(rename = "generation")]
    number: u32,
    processes: usize,
    #[serde(flatten)]
    sizes: Sizes,
}

/// Sums over processes.
#[derive(Default, Serialize)]
pub(super) struct Sums {
    #[serde(flatten)]
    pub(super) all: Sizes,
    /// That of most first.
    processes: Vec<OfProcess>,
    generations: Vec<Generation>,
}

impl Sums {
    /// Adds a process.
    pub(super) fn add(&mut self, member: &Fitting, sizes: Sizes) {
        self.all.add(sizes);
        let Fitting { pid, ref program, generation, is_fork, .. } = *member;
        self.processes.push(OfProcess {
            recording: member.path.display().to_string(),
            pid,
            program: program.clone(),
            generation,
            sizes,
            name: member.name(),
            is_fork,
        });
        let size = |process: &OfProcess| (process.sizes.owned, process.sizes.owned_external);
        self.processes.sort_by_key(|process| Reverse(size(process)));
        let place = self.generations.binary_search_by_key(&generation, |one| one.number);
        let place = place.unwrap_or_else(|place| {
            let sizes = Sizes::default();
            self.generations.insert(place, Generation { number: generation, processes: 0, sizes });
            place
        });
        self.generations[place].processes += 1;
        self.generations[place].sizes.add(sizes);
    }

    /// How many processes there are.
    pub(super) const fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Draws the processes, and sums by generation.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let mut table = Table::new(&["blocks", "size", "off-heap"], "process");
        let name = format!("{} processes with snapshots", grouped(self.processes.len() as u64));
        table.strong(self.all.figures(), name);
        for process in self.processes.iter().take(MAX_ROWS) {
            let fork = if process.is_fork { " (fork)" } else { "" };
            table.row(process.sizes.figures(), format!("{}{fork}", process.name));
        }
        if self.generations.len() > 1 {
            for Generation { number, processes, sizes } in &self.generations {
                let plural = if *processes == 1 { "process" } else { "processes" };
                let name = format!("generation {number}: {} {plural}", grouped(*processes as u64));
                table.faint(sizes.figures(), name);
            }
        }
        table.print(canvas);
        let left_out = self.processes.len().saturating_sub(MAX_ROWS);
        if left_out > 0 {
            let text =
                format!("{} more processes that have less (--json: all)", grouped(left_out as u64));
            canvas.line(&[(FAINT, &text)]);
        }
        if self.processes.iter().any(|process| process.is_fork) {
            canvas.paragraph(FAINT, 2, NOTE);
        }
        canvas.line(&[(FAINT, "one of them: --process PID")]);
    }
}
