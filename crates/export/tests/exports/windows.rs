//! Figures of a time window.

use memtrail_export::{Format, Selection, Window, json, pprof};
use memtrail_profile::Profile;
use memtrail_profile::filter::Filter;
use memtrail_profile::time::Elapsed;
use serde_json::Value;

fn window(from: u64, to: u64) -> Window {
    Window { from: Elapsed(from), to: Elapsed(to) }
}

/// Exports of a time window had the whole recording's time, and "in use" was what was never freed.
#[test]
fn a_window_has_what_was_allocated_in_it_and_what_is_live_at_its_end() {
    let profile = Profile::read(&crate::written::trace(), &mut |_| ()).unwrap();
    let filter = Filter::parse::<&str>(&[]).unwrap().resolve(&profile).unwrap();
    let all = |format, window| {
        Selection::within(format, window, &profile, &filter, |_| true, "program", Vec::new())
    };
    // Samples are allocated at 1 ms (3), 2 ms (1), 3 ms (2, freed at 6 ms), 4 ms (1) and 5 ms (1).
    for (from, to, allocated, live) in [
        (0, 6_000, 8, 6),
        (2_000, 5_000, 5, 8),
        (2_000, 4_500, 4, 7),
        (5_500, 6_000, 0, 6),
        (0, 500, 0, 0),
    ] {
        let selection = all(Format::Pprof, Some(window(from, to)));
        let total = selection.total();
        assert_eq!((total.samples, total.live), (allocated, live), "{from}..{to}");
        let file = pprof::profile(&selection);
        let sum = |column: usize| file.sample.iter().map(|s| s.value[column]).sum::<i64>();
        let bytes = |samples: u64| (samples as f64 * selection.bytes_per_sample()).round() as i64;
        assert_eq!((sum(1), sum(3)), (bytes(allocated), bytes(live)), "{from}..{to}");
        let whole = pprof::profile(&all(Format::Pprof, None));
        assert_eq!(file.time_nanos - whole.time_nanos, from as i64 * 1_000);
        assert_eq!(file.duration_nanos, (to - from) as i64 * 1_000);
        let selection = all(Format::Json, Some(window(from, to)));
        let file: Value = serde_json::from_slice(&json::write(&selection)).unwrap();
        assert_eq!(file["window_seconds"][1], to as f64 / 1e6);
        let own = |name: &str| {
            let nodes = file["nodes"].as_array().unwrap().iter();
            nodes.filter_map(|node| node[name].as_f64()).sum::<f64>()
        };
        for (name, samples) in [("allocated_bytes", allocated), ("live_bytes", live)] {
            assert!((own(name) - bytes(samples) as f64).abs() < 1.0, "{name} {from}..{to}");
            assert!((file["total"][name].as_f64().unwrap() - own(name)).abs() < 1.0);
        }
    }
}

#[test]
fn windows_are_written_as_times_of_filters() {
    let profile = Profile::read(&crate::written::trace(), &mut |_| ()).unwrap();
    let end = profile.end.0;
    for (text, from, to) in [
        ("0.002..0.005", 2_000, 5_000),
        ("50%..", end / 2, u64::MAX),
        ("2ms..end", 2_000, end),
        ("..", 0, u64::MAX),
    ] {
        assert_eq!(profile.window(text), Ok((Elapsed(from), Elapsed(to))), "{text}");
    }
    assert!(profile.window("5..2").is_err() && profile.window("a..b").is_err());
}
