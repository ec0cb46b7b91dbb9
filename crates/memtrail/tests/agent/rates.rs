//! Rates that change while a program runs: estimates against exact totals, and what is recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use memtrail_profile::estimate::{Estimate, Estimator, Sum};
use memtrail_recording::rates::{RATES_FILE, Rates};
use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::contents::read;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::{Case, Recorded};
use memtrail_trace::{SampleRate, Words};

const RATE: f64 = 1e-3;

/// Estimates of one total over all runs, against the truth.
#[derive(Default)]
struct Score {
    runs: f64,
    errors: f64,
    squares: f64,
    claimed: f64,
    beyond_three: f64,
}

impl Score {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        let error = estimate.value - truth;
        self.runs += 1.0;
        self.errors += error;
        self.squares += error * error;
        self.claimed += estimate.stderr * estimate.stderr;
        self.beyond_three += f64::from(u8::from(error.abs() > 3.0 * estimate.stderr));
    }

    /// What is wrong. `few` says that some runs have few samples, whose number is skewed.
    fn verdict(&self, what: &str, few: bool) -> Option<String> {
        let mean = self.errors / self.runs;
        let variance = self.squares / self.runs - mean * mean;
        // By the claimed errors: those of a few runs are off by chance, and what is left of them far from normal.
        let z = self.errors / self.claimed.sqrt();
        let claimed = self.claimed / self.runs / variance;
        // A variance of few runs is skewed, its cube root is nearly normal (E. B. Wilson and
        // M. M. Hilferty, The Distribution of Chi-Square, 1931).
        let spread = 2.0 / (9.0 * (self.runs - 1.0));
        let off = (claimed.recip().cbrt() - (1.0 - spread)) / spread.sqrt();
        let line = format!(
            "{what}: bias {z:.2} standard errors, variance claimed {claimed:.3} times ({off:.1}), \
             beyond three {} of {}",
            self.beyond_three, self.runs
        );
        println!("{line}");
        let most = if few { 0.05 } else { 0.015 };
        // Variances vary more than those of a normal distribution, as some samples count sixteen.
        let wrong = z.abs() > 5.0 || off.abs() > 6.0 || self.beyond_three > 6.0 + most * self.runs;
        wrong.then_some(line)
    }
}

fn rates(recorded: &Recorded) -> Rates {
    let bytes = fs::read(recorded.recording.join(RATES_FILE)).unwrap_or_default();
    let (rates, error) = Rates::parse(&bytes);
    assert_eq!(error, None);
    rates
}

/// Sums of the functions named `alloc_…`, and of all of them.
fn sums(recording: &Path, rates: &Rates, estimator: &Estimator) -> BTreeMap<String, Sum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for block in read(recording).blocks {
        let Some(site) = block.stack.iter().find_map(|f| f.split_once(".alloc_")) else { continue };
        let halvings = rates.of(block.domain, block.id);
        assert!(block.samples.is_multiple_of(1 << halvings), "{block:?}");
        for name in [site.1, "total"] {
            let sum = sums.entry(name.to_owned()).or_default();
            estimator.add(sum, Words(block.words), block.source, block.samples, halvings);
        }
    }
    sums
}

/// Blocks and words, by function, as the program prints them.
fn truth(stdout: &str) -> BTreeMap<String, (f64, f64)> {
    let mut all = BTreeMap::new();
    for line in stdout.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<f64>().expect("a number");
        let name = words[0].strip_prefix("alloc_").expect("a function");
        for name in [name, "total"] {
            let sum: &mut (f64, f64) = all.entry(name.to_owned()).or_default();
            *sum = (sum.0 + number(1), sum.1 + number(3));
        }
    }
    all
}

fn hold_against_the_truth(compiler: &str, program: &str, runs: u32) {
    hold_options_against_the_truth(compiler, program, runs, &[]);
}

fn hold_options_against_the_truth(compiler: &str, program: &str, runs: u32, more: &[&str]) {
    let program = build(&named(compiler), program);
    let estimator = Estimator::new(SampleRate(RATE), 64);
    let (mut bytes, mut blocks): (BTreeMap<_, Score>, BTreeMap<_, Score>) = Default::default();
    let mut changes = 0;
    for seed in 1..=runs {
        let seed = seed.to_string();
        let options = [&["--rate", "1e-3", "--vary-rate", "--seed", &seed], more].concat();
        let recorded = Case::new(&program, &[&seed]).options(&options).recorded();
        assert!(recorded.seen.status.success(), "{:?}", recorded.seen);
        let rates = rates(&recorded);
        changes += rates.changes.len();
        let sums = sums(&recorded.recording, &rates, &estimator);
        for (name, (count, words)) in truth(&recorded.seen.stdout()) {
            let sum = sums.get(&name).copied().unwrap_or_default();
            blocks.entry(name.clone()).or_default().add(estimator.blocks(&sum), count);
            bytes.entry(name).or_default().add(estimator.bytes(&sum), 8.0 * words);
        }
    }
    assert!(changes > 10 * runs as usize, "the rate changed {changes} times in {runs} runs");
    let verdict = |what: &str, all: BTreeMap<String, Score>| -> Vec<String> {
        let judge = |(name, score): (String, Score)| {
            score.verdict(&format!("{compiler}, {what} of {name}"), name != "total")
        };
        all.into_iter().filter_map(judge).collect()
    };
    let wrong = [verdict("bytes", bytes), verdict("blocks", blocks)].concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Runs of a test that belongs to the run of each change. `cargo xtask test --all` has twice as many.
fn runs() -> u32 {
    if memtrail_test_support::is_whole_run() { 400 } else { 200 }
}

#[test]
fn changing_rates_are_unbiased_system() {
    hold_against_the_truth("system", "exact", runs());
}

#[test]
fn changing_rates_are_unbiased_ocaml_4_14() {
    hold_against_the_truth("ocaml-4.14.1000", "exact", 200);
}

#[test]
fn changing_rates_are_unbiased_ocaml_5_3() {
    hold_against_the_truth("ocaml-5.3.0", "exact", runs());
}

#[test]
fn changing_rates_are_unbiased_in_several_domains() {
    hold_against_the_truth("ocaml-5.3.0", "exact_domains", 200);
}

/// Blocks are chosen by the agent itself: the runtime of 5.1 has no sampler.
#[test]
fn changing_rates_are_unbiased_ocaml_5_1() {
    if is_installed("ocaml-5.1.4") {
        hold_against_the_truth("ocaml-5.1.4", "exact", 400);
    }
}

#[test]
fn changing_rates_are_unbiased_in_several_domains_ocaml_5_1() {
    if is_installed("ocaml-5.1.4") {
        hold_against_the_truth("ocaml-5.1.4", "exact_domains", 200);
    }
}

#[test]
fn changing_rates_of_our_sampler_are_unbiased_ocaml_5_3() {
    let options = ["--sampler", "memtrail"];
    hold_options_against_the_truth("ocaml-5.3.0", "exact", 200, &options);
    hold_options_against_the_truth("ocaml-5.3.0", "exact_domains", 100, &options);
}

/// Domains that followed each other in a slot sampled the same words: totals were half or twice as large.
#[test]
fn domains_that_end_soon_are_sampled_independently_ocaml_5_3() {
    hold_against_the_truth("ocaml-5.3.0", "exact_short_domains", 30);
}

#[test]
fn domains_that_end_soon_are_sampled_independently_ocaml_5_4() {
    hold_against_the_truth("ocaml-5.4", "exact_short_domains", 30);
}

/// A domain began with the distance that the one before it in its place had left.
#[test]
fn domains_that_end_soon_are_sampled_independently_by_our_sampler() {
    hold_options_against_the_truth(
        "ocaml-5.3.0",
        "exact_short_domains",
        30,
        &["--sampler", "memtrail"],
    );
    if is_installed("ocaml-5.1.4") {
        hold_against_the_truth("ocaml-5.1.4", "exact_short_domains", 30);
    }
}

/// As where the runtime's private variables are not found.
#[test]
fn declined_samples_are_unbiased_system() {
    hold_options_against_the_truth("system", "exact", 400, &["--decline-samples"]);
}

#[test]
fn declined_samples_are_unbiased_ocaml_4_14() {
    hold_options_against_the_truth("ocaml-4.14.1000", "exact", 200, &["--decline-samples"]);
}

fn report(recording: &Path) -> serde_json::Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(["report", "--json"]).arg(recording).output().expect("it starts");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The number of samples that the report for people has.
fn samples_of_report(recording: &Path) -> f64 {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.arg("report").arg(recording).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let (before, _) = text.split_once(" samples: estimates").expect("the line of the rate");
    let number = before.rsplit(' ').next().expect("a number").replace(',', "");
    number.parse().expect("a number")
}

fn adapted(compiler: &str, more: &[&str]) {
    let program = build(&named(compiler), "churn");
    let recorded = |options: &[&str]| Case::new(&program, &["40"]).options(options).recorded();
    let words = |recorded: &Recorded| {
        let contents = read(&recorded.recording);
        let samples: u64 = contents.blocks.iter().map(|block| block.samples).sum();
        (contents.blocks.len(), samples as f64 / contents.rate)
    };
    let adapted = recorded(more);
    assert!(adapted.seen.status.success(), "{:?}", adapted.seen);
    let rates = rates(&adapted);
    let lowest =
        rates.changes.iter().flat_map(|(_, list)| list).map(|&(_, halvings)| halvings).max();
    assert!(lowest >= Some(1), "a program that does nothing but allocate: {rates:?}");
    assert!(lowest <= Some(7), "the next sample would be long in coming: {rates:?}");

    let report = report(&adapted.recording);
    let allocated = &report["report"]["totals"]["allocated"];
    let shown = &report["report"]["trace"]["adapted"];
    assert!(shown["lowest_samples_per_word"].as_f64() < Some(1e-4), "{shown}");
    assert!(shown["mean_samples_per_word"].as_f64() < Some(1e-4), "{shown}");
    let claimed = allocated["bytes_stderr"].as_f64().expect("a standard error");
    let if_constant = (allocated["bytes"].as_f64().expect("an estimate") * 8.0 / 1e-4).sqrt();
    assert!(claimed > 1.3 * if_constant, "{claimed}, where a constant rate has {if_constant}");

    let constant = recorded(&["--rate", "1e-4"]);
    assert!(!constant.recording.join(RATES_FILE).exists(), "--rate sets a constant rate");
    let ((few, estimate), (many, truth)) = (words(&adapted), words(&constant));
    assert!(2 * few < many, "{few} blocks of {many}");
    // The report counted a sample as often as it stands for others.
    let taken = samples_of_report(&adapted.recording);
    assert!((few as f64..1.1 * few as f64).contains(&taken), "{taken} samples of {few} blocks");
    // Each sample counts 2^7 at most, so that five standard errors are at most this much.
    let weight = f64::from(1 << lowest.unwrap_or(0));
    let error = 5.0 * (truth * weight / 1e-4).sqrt();
    assert!((estimate - truth).abs() < error, "{estimate} words, where there are {truth}");
}

#[test]
fn the_default_rate_adapts_to_a_program_that_allocates_much_system() {
    adapted("system", &[]);
}

#[test]
fn the_default_rate_adapts_to_a_program_that_allocates_much_ocaml_4_14() {
    adapted("ocaml-4.14.1000", &[]);
}

#[test]
fn the_default_rate_adapts_to_a_program_that_allocates_much_ocaml_5_3() {
    adapted("ocaml-5.3.0", &[]);
}

#[test]
fn declining_adapts_to_a_program_that_allocates_much_system() {
    adapted("system", &["--decline-samples"]);
}

#[test]
fn declining_adapts_to_a_program_that_allocates_much_ocaml_4_14() {
    adapted("ocaml-4.14.1000", &["--decline-samples"]);
}
