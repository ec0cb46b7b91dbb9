//! The text format of Prometheus, version 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::labels::Labels;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    /// True for a counter, false for a gauge.
    pub(super) is_counter: bool,
    pub(super) help: &'static str,
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, is_counter: false, help }
}

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, is_counter: true, help }
}

pub(super) const RUNNING: Metric =
    gauge("memtrail_recording_running", "1 if the program still runs, else 0.");
pub(super) const DURATION: Metric =
    gauge("memtrail_recording_duration_seconds", "Time that was recorded.");
pub(super) const LIVE: Metric =
    gauge("memtrail_live_bytes", "Live memory at the latest event, estimated from samples.");
pub(super) const SITE_LIVE: Metric = gauge(
    "memtrail_site_live_bytes",
    "Live memory by the function that allocated it, estimated from samples.",
);
pub(super) const OWNER_LIVE: Metric = gauge(
    "memtrail_owner_live_bytes",
    "Live memory by owner in the latest heap snapshot, off-heap memory included.",
);
pub(super) const SNAPSHOTS: Metric = gauge("memtrail_snapshots", "Heap snapshots.");
pub(super) const SNAPSHOT_TIME: Metric =
    gauge("memtrail_snapshot_timestamp_seconds", "Unix time of the latest heap snapshot.");
pub(super) const RESIDENT: Metric =
    gauge("memtrail_resident_bytes", "Resident memory of the program.");
pub(super) const RESIDENT_PART: Metric = gauge(
    "memtrail_resident_part_bytes",
    "Resident memory by use. The parts add up to memtrail_resident_bytes but for changes during measurement.",
);
pub(super) const SUSPECTS: Metric = gauge("memtrail_suspects", "Leak suspects.");
pub(super) const SUSPECT: Metric =
    gauge("memtrail_suspect_bytes", "Memory of each leak suspect, off-heap memory included.");
pub(super) const JUDGED_TIME: Metric = gauge(
    "memtrail_judged_timestamp_seconds",
    "Unix time when suspects and owners were determined.",
);
pub(super) const INTERVAL: Metric = gauge(
    "memtrail_sampling_interval_bytes",
    "Mean allocation between two samples at the present sampling rate.",
);
pub(super) const LOST: Metric =
    counter("memtrail_samples_lost_total", "Samples that could not be recorded.");
pub(super) const SHIPPED: Metric =
    counter("memtrail_windows_shipped_total", "Time windows that the destination took.");
pub(super) const EMPTY: Metric =
    counter("memtrail_windows_empty_total", "Time windows without memory, which are not sent.");
pub(super) const REFUSED: Metric =
    counter("memtrail_windows_refused_total", "Time windows that the destination refused.");
pub(super) const WAITING: Metric =
    gauge("memtrail_windows_waiting", "Time windows that are not shipped yet.");
pub(super) const LAG: Metric =
    gauge("memtrail_ship_lag_seconds", "Age of the oldest allocation that is not shipped.");

/// Metrics with their values.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    values: BTreeMap<Metric, BTreeMap<Labels, f64>>,
}

impl Exposition {
    /// Adds a value. Values with the same labels are one, their sum: two owners may have one name.
    pub(super) fn add(&mut self, metric: Metric, labels: Labels, value: f64) {
        *self.values.entry(metric).or_default().entry(labels).or_default() += value;
    }
}

impl std::fmt::Display for Exposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (metric, values) in &self.values {
            let Metric { name, is_counter, help } = metric;
            let kind = if *is_counter { "counter" } else { "gauge" };
            writeln!(f, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
            for (labels, value) in values {
                write!(f, "{name}")?;
                for (number, (label, text)) in labels.iter().enumerate() {
                    f.write_char(if number == 0 { '{' } else { ',' })?;
                    write!(f, "{label}=\"{}\"", escaped(text))?;
                }
                f.write_str(if labels.is_empty() { " " } else { "} " })?;
                writeln!(f, "{value}")?;
            }
        }
        Ok(())
    }
}

/// A value of a label as the format has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_a_label_and_equal_series_are_one() {
        let mut exposition = Exposition::default();
        let owner = |name: &str| vec![("owner".to_owned(), name.to_owned())];
        exposition.add(OWNER_LIVE, owner("a\"} 1\nb\\"), 1.0);
        exposition.add(OWNER_LIVE, owner("x"), 1e9);
        exposition.add(OWNER_LIVE, owner("x"), 0.5);
        exposition.add(SUSPECTS, Labels::new(), 2.0);
        let text = exposition.to_string();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            r#"memtrail_owner_live_bytes{owner="a\"} 1\nb\\"} 1"#,
            r#"memtrail_owner_live_bytes{owner="x"} 1000000000.5"#,
            "memtrail_suspects 2",
        ];
        assert_eq!(lines, expected);
    }
}
