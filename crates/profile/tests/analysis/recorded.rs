//! Traces of real programs, whose contents are known.

use memtrail_profile::Caveats;
use memtrail_profile::Profile;
use memtrail_profile::report::{Moment, Place, Question, Report, TimeSelection};
use memtrail_profile::sites::By;

/// 60,000 pages are rendered; every third is kept for ever in a table, 20,000 of them; all are
/// queued and half of them popped, so that 30,000 are left.
const CACHE: &[u8] = include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf");

fn live_at_end() -> Report {
    let profile = Profile::read(CACHE, &mut |_| {}).unwrap();
    let selection = TimeSelection { live_at: Some(Moment::End), ..TimeSelection::default() };
    Report::new(
        &profile,
        &Question { selection, by: By::Site, top: 20, points: 50 },
        &Caveats::default(),
    )
}

fn find<'a>(report: &'a Report, name: &str) -> &'a Place {
    report.places.iter().find(|place| place.name == name).unwrap()
}

#[test]
fn the_leaking_places_are_named_with_plausible_sizes() {
    let report = live_at_end();
    // Cells of the queue and of the table's buckets: three and four words with the header.
    for (name, count, bytes) in
        [("Stdlib.Queue.add", 30_000.0, 24.0), ("Stdlib.Hashtbl.replace", 20_000.0, 32.0)]
    {
        let place = find(&report, name);
        // Some that are garbage already were not collected yet: more is right, less is not.
        let slack = 4.0 * place.amount.blocks_stderr;
        assert!(place.amount.blocks > count - slack, "{name}: {:?}", place.amount);
        assert!(place.amount.blocks < 1.5 * count + slack, "{name}: {:?}", place.amount);
        assert!((place.amount.bytes / place.amount.blocks - bytes).abs() < 1.0);
        assert!(place.callers[0].chain[0].function.ends_with("Cache.handle"), "{place:?}");
    }
    // The pages themselves: 20,000 strings, the largest part of all that is left.
    let pages = &report.places[0];
    assert_eq!(pages.name, "Stdlib.String.concat");
    assert!((pages.amount.blocks - 20_000.0).abs() < 4.0 * pages.amount.blocks_stderr);
}

#[test]
fn totals_are_those_of_an_independent_decoder() {
    let report = live_at_end();
    // `trace_oracle.py` counts 7,033 allocations with 7,054 samples, 579 promotions and
    // 6,465 collections.
    let totals = &report.totals;
    assert_eq!((totals.allocated.recorded_blocks, totals.allocated.samples), (7_033, 7_054));
    assert_eq!(totals.promoted.recorded_blocks, 579);
    assert_eq!(totals.live_at_end.recorded_blocks, 7_033 - 6_465);
}
