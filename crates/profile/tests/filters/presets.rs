//! Presets find what they promise in a program that warms up, leaks, and makes garbage.

use memtrail_profile::filter::{Condition, Filter};
use memtrail_profile::presets::{Preset, presets};
use memtrail_profile::time::Elapsed;
use memtrail_profile::{Profile, ProfileBuilder};
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::{Anomalies, Locations, StackTree, Timestamp};

const SECOND: u64 = 1_000_000;

fn sites(code: u64) -> Vec<Named> {
    vec![match code {
        1 => ("Table.fill", "table.ml", 1),
        2 => ("Server.leak", "server.ml", 2),
        _ => ("Server.answer", "server.ml", 3),
    }]
}

/// Fills a table for two seconds, then runs for 98.
fn server() -> Profile {
    let mut blocks: Vec<Spec> = (0..2_000).map(|n| Spec::at(n * 1_000, &[1])).collect();
    for n in 0..4_900 {
        let time = 2 * SECOND + n * 20_000;
        if n % 50 == 0 {
            blocks.push(Spec::at(time, &[2]));
        }
        blocks.push(Spec { collected: Some(time + 900), ..Spec::at(time, &[3]) });
    }
    profile(0.01, &blocks, sites)
}

/// Which functions a preset shows, and how many blocks.
fn shown(profile: &Profile, preset: &Preset) -> Vec<(String, usize)> {
    let texts: Vec<String> = preset.conditions.iter().map(Condition::to_string).collect();
    let filter = Filter::parse(&texts).unwrap().resolve(profile).unwrap();
    let mut shown: Vec<(String, usize)> = Vec::new();
    for kept in filter.rows(profile) {
        let frame = profile.stacks.frame(profile.blocks.stack(kept.row));
        let site = *profile.locations.at(frame).last().unwrap();
        let name = String::from_utf8_lossy(profile.locations.resolve(site).function).into_owned();
        match shown.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => shown.push((name, 1)),
        }
    }
    shown
}

#[test]
fn each_preset_shows_what_it_is_for() {
    let profile = server();
    let [leak, peak, temporary, growth] = presets(&profile, None).try_into().unwrap();

    let leaks = shown(&profile, &leak);
    // All of it but what came during warm-up and in the last tenth.
    assert!(matches!(&leaks[..], [(name, 85..=90)] if name == "Server.leak"), "{leaks:?} {leak:?}");
    assert!(leak.why.contains("when memory settles"), "{leak:?}");

    let peak = shown(&profile, &peak);
    assert!(peak.contains(&("Table.fill".to_owned(), 2_000)), "{peak:?}");

    assert_eq!(shown(&profile, &temporary), [("Server.answer".to_owned(), 4_900)]);

    let growth = shown(&profile, &growth);
    let leaked = growth.iter().find(|(name, _)| name == "Server.leak").unwrap().1;
    assert!((95..=98).contains(&leaked), "{growth:?}");
    assert!(!growth.iter().any(|(name, _)| name == "Table.fill"), "{growth:?}");
}

#[test]
fn growth_is_between_the_moments_that_are_asked_for() {
    let profile = server();
    let between = (Elapsed(70 * SECOND), Elapsed(50 * SECOND));
    let growth = presets(&profile, Some(between)).pop().unwrap();
    let texts: Vec<String> = growth.conditions.iter().map(Condition::to_string).collect();
    assert_eq!(texts, ["allocated:50s..70s", "live:70s"]);
    let shown = shown(&profile, &growth);
    assert!(shown.contains(&("Server.leak".to_owned(), 21)), "{shown:?}");
}

#[test]
fn a_trace_without_blocks_has_presets() {
    let empty = || ProfileBuilder::new(Timestamp(0));
    let info = memtrail_test_support::traces::info(1.0);
    let tables = (Locations::default(), StackTree::new());
    let profile = Profile::new(info, empty(), tables, Anomalies::default());
    for preset in presets(&profile, None) {
        assert_eq!(shown(&profile, &preset), []);
    }
}
