//! Gates, as users write them.

use std::fmt::Write as _;
use std::path::PathBuf;

use memtrail_engine::gate::{Gate, GrowthLimit, Limit, Verdict};
use memtrail_profile::filter::Condition;
use memtrail_recording::Recording;
use memtrail_recording::family::Family;
use memtrail_text::Size;

use super::answer::Judged;
use crate::error::{Failure, Kind};
use crate::leaks::Suppressions;
use crate::shell_quote::shell_quote;
use crate::view::check_filter;

/// The limits.
#[derive(clap::Args)]
#[command(next_help_heading = "Gates")]
#[group(id = "gates")]
pub(super) struct Gates {
    /// The most that may be alive at a time, off-heap memory included: 200M
    #[arg(long, value_name = "SIZE", value_parser = memtrail_text::some_size)]
    max_live: Option<Size>,

    /// The most that may be allocated in all
    #[arg(long, value_name = "SIZE", value_parser = memtrail_text::some_size)]
    max_total: Option<Size>,

    /// How fast what is alive may grow in the second half of the run: 1%/min, 2M/h
    #[arg(long, value_name = "RATE", value_parser = growth)]
    max_growth: Option<Growth>,

    /// Fail if `memtrail leaks` lists a suspect. Of native programs with --snapshot exit, something must refer to each
    /// block
    #[arg(long)]
    no_leak: bool,

    #[command(flatten)]
    known: Suppressions,

    /// The most that may be alive at a time of what a function allocated, or one of several: 'Foo.*<=10M'.
    /// In place of a name there may be a condition of a filter: 'in:Foo.load<=10M' is what was allocated
    /// during calls of it. May be given several times
    #[arg(long = "site", value_name = "PATTERN<=SIZE", value_parser = site)]
    sites: Vec<Site>,

    /// No more may be alive at the peak, and allocated in all, than in this recording
    #[arg(long, value_name = "REC")]
    baseline: Option<PathBuf>,

    /// How much more than the baseline is allowed
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    max_increase: f64,
}

/// A limit of growth, and how it was written.
#[derive(Clone, Debug, PartialEq)]
struct Growth {
    text: String,
    limit: GrowthLimit,
}

/// A limit of a site, and how it was written.
#[derive(Clone, Debug, PartialEq)]
struct Site {
    text: String,
    /// The part before the limit.
    pattern: String,
    condition: String,
    most: Size,
}

/// What to judge by.
pub(super) struct Resolved {
    /// The gates; a comparison is with the recording that is added second, number 1.
    pub(super) gates: Vec<Gate>,
    /// The recording to compare with.
    pub(super) baseline: Option<PathBuf>,
    /// Texts of the gates of call sites that are named, with the names.
    named_sites: Vec<(String, String)>,
}

/// The number of the baseline in the engine.
pub(super) const BASELINE: u32 = 1;

impl Gates {
    pub(super) fn resolve(&self) -> Result<Resolved, Failure> {
        let mut gates = Vec::new();
        let mut gate = |text: String, limit| gates.push(Gate { text, limit });
        let size = |size: Size| memtrail_text::exact::typed_size(size);
        if let Some(most) = self.max_live {
            gate(format!("--max-live {}", size(most)), Limit::MaxLive(most));
        }
        if let Some(most) = self.max_total {
            gate(format!("--max-total {}", size(most)), Limit::MaxTotal(most));
        }
        if let Some(growth) = &self.max_growth {
            gate(format!("--max-growth {}", growth.text), Limit::MaxGrowth(growth.limit));
        }
        if self.no_leak {
            gate("--no-leak".to_owned(), Limit::NoLeak(self.known.read()?));
        }
        let mut named_sites = Vec::new();
        for site in &self.sites {
            let filter = vec![site.condition.clone()];
            check_filter(&filter)?;
            let text = format!("--site {}", shell_quote(&site.text));
            if site.is_name() {
                named_sites.push((text.clone(), site.pattern.clone()));
            }
            gate(text, Limit::Site { filter, most: site.most });
        }
        if let Some(baseline) = &self.baseline {
            // Before the program is run for nothing.
            if Family::open(baseline)?.is_none() {
                Recording::open(baseline)?;
            }
            let text = format!("--baseline {}", shell_quote(&baseline.display().to_string()));
            let limit = Limit::Baseline { rec: BASELINE, tolerance: self.max_increase };
            gate(text, limit);
        }
        if gates.is_empty() {
            return Err(Failure::new(Kind::Usage, "there is no gate to judge by").hint(
                "memtrail check --max-live 200M -- PROGRAM; `memtrail check --help` lists all",
            ));
        }
        Ok(Resolved { gates, baseline: self.baseline.clone(), named_sites })
    }
}

impl Site {
    /// True for a name of a function, module or file. Other conditions, as that on an age, may rightly match nothing.
    fn is_name(&self) -> bool {
        self.condition.split_once(':').is_some_and(|(key, _)| KEYS.contains(&key))
    }
}

impl Resolved {
    /// Marks gates of call sites whose name no sample has: a wrong name would pass for ever.
    pub(super) fn mark_unmatched(&self, judged: &mut [Judged]) {
        for Judged { result, .. } in judged {
            let of = self.named_sites.iter().find(|(text, _)| *text == result.gate);
            let is_nothing = result.measured.as_ref().is_some_and(|size| size.value <= 0.0);
            if let Some((_, pattern)) = of.filter(|_| is_nothing) {
                result.verdict = Verdict::Unknown;
                result.reason = format!(
                    "no call site matches {pattern}: the name is wrong, or so little was allocated there that \
                     a higher --rate is needed"
                );
            }
        }
    }

    /// Whether a heap snapshot at the end tells more.
    pub(super) fn use_snapshots(&self) -> bool {
        self.gates.iter().any(uses_snapshots)
    }
}

/// Whether heap snapshots tell more about a gate.
pub(super) fn uses_snapshots(gate: &Gate) -> bool {
    matches!(gate.limit, Limit::NoLeak(_) | Limit::MaxLive(_) | Limit::MaxGrowth(_))
}

/// `1%/min`, `2M/h`: a part of what is alive, or a size, in a time.
fn growth(text: &str) -> Result<Growth, String> {
    let example = "growth is like 1%/min, 2M/h, 10K/s";
    let (amount, unit) =
        text.split_once('/').ok_or_else(|| format!("{text:?} has no time; {example}"))?;
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(format!("{text:?} has no time; {example}"));
    }
    let number = if unit.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
    let time = memtrail_text::duration(&format!("{number}{unit}"))?.as_secs_f64();
    if time <= 0.0 {
        return Err(format!("{unit:?} is no time; {example}"));
    }
    let limit = if amount.trim().ends_with('%') {
        GrowthLimit::Share(percent(amount)? / time)
    } else {
        GrowthLimit::Bytes(memtrail_text::size(amount)?.0 as f64 / time)
    };
    Ok(Growth { text: text.trim().to_owned(), limit })
}

/// `5%`, as a part of 1.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim).and_then(|text| text.parse().ok());
    number
        .filter(|number: &f64| number.is_finite() && *number >= 0.0)
        .map(|number| number / 100.0)
        .ok_or_else(|| format!("{text:?} is no percentage; write 5% or 0.5%"))
}

/// Conditions on names, in which patterns may be.
const KEYS: [&str; 6] = ["by", "byModule", "byFile", "in", "module", "file"];

/// `Foo.*<=10M`, `in:Foo.load<=10M`.
fn site(text: &str) -> Result<Site, String> {
    let (pattern, most) = text
        .rsplit_once("<=")
        .ok_or_else(|| format!("{text:?} has no limit; sites are like 'Foo.*<=10M'"))?;
    let (pattern, most) = (pattern.trim(), memtrail_text::some_size(most)?);
    if pattern.is_empty() {
        return Err(format!("{text:?} names no function; sites are like 'Foo.*<=10M'"));
    }
    let condition = match pattern.split_once(':') {
        Some((key, name)) if KEYS.contains(&key) && name.contains(['*', '?']) => {
            format!("{key}:/^{}$/", expression(name))
        }
        Some(_) if pattern.parse::<Condition>().is_ok() => pattern.to_owned(),
        _ => format!("by:/^{}$/", expression(pattern)),
    };
    Ok(Site { text: text.trim().to_owned(), pattern: pattern.to_owned(), condition, most })
}

/// A pattern with `*` and `?` as a regular expression.
fn expression(pattern: &str) -> String {
    let mut text = String::new();
    for c in pattern.chars() {
        match c {
            '*' => text.push_str(".*"),
            '?' => text.push('.'),
            // What may be in operators' names means something in expressions, and in conditions.
            c if c.is_ascii_punctuation() && c != '_' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_a_share_or_a_size_in_a_time() {
        for (text, limit) in [
            ("1%/min", GrowthLimit::Share(0.01 / 60.0)),
            ("30% / h", GrowthLimit::Share(0.3 / 3600.0)),
            ("2M/s", GrowthLimit::Bytes(2.0 * 1024.0 * 1024.0)),
            ("1K/10s", GrowthLimit::Bytes(102.4)),
            ("0/min", GrowthLimit::Bytes(0.0)),
        ] {
            assert_eq!(growth(text).map(|growth| growth.limit), Ok(limit), "{text}");
        }
        for text in ["1%", "1%/", "x/min", "-1%/min", "1%/0s", "nan%/min", "/min"] {
            assert!(growth(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sites_are_patterns_or_conditions() {
        let condition = |text: &str| site(text).map(|site| (site.condition, site.most.0));
        assert_eq!(condition("Foo.*<=10M"), Ok((r"by:/^Foo\x2e.*$/".into(), 10 << 20)));
        assert_eq!(condition("in:Foo.load <= 1K"), Ok(("in:Foo.load".into(), 1024)));
        assert_eq!(condition("a<=b<=1"), Ok((r"by:/^a\x3c\x3db$/".into(), 1)));
        assert_eq!(condition("in:Foo.*<=1K"), Ok((r"in:/^Foo\x2e.*$/".into(), 1024)));
        for (text, is_name) in [("Foo.*<=1", true), ("in:Foo<=1", true), ("live:end<=1", false)] {
            assert_eq!(site(text).map(|site| site.is_name()), Ok(is_name), "{text}");
        }
        for text in ["Foo", "<=1K", "Foo<=", "Foo<=0", "Foo<=x"] {
            assert!(site(text).is_err(), "{text}");
        }
        for text in ["Foo.(/)<=1K", "A,B<=1", "Stdlib.^<=2"] {
            let condition = site(text).unwrap().condition;
            assert!(condition.parse::<Condition>().is_ok(), "{condition}");
        }
    }
}
