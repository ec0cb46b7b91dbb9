//! Snapshots that nobody asks for: at even steps of the work, and when resident memory has grown, within a budget.
//!
//! Work is words that the program allocates. It stands while the program waits. The first snapshot comes as soon as
//! the heap or the program's CPU time is worth one. At most [`MAX_KEPT`] are kept: then every second one is dropped, and
//! the step doubles. One that would cost too much is taken as soon as the budget has it, and the steps to come are as wide:
//! that is no failure to be told.
//!
//! Nothing here looks at the process: [`super::auto_watch`] does, and tells.

/// Snapshots that are kept.
const MAX_KEPT: usize = 24;
/// The first step, in words: 32 MiB.
const FIRST_STEP: u64 = 4 << 20;
/// Below this heap, in bytes, …
const SMALL: u64 = 16 << 20;
/// … this resident memory, which bigarrays and stubs may fill, …
const LARGE: u64 = 64 << 20;
/// … and this CPU time, in nanoseconds, there is none.
const SHORT: u64 = 2_000_000_000;
/// One in so many nanoseconds of the program's CPU time may be spent on copies.
const CPU_PARTS: u64 = 100;
/// One in so many nanoseconds of the time may the program be paused.
const PAUSE_PARTS: u64 = 1_000;
/// Nanoseconds that a copy takes, before one was measured: for a word of the heap, …
const COST_OF_WORD: u64 = 12;
/// … and besides.
const COST: u64 = 2_000_000;
/// Nanoseconds of pause for a megabyte of resident memory, before one was measured.
const PAUSE_OF_MEGABYTE: u64 = 15_000;
/// Nanoseconds of each pause that do not depend on memory.
const PAUSE: u64 = 300_000;
/// Bytes of all snapshot files. Their indexes take as much again and a half.
const MAX_BYTES: u64 = 200 << 20;
/// Resident memory has grown if there is so much more than at the last snapshot, in parts of four.
const GROWN: u64 = 5;

/// The process at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessState {
    /// Words allocated.
    pub(super) work: u64,
    /// CPU time in nanoseconds.
    pub(super) cpu: u64,
    /// Time since the start of the recording, in nanoseconds.
    pub(super) elapsed: u64,
    /// Bytes of the heap.
    pub(super) heap: u64,
    /// Bytes of resident memory.
    pub(super) resident: u64,
}

impl ProcessState {
    /// True if the process is too young to have filled much memory: nothing is asked of the system for it.
    pub(super) const fn is_young(&self) -> bool {
        self.cpu < SHORT / 100
    }

    /// Whether the process is worth a snapshot.
    pub(super) const fn is_worth_one(&self) -> bool {
        self.heap >= SMALL || self.cpu >= SHORT || self.resident >= LARGE
    }
}

/// A snapshot that is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) number: u64,
    /// Nanoseconds that its copy worked.
    pub(super) cost: u64,
    /// Nanoseconds of pause.
    pub(super) pause: u64,
    /// Bytes of its file.
    pub(super) bytes: u64,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Wait,
    Take,
    /// It was time for one, there is room for it in the budget, and there is none for this reason.
    Refuse(&'static str),
}

/// What was taken, and when the next one is due.
#[derive(Debug)]
pub(super) struct Plan {
    step: u64,
    /// Work at which the next one is due.
    due: u64,
    /// Bytes that all snapshot files may have.
    most: u64,
    kept: Vec<Taken>,
    /// Costs and pauses of all that were taken, dropped ones too.
    cost: u64,
    pause: u64,
    /// Where the last one was asked for.
    last: ProcessState,
    /// Why the last one that was due is not there.
    refused: Option<&'static str>,
    /// True until the snapshot at the start of an attached program: without it, the memory of before is unknown.
    /// It does not have to be within the budget, and counts in it.
    is_base_missing: bool,
}

impl Plan {
    /// With so many bytes for all recordings, of which snapshots take a quarter.
    pub(super) fn new(disk: Option<u64>, is_attached: bool) -> Self {
        Self {
            is_base_missing: is_attached,
            most: disk.map_or(MAX_BYTES, |disk| MAX_BYTES.min(disk / 4)),
            step: FIRST_STEP,
            due: 0,
            kept: Vec::new(),
            cost: 0,
            pause: 0,
            last: ProcessState::default(),
            refused: None,
        }
    }

    /// Whether one is to be taken now; `available` gives the bytes of memory that are left, if that is known.
    pub(super) fn decide(
        &mut self,
        now: ProcessState,
        available: impl FnOnce() -> Option<u64>,
    ) -> Decision {
        if !now.is_worth_one() {
            return Decision::Wait;
        }
        let is_due = now.work >= self.due;
        let has_grown = now.resident > self.last.resident / 4 * GROWN;
        if !is_due && !has_grown {
            return Decision::Wait;
        }
        match self.is_allowed(&now, available) {
            // It is taken as soon as the budget has it.
            Err(None) => return Decision::Wait,
            Err(Some(reason)) => {
                // The same growth is no reason for another one.
                self.last.resident = now.resident;
                if is_due {
                    self.step = self.step.saturating_mul(2);
                    self.set_due(now.work);
                }
                // The same reason is told once, until there is another one.
                let is_news = self.refused.replace(reason) != Some(reason);
                return if is_news { Decision::Refuse(reason) } else { Decision::Wait };
            }
            Ok(()) => self.refused = None,
        }
        // The budget made it late: the steps to come are as wide.
        let passed = now.work.saturating_sub(self.last.work);
        while self.last.work > 0 && self.step < passed / 2 {
            self.step = self.step.saturating_mul(2);
        }
        self.last = now;
        self.is_base_missing = false;
        self.set_due(now.work);
        Decision::Take
    }

    /// The next multiple of the step.
    fn set_due(&mut self, work: u64) {
        self.due = (work / self.step).saturating_add(1).saturating_mul(self.step);
    }

    /// An error without a reason is the budget's.
    fn is_allowed(
        &self,
        now: &ProcessState,
        available: impl FnOnce() -> Option<u64>,
    ) -> Result<(), Option<&'static str>> {
        let measured = self.kept.last().filter(|_| self.last.heap > 0);
        // What does not depend on the heap is not larger where the heap is.
        let larger = |figure: u64, besides: u64| {
            let of_heap = u128::from(figure.saturating_sub(besides));
            let grown = of_heap * u128::from(now.heap.max(self.last.heap));
            figure.min(besides) + (grown / u128::from(self.last.heap.max(1))) as u64
        };
        let cost =
            measured.map_or(COST + now.heap / 8 * COST_OF_WORD, |taken| larger(taken.cost, COST));
        let pause = measured
            .map_or((now.resident >> 20) * PAUSE_OF_MEGABYTE, |taken| larger(taken.pause, PAUSE));
        let bytes = measured.map_or(0, |taken| larger(taken.bytes, 0));
        let is_within = self.cost.saturating_add(cost) <= now.cpu / CPU_PARTS
            && self.pause.saturating_add(pause) <= now.elapsed / PAUSE_PARTS;
        if !is_within && !self.is_base_missing {
            return Err(None);
        }
        if bytes > self.most / 4 {
            let reason = if self.most < MAX_BYTES {
                "it would have taken more than a sixteenth of --disk"
            } else {
                "it would have taken more than 50 MiB of the disk"
            };
            return Err(Some(reason));
        }
        if available().is_some_and(|left| left < now.heap) {
            let reason = "the copy of the process would not have fit into the memory that is left";
            return Err(Some(reason));
        }
        Ok(())
    }

    /// One is there. Gives the numbers of those to be dropped.
    pub(super) fn add(&mut self, taken: Taken) -> Vec<u64> {
        self.cost = self.cost.saturating_add(taken.cost);
        self.pause = self.pause.saturating_add(taken.pause);
        self.kept.push(taken);
        let bytes: u64 = self.kept.iter().map(|taken| taken.bytes).sum();
        let is_full = self.kept.len() >= MAX_KEPT || (bytes > self.most && self.kept.len() > 2);
        if !is_full {
            return Vec::new();
        }
        self.step = self.step.saturating_mul(2);
        self.set_due(self.last.work);
        // The last one stays.
        let last = self.kept.len() - 1;
        let stays = |place: usize| (last - place).is_multiple_of(2);
        let mut dropped = Vec::new();
        let mut kept = Vec::new();
        for (place, taken) in self.kept.drain(..).enumerate() {
            if stays(place) { kept.push(taken) } else { dropped.push(taken.number) }
        }
        self.kept = kept;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that allocates so many words in each second, and uses a processor.
    fn at(seconds: f64, words: f64, heap: u64) -> ProcessState {
        let time = (seconds * 1e9) as u64;
        let resident = heap + (10 << 20);
        ProcessState { work: (seconds * words) as u64, cpu: time, elapsed: time, heap, resident }
    }

    /// The memory of before the attachment was growth since then.
    #[test]
    fn an_attached_program_has_a_first_snapshot_whatever_it_costs() {
        let idle = ProcessState { cpu: 1_000_000, elapsed: 1, ..at(0.0, 0.0, 100 << 20) };
        assert_eq!(Plan::new(None, false).decide(idle, || None), Decision::Wait);
        let mut plan = Plan::new(None, true);
        assert_eq!(plan.decide(idle, || None), Decision::Take);
        plan.add(Taken { number: 1, cost: 1_000_000, pause: 100_000, bytes: 1 << 20 });
        let later = ProcessState { work: 1 << 30, ..idle };
        assert_eq!(plan.decide(later, || None), Decision::Wait);
    }

    /// Runs a program whose heap is a function of the time; gives the moments of what is kept, and the plan.
    fn run(seconds: u32, words: f64, cost: u64, heap: impl Fn(f64) -> u64) -> (Vec<f64>, Plan) {
        let mut plan = Plan::new(None, false);
        let mut kept: Vec<(u64, f64)> = Vec::new();
        for tick in 0..seconds * 10 {
            let time = f64::from(tick) / 10.0;
            if plan.decide(at(time, words, heap(time)), || None) == Decision::Take {
                let number = u64::from(tick);
                kept.push((number, time));
                let taken = Taken { number, cost, pause: 100_000, bytes: 1 << 20 };
                let dropped = plan.add(taken);
                kept.retain(|(number, _)| !dropped.contains(number));
            }
        }
        (kept.into_iter().map(|(_, time)| time).collect(), plan)
    }

    #[test]
    fn those_that_are_kept_are_at_even_steps() {
        for (seconds, words) in [(60, 1e8), (600, 1e7), (3600, 1e8)] {
            let (kept, _) = run(seconds, words, 1_000_000, |_| 20 << 20);
            assert!((MAX_KEPT / 2 - 1..=MAX_KEPT).contains(&kept.len()), "{kept:?}");
            let steps: Vec<f64> = kept.windows(2).map(|two| two[1] - two[0]).collect();
            let mean = steps[1..].iter().sum::<f64>() / (steps.len() - 1) as f64;
            let is_even =
                |step: &f64| (step / mean - 1.0).abs() < 0.35 || (step - mean).abs() < 0.3;
            assert!(steps[1..].iter().all(is_even), "{kept:?}");
        }
    }

    #[test]
    fn copies_take_one_part_in_a_hundred_of_the_cpu_time() {
        for cost in [10_000_000, 100_000_000, 1_000_000_000] {
            let (kept, plan) = run(1000, 1e8, cost, |_| 20 << 20);
            // The first one is not known to cost so much.
            assert!(plan.cost <= 10_000_000_000 + cost, "{cost}: {kept:?}");
            assert!(kept.len() >= 2, "{cost}: {kept:?}");
        }
    }

    #[test]
    fn a_short_program_with_a_small_heap_has_none() {
        let (kept, _) = run(2, 1e8, 1, |_| SMALL - 1);
        assert_eq!(kept, [] as [f64; 0]);
        // The first one is paid for after some seconds.
        let (kept, _) = run(30, 0.0, 1, |_| SMALL - 1);
        assert_eq!(kept.len(), 1, "work stands: {kept:?}");
    }

    /// A program whose bigarrays grew to 200 MiB had no snapshot.
    #[test]
    fn much_memory_outside_a_small_heap_is_worth_one() {
        let mut moment = ProcessState { resident: LARGE - 1, ..ProcessState::default() };
        assert!(!moment.is_worth_one());
        moment.resident = LARGE;
        assert!(moment.is_worth_one());
    }

    #[test]
    fn memory_outside_the_heap_moves_no_work() {
        let mut plan = Plan::new(None, false);
        let mut moment = at(10.0, 0.0, SMALL);
        let mut taken = 0;
        for step in 0..100_u64 {
            moment.resident = (40 << 20) + step * (4 << 20);
            moment.elapsed += 1_000_000_000;
            moment.cpu += 1_000_000_000;
            if plan.decide(moment, || None) == Decision::Take {
                taken += 1;
                plan.add(Taken { number: step, cost: 1, pause: 1, bytes: 1 });
            }
        }
        // 40 to 440 MiB, by quarters.
        assert!((9..=12).contains(&taken), "{taken}");
    }

    #[test]
    fn there_is_none_where_memory_is_short() {
        let mut plan = Plan::new(None, false);
        let moment = at(100.0, 1e8, 100 << 20);
        assert!(matches!(plan.decide(moment, || Some(50 << 20)), Decision::Refuse(_)));
        assert_eq!(plan.decide(moment, || None), Decision::Wait, "not at once again");
        let later = at(200.0, 1e8, 100 << 20);
        assert_eq!(plan.decide(later, || Some(200 << 20)), Decision::Take);
    }

    #[test]
    fn files_take_so_many_bytes_at_most() {
        let mut plan = Plan::new(None, false);
        let mut kept: Vec<(u64, u64)> = Vec::new();
        for number in 0..200 {
            let bytes = 40 << 20;
            kept.push((number, bytes));
            let dropped = plan.add(Taken { number, cost: 1, pause: 1, bytes });
            kept.retain(|(number, _)| !dropped.contains(number));
            let sum: u64 = kept.iter().map(|(_, bytes)| bytes).sum();
            assert!(sum <= MAX_BYTES, "{sum}");
        }
        assert!(kept.len() >= 2);
    }
}
