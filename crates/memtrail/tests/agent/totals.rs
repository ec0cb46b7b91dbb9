//! Sampled totals against exact ones, a thousand times.

use std::collections::BTreeMap;
use std::path::Path;

use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::contents::read;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// Deviations from the truth of one function over all runs, in standard errors.
#[derive(Default)]
struct Deviations {
    count: f64,
    sum: f64,
    squares: f64,
    beyond_three: f64,
}

impl Deviations {
    fn add(&mut self, z: f64) {
        self.count += 1.0;
        self.sum += z;
        self.squares += z * z;
        self.beyond_three += f64::from(u8::from(z.abs() > 3.0));
    }
}

/// Sampling is binomial: of `words` words each is taken with probability `rate`.
fn deviation(samples: u64, words: f64, rate: f64) -> f64 {
    (samples as f64 - words * rate) / (words * rate * (1.0 - rate)).sqrt()
}

fn truth(stdout: &str) -> BTreeMap<String, f64> {
    let parse = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        Some((format!("Exact.{}", words.first()?), words.get(3)?.parse().ok()?))
    };
    stdout.lines().map(|line| parse(line).unwrap_or_else(|| panic!("{line:?}"))).collect()
}

fn hold_against_the_truth(compiler: &str, runs: u32) {
    let program = build(&named(compiler), "exact");
    let mut all: BTreeMap<String, Deviations> = BTreeMap::new();
    for seed in 1..=runs {
        let seed = seed.to_string();
        let options = ["--rate", "1e-3", "--seed", &seed];
        let recorded = Case::new(&program, &[&seed]).options(&options).recorded();
        assert!(recorded.seen.status.success(), "{:?}", recorded.seen);
        let truth = truth(&recorded.seen.stdout());
        let samples = samples(&recorded.recording);
        let mut total = (0, 0.0);
        for (function, words) in truth {
            let found = samples.get(&function).copied().unwrap_or_default();
            all.entry(function).or_default().add(deviation(found, words, 1e-3));
            total = (total.0 + found, total.1 + words);
        }
        all.entry("total".into()).or_default().add(deviation(total.0, total.1, 1e-3));
    }
    let mut wrong = Vec::new();
    for (function, d) in all {
        let n = d.count;
        let mean = d.sum / n;
        let variance = d.squares / n - mean * mean;
        let what = format!(
            "{compiler}, {function}: mean {mean:.3}, variance {variance:.3}, beyond three {} of {n}",
            d.beyond_three
        );
        println!("{what}");
        // An unbiased estimate has mean 0 with standard error 1/sqrt(n).
        if mean.abs() >= 4.5 / n.sqrt() {
            wrong.push(format!("biased: {what}"));
        }
        // Variance 1, with standard error sqrt(2/n).
        if (variance - 1.0).abs() >= 5.0 * (2.0 / n).sqrt() {
            wrong.push(format!("spread: {what}"));
        }
        // 0.27 % for a normal distribution; large blocks come in few and are skewed.
        if d.beyond_three > 3.0 + 0.01 * n {
            wrong.push(format!("outliers: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn samples(recording: &Path) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for block in read(recording).blocks {
        if let Some(site) = block.stack.into_iter().find(|f| f.starts_with("Exact.alloc_")) {
            *sums.entry(site).or_default() += block.samples;
        }
    }
    sums
}

#[test]
fn a_thousand_runs_system() {
    hold_against_the_truth("system", 1000);
}

#[test]
fn two_hundred_runs_ocaml_4_14() {
    hold_against_the_truth("ocaml-4.14.1000", 200);
}

#[test]
fn two_hundred_runs_ocaml_5_1() {
    if is_installed("ocaml-5.1.4") {
        hold_against_the_truth("ocaml-5.1.4", 200);
    }
}

#[test]
fn a_thousand_runs_ocaml_5_3() {
    hold_against_the_truth("ocaml-5.3.0", 1000);
}
