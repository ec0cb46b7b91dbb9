//! Verdicts of gates on traces whose true figures are known: chance decides nothing.

use memtrail_engine::gate::{Gate, GateResponse, GrowthLimit, Limit, Verdict};
use memtrail_engine::heap::Outcome;
use memtrail_engine::leaks::KnownLeaks;
use memtrail_engine::{Description, Engine, Setting};
use memtrail_test_support::traces::{Spec, write};
use memtrail_text::Size;
use memtrail_trace::Source;

/// Samples per word, and the bytes that one stands for.
const RATE: f64 = 1e-4;
const UNIT: f64 = 8.0 / RATE;
/// Length of the runs, in microseconds.
const END: u64 = 10_000_000;

/// Random numbers that depend on a seed alone.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Moments at which something is sampled that happens evenly, so often in a run on average.
    fn moments(&mut self, often: f64) -> Vec<u64> {
        let mut at = 0.0;
        let mut moments = Vec::new();
        loop {
            at -= (1.0 - self.unit()).ln() / often * END as f64;
            if at >= END as f64 {
                return moments;
            }
            moments.push(at as u64);
        }
    }
}

/// A program that allocates evenly, `often` samples a run on average. Blocks are in use for `lifetime`
/// microseconds, and freed by the next of `collections` that are evenly spread.
fn churn(random: &mut Random, often: f64, lifetime: u64, collections: u64) -> Vec<Spec> {
    let every = END / collections;
    let block = |allocated: u64| {
        let freed = (allocated + lifetime).div_ceil(every) * every;
        let collected = (freed < END).then_some(freed);
        Spec { collected, source: Source::Major, length: 9, ..Spec::at(allocated, &[1]) }
    };
    random.moments(often).into_iter().map(block).collect()
}

/// What stays, from an even allocation of `often` samples a run.
fn kept(random: &mut Random, often: f64) -> Vec<Spec> {
    let block = |at| Spec { source: Source::Major, length: 9, ..Spec::at(at, &[2]) };
    random.moments(often).into_iter().map(block).collect()
}

fn judge(runs: &[&[Spec]], limits: &[Limit]) -> GateResponse {
    let engine = Engine::new(Setting::default());
    let mut ids = Vec::new();
    for blocks in runs {
        let sites = |code| vec![(if code == 1 { "Churn.make" } else { "Cache.add" }, "a.ml", 1)];
        let trace = write(RATE, blocks, sites);
        ids.push(engine.add(&trace, Description::default(), &mut |_| ()).unwrap());
    }
    let gate = |limit: &Limit| Gate { text: format!("{limit:?}"), limit: limit.clone() };
    let gates: Vec<Gate> = limits.iter().map(gate).collect();
    match engine.judge(ids[0], &gates, 0).unwrap() {
        Outcome::Ready(answer) => answer.response,
        Outcome::Analysing(_) => unreachable!("there are no snapshots"),
    }
}

fn size(samples: f64) -> Size {
    Size((samples * UNIT) as u64)
}

/// How many runs of a program are drawn: `MEMTRAIL_DRAWS=1000` for a closer look.
fn draws() -> u64 {
    std::env::var("MEMTRAIL_DRAWS").map_or(50, |draws| draws.parse().expect("a number of draws"))
}

/// The verdicts of many runs of a program, each counted.
fn verdicts(limits: &[Limit], program: impl Fn(&mut Random) -> Vec<Spec>) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in 0..draws() {
        let answer = judge(&[&program(&mut Random(seed))], limits);
        counts[match answer.verdict {
            Verdict::Passed => 0,
            Verdict::Undecided => 1,
            Verdict::Failed => 2,
            Verdict::Unknown => panic!("{seed}: {answer:?}"),
        }] += 1;
    }
    counts
}

/// Half a second of what is allocated is alive, plus what waits for a collection: at most a tenth more.
const OFTEN: f64 = 1_000.0;
const LIFETIME: u64 = END / 20;

fn at_most(samples: f64, total: f64) -> [Limit; 3] {
    [
        Limit::MaxLive(size(samples)),
        Limit::MaxTotal(size(total)),
        Limit::Site { filter: vec!["by:Churn.make".to_owned()], most: size(samples) },
    ]
}

/// The highest of many estimates is beyond the true peak more often than each of them.
#[test]
fn a_program_that_is_at_its_limits_does_not_fail() {
    let program = |random: &mut Random| churn(random, OFTEN, LIFETIME, 2_000);
    let [_, _, failed] = verdicts(&at_most(OFTEN / 20.0, OFTEN), program);
    assert!(failed <= 1, "{failed}");
}

#[test]
fn a_program_that_is_well_below_its_limits_passes_and_one_above_fails() {
    let program = |random: &mut Random| churn(random, OFTEN, LIFETIME, 2_000);
    let [passed, undecided, failed] = verdicts(&at_most(OFTEN / 20.0 * 4.0, OFTEN * 1.5), program);
    assert_eq!((undecided, failed), (0, 0), "{passed}");
    let [passed, undecided, failed] = verdicts(&at_most(OFTEN / 20.0 / 8.0, OFTEN * 2.0), program);
    assert_eq!((passed, undecided), (0, 0), "{failed}");
}

fn growth(samples_a_run: f64) -> [Limit; 1] {
    [Limit::MaxGrowth(GrowthLimit::Bytes(samples_a_run * UNIT / (END as f64 / 1e6)))]
}

/// Memory rises and falls with each collection.
#[test]
fn collections_are_no_growth() {
    let program = |random: &mut Random| churn(random, OFTEN, LIFETIME, 40);
    let [_, _, failed] = verdicts(&growth(0.0), program);
    assert!(failed <= 1, "{failed}");
    let [passed, undecided, failed] = verdicts(&growth(OFTEN), program);
    assert_eq!((undecided, failed), (0, 0), "{passed}");
}

#[test]
fn what_grows_beyond_the_limit_fails() {
    let program = |random: &mut Random| {
        let mut blocks = churn(random, OFTEN, LIFETIME, 40);
        blocks.extend(kept(random, OFTEN));
        blocks
    };
    let [_, _, failed] = verdicts(&growth(OFTEN), program);
    assert!(failed <= 1, "at the limit: {failed}");
    let [passed, undecided, failed] = verdicts(&growth(OFTEN / 10.0), program);
    assert_eq!((passed, undecided), (0, 0), "{failed}");
    let share = [Limit::MaxGrowth(GrowthLimit::Share(0.01))];
    let [passed, undecided, failed] = verdicts(&share, program);
    assert_eq!((passed, undecided), (0, 0), "{failed}");
}

#[test]
fn the_same_program_is_no_more_than_its_baseline() {
    let mut failed = [0; 2];
    for seed in 0..draws() / 2 {
        let run = |seed: u64, often: f64| churn(&mut Random(seed), often, LIFETIME, 200);
        let before = run(2 * seed, OFTEN);
        for (place, often) in [OFTEN, OFTEN * 2.0].into_iter().enumerate() {
            let after = run(2 * seed + 1, often);
            let limit = Limit::Baseline { rec: 1, tolerance: 0.0 };
            let answer = judge(&[&after, &before], &[limit]);
            failed[place] += usize::from(answer.verdict == Verdict::Failed);
        }
    }
    assert!(failed[0] <= 1 && failed[1] as u64 == draws() / 2, "{failed:?}");
}

#[test]
fn too_little_to_judge_by_is_said() {
    let growth = &growth(1.0)[..];
    let mut random = Random(1);
    let few = judge(&[&churn(&mut random, 5.0, LIFETIME, 40)], growth);
    assert_eq!(few.verdict, Verdict::Unknown);
    assert!(few.gates[0].reason.contains("raise --rate"), "{few:?}");
    let uncollected = judge(&[&churn(&mut random, OFTEN, LIFETIME, 2)], growth);
    assert_eq!(uncollected.verdict, Verdict::Unknown);
    assert!(uncollected.gates[0].reason.contains("run it for longer"), "{uncollected:?}");
    let leaks =
        judge(&[&churn(&mut random, OFTEN, LIFETIME, 40)], &[Limit::NoLeak(KnownLeaks::default())]);
    assert_eq!(leaks.verdict, Verdict::Unknown);
    assert!(leaks.gates[0].reason.contains("no heap snapshot"), "{leaks:?}");
}

#[test]
fn a_site_that_nothing_has_is_no_pass() {
    let filter = vec!["by:Chrun.make".to_owned()];
    let blocks = churn(&mut Random(1), OFTEN, LIFETIME, 40);
    let answer = judge(&[&blocks], &[Limit::Site { filter, most: Size(1 << 30) }]);
    assert_eq!(answer.verdict, Verdict::Undecided);
}

/// With a rate of 1 a figure is exact, and so is its verdict.
#[test]
fn exact_figures_are_judged_exactly() {
    let blocks: Vec<Spec> = (0..10).map(|at| Spec { samples: 3, ..Spec::at(at, &[1]) }).collect();
    let engine = Engine::new(Setting::default());
    let trace = write(1.0, &blocks, |_| vec![("A.f", "a.ml", 1)]);
    let id = engine.add(&trace, Description::default(), &mut |_| ()).unwrap();
    for (most, verdict) in [(239, Verdict::Failed), (240, Verdict::Passed), (241, Verdict::Passed)]
    {
        for limit in [Limit::MaxLive(Size(most)), Limit::MaxTotal(Size(most))] {
            let gate = Gate { text: String::new(), limit };
            let Outcome::Ready(answer) = engine.judge(id, &[gate], 0).unwrap() else { panic!() };
            assert_eq!(answer.response.verdict, verdict, "{most}");
        }
    }
}
