//! The join's estimates against what is alive exactly: a program that knows it, recorded with all words sampled, and a
//! thousand samples of that, drawn as the runtime draws them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::num::NonZero;
use std::process::Command;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use memtrail_engine::heap::{Outcome, WhoResponse, WhyResponse};
use memtrail_engine::query::{By, HeapSamples, HeapWho, HeapWhy, SiteOrder};
use memtrail_engine::{ApiError, Description, Engine, InMemory, Setting, SnapshotFacts};
use memtrail_heap::renumber::renumber;
use memtrail_profile::estimate::Estimate;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use memtrail_trace::rewrite::rewrite;
use memtrail_trace::subsample::Subsample;
use memtrail_trace::{BlockId, Reader};

use crate::last_snapshot;

/// What is alive of a function's blocks.
#[derive(Clone, Copy, Debug)]
struct Truth {
    blocks: f64,
    bytes: f64,
}

/// A recording at rate 1.
struct Exact {
    truth: BTreeMap<String, Truth>,
    trace: Vec<u8>,
    snapshot: Vec<u8>,
}

impl Exact {
    /// With so many blocks that do not stay for each that does.
    fn new(compiler: &str, others: &str) -> Self {
        let program = build(&named(compiler), "live_known");
        let run =
            Case::new(&program, &[others]).options(&["--rate", "1", "--snapshot", "exit"]).same();
        let stdout = run.seen.stdout();
        let truth = stdout.lines().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |place: usize| words[place].parse::<f64>().unwrap();
            let truth = Truth { blocks: number(1), bytes: number(2) * 8.0 };
            (format!("Live_known.{}", words[0]), truth)
        });
        Self {
            truth: truth.collect(),
            trace: std::fs::read(run.recording.join("trace.ctf")).unwrap(),
            snapshot: std::fs::read(last_snapshot(&run.recording)).unwrap(),
        }
    }

    /// As if it had been recorded at a rate of 1 in `factor`.
    fn sample(&self, factor: f64, seed: u64) -> Join {
        let reader = Reader::new(&self.trace).unwrap();
        let mut subsample = Subsample::new(factor, seed);
        let (trace, _) = rewrite(&reader, Vec::new(), &mut subsample, || ()).unwrap();
        let ids = subsample.into_ids();
        let new = |id| ids.get(BlockId(id)).map(|BlockId(id)| id);
        Join::new(&trace, renumber(&self.snapshot, new).unwrap())
    }
}

/// A trace and a snapshot, opened.
struct Join(Engine);

impl Join {
    fn new(trace: &[u8], snapshot: Vec<u8>) -> Self {
        let engine = Engine::new(Setting::default());
        let id = engine.add(trace, Description::default(), &mut |_| ()).unwrap();
        let facts = SnapshotFacts::peek(&snapshot).unwrap();
        engine.add_snapshot(id, facts, Some(Arc::new(InMemory(snapshot.into()))));
        Self(engine)
    }

    fn query<T>(&self, query: impl Fn(&Engine) -> Result<Outcome<T>, ApiError>) -> Option<T> {
        loop {
            match query(&self.0) {
                Ok(Outcome::Ready(answer)) => return Some(answer.response),
                Ok(Outcome::Analysing(_)) => assert!(self.0.work().is_some()),
                Err(_) => return None,
            }
        }
    }

    /// Bytes and blocks that are alive, by function.
    fn sites(&self) -> BTreeMap<String, [Estimate; 2]> {
        let (by, order) = (By::Function, SiteOrder::Alive);
        let query = HeapSamples { by, order, limit: 1000, ..HeapSamples::default() };
        let sites = self.query(|engine| engine.heap_samples(&query)).unwrap();
        sites.rows.into_iter().map(|row| (row.name, [row.alive, row.alive_blocks])).collect()
    }

    /// What retains what a function allocated; nothing if none of that was sampled.
    fn why(&self, name: &str) -> Option<WhyResponse> {
        let query = HeapWhy { name: name.to_owned(), limit: 10, ..HeapWhy::default() };
        // The answer is about closures of the function, which are exact, where no block of its own is sampled.
        self.query(|engine| engine.heap_why(&query)).filter(|answer| !answer.are_closures)
    }

    /// What allocated what an owner has.
    fn who(&self, node: &str) -> WhoResponse {
        let (owner, by) = (Some(node.to_owned()), By::Function);
        let query = HeapWho { owner, by, limit: 10, ..HeapWho::default() };
        self.query(|engine| engine.heap_who(&query)).unwrap()
    }
}

/// Draws, and those within three standard errors of the truth.
#[derive(Debug, Default)]
struct Score {
    draws: u32,
    within: u32,
}

impl Score {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        self.draws += 1;
        self.within += u32::from((estimate.value - truth).abs() <= 3.0 * estimate.stderr);
    }
}

/// From a function to the variable that owns what it allocated, and from that to its functions. What the variable owns is
/// known exactly by the snapshot.
fn both_ways(join: &Join, name: &str, truth: Truth, scores: &mut Scores<'_>) {
    let Some(why) = join.why(name) else { return };
    let [owner] = &why.owners[..] else { panic!("{name}: {:?}", why.owners) };
    let who = join.who(&owner.node);
    let row = who.rows.iter().find(|row| row.name == name).unwrap();
    for (of, alive) in [("why", &why.alive), ("owner", &owner.alive), ("who", &row.alive)] {
        scores.entry((of, "bytes")).or_default().add(alive.bytes, truth.bytes);
        scores.entry((of, "blocks")).or_default().add(alive.blocks, truth.blocks);
    }
}

/// By what was estimated: a function or a way between the halves, and bytes or blocks.
type Scores<'t> = BTreeMap<(&'t str, &'t str), Score>;

/// Draws that are made.
const DRAWS: u32 = 1000;

/// Of draws in which a function has no sample nothing is estimated.
fn draw(exact: &Exact, seed: u32) -> Scores<'_> {
    let mut scores = Scores::new();
    // The rates of one in a hundred, a thousand and ten thousand.
    let factor = 10_f64.powi(2 + seed as i32 % 3);
    let join = exact.sample(factor, u64::from(seed));
    let (name, truth) = exact.truth.iter().nth(seed as usize % exact.truth.len()).unwrap();
    both_ways(&join, name, *truth, &mut scores);
    let sites = join.sites();
    for (name, truth) in &exact.truth {
        let Some([bytes, blocks]) = sites.get(name) else { continue };
        for (what, estimate, truth) in
            [("bytes", bytes, truth.bytes), ("blocks", blocks, truth.blocks)]
        {
            scores.entry((name, what)).or_default().add(*estimate, truth);
            scores.entry(("all", what)).or_default().add(*estimate, truth);
        }
    }
    scores
}

#[test]
fn a_thousand_draws_are_within_three_standard_errors() {
    let exact = Exact::new("system", "1");
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u32;
    let mut scores = Scores::new();
    std::thread::scope(|scope| {
        let exact = &exact;
        let part = |first: u32| {
            let seeds = (first..DRAWS).step_by(threads as usize);
            scope.spawn(move || seeds.map(|seed| draw(exact, seed)).collect::<Vec<_>>())
        };
        let running: Vec<_> = (0..threads).map(part).collect();
        for scored in running.into_iter().flat_map(|thread| thread.join().unwrap()) {
            for (of, Score { draws, within }) in scored {
                let sum = scores.entry(of).or_default();
                (sum.draws, sum.within) = (sum.draws + draws, sum.within + within);
            }
        }
    });
    assert_eq!(scores.len(), 16, "{scores:?}");
    for (of, Score { draws, within }) in scores {
        println!("{of:?}: {within} of {draws}");
        // A function of few blocks has no sample in most draws of the lowest rate.
        let is_enough = draws > 300 && within * 100 >= draws * 99;
        assert!(is_enough, "{of:?}: {within} of {draws}");
    }
}

/// With all words sampled the join has what the program counts.
fn exactly(compiler: &str) {
    let exact = Exact::new(compiler, "1");
    let sites = Join::new(&exact.trace, exact.snapshot.clone()).sites();
    for (name, truth) in &exact.truth {
        let [bytes, blocks] = sites[name];
        let expected = |value: f64| Estimate { value, stderr: 0.0 };
        assert_eq!([bytes, blocks], [expected(truth.bytes), expected(truth.blocks)], "{name}");
    }
}
on_each!(at_rate_one_they_are_exact, exactly);

/// The blocks of a subsampled trace have other numbers. Snapshots had the old ones, and the page named other blocks'
/// callstacks.
#[test]
fn a_page_with_a_subsampled_trace_joins_the_same_blocks() {
    let exact = Exact::new("system", "25");
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("known.memtrail");
    std::fs::create_dir(&recording).unwrap();
    std::fs::write(recording.join("trace.ctf"), &exact.trace).unwrap();
    std::fs::write(recording.join("0001.heap"), &exact.snapshot).unwrap();
    let page = |most: usize| {
        let path = folder.path().join("page.html");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.arg("html").arg("-o").arg(&path).args(["--max-size", &most.to_string()]);
        let output = command.arg(&recording).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (std::fs::read_to_string(&path).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (whole, _) = page(64 << 20);
    let text = |page: &str, kind: &str| {
        let (_, from) = page.split_once(&format!("application/x-memtrail-{kind}\"")).unwrap();
        let (_, from) = from.split_once('>').unwrap();
        from.split_once('<').unwrap().0.to_owned()
    };
    let element = |page: &str, kind: &str| {
        let zipped = STANDARD.decode(text(page, kind)).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&zipped[..]).read_to_end(&mut bytes).unwrap();
        bytes
    };
    // What the page needs beside the trace is not known to the byte.
    let step = text(&whole, "trace").len() / 8;
    let pages = (1..16).map(|number| page(whole.len() - step * number));
    let mut pages = pages.filter(|(_, said)| said.contains("subsampled to "));
    let (page, said) = pages.next().expect("a page with a subsampled trace");
    assert!(!said.contains("not in the file"), "{said}");
    let join = Join::new(&element(&page, "trace"), element(&page, "snapshot"));
    let sites = join.sites();
    for (name, truth) in &exact.truth {
        let [bytes, _] = sites[name];
        assert!((bytes.value - truth.bytes).abs() <= 5.0 * bytes.stderr, "{name}: {bytes:?}");
    }
}
