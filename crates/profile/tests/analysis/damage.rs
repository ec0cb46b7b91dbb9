//! Damaged traces give a report, or an error, and never a panic.

use memtrail_profile::Caveats;
use memtrail_profile::Profile;
use memtrail_profile::report::{Moment, Question, Report, TimeSelection};
use memtrail_profile::sites::By;
use proptest::prelude::*;

const TRACES: [&[u8]; 4] = [
    include_bytes!("../../../trace/tests/fixtures/lists_and_sets-v1.ctf"),
    include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf"),
    include_bytes!("../../../trace/tests/fixtures/domains-v3.ctf"),
    include_bytes!("../../../trace/tests/fixtures/ocamlopt-upstream.ctf"),
];

fn report(trace: &[u8]) {
    let Ok(profile) = Profile::read(trace, &mut |_| {}) else { return };
    for live_at in [None, Some(Moment::Peak), Some(Moment::End)] {
        let selection = TimeSelection { live_at, ..TimeSelection::default() };
        let question = Question { selection, by: By::Site, top: 5, points: 7 };
        let report = Report::new(&profile, &question, &Caveats::default());
        assert!(report.selection.total.bytes.is_finite());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cut_anywhere(trace in 0..TRACES.len(), at in 0.0..1.0_f64) {
        let trace = TRACES[trace];
        report(&trace[..(trace.len() as f64 * at) as usize]);
    }

    #[test]
    fn with_bits_flipped(
        trace in 0..TRACES.len(),
        flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..40),
    ) {
        let mut trace = TRACES[trace].to_vec();
        let len = trace.len() as f64;
        for (at, bit) in flips {
            trace[(len * at) as usize] ^= 1 << bit;
        }
        report(&trace);
    }
}
