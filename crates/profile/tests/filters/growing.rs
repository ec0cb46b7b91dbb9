//! A trace read while it grows says the same as one that is there as a whole, at every moment.

use std::collections::BTreeMap;

use memtrail_profile::Profile;
use memtrail_profile::growing::GrowingProfile;
use memtrail_profile::live_series::Peak;
use memtrail_trace::Error;

fn times(profile: &Profile) -> (Vec<u64>, Vec<u64>) {
    let blocks = &profile.blocks;
    let born = blocks.by_allocation().map(|row| blocks.allocated(row).0).collect();
    let died = blocks.by_collection().iter().map(|&row| blocks.collected(row).unwrap().0).collect();
    (born, died)
}

/// The peak, by going through all births and deaths in order.
fn peak(profile: &Profile) -> Peak {
    let blocks = &profile.blocks;
    let mut changes = BTreeMap::new();
    for row in blocks.rows() {
        let samples = blocks.samples(row) as i64;
        *changes.entry(blocks.allocated(row)).or_insert(0) += samples;
        if let Some(time) = blocks.collected(row) {
            *changes.entry(time).or_insert(0) -= samples;
        }
    }
    let (mut live, mut peak) = (0, Peak::default());
    for (time, change) in changes {
        live += change;
        if live as u64 > peak.samples {
            peak = Peak { time, samples: live as u64 };
        }
    }
    peak
}

fn assert_same(grown: &Profile, whole: &Profile) {
    let (a, b) = (&grown.blocks, &whole.blocks);
    assert_eq!((a.len(), grown.end), (b.len(), whole.end));
    for row in a.rows() {
        assert_eq!(a.allocated(row), b.allocated(row));
        assert_eq!((a.promoted(row), a.collected(row)), (b.promoted(row), b.collected(row)));
        assert_eq!((a.length(row), a.samples(row)), (b.length(row), b.samples(row)));
        assert_eq!((a.stack(row), a.domain(row)), (b.stack(row), b.domain(row)));
    }
    let ordered = times(grown);
    assert!(ordered.0.is_sorted() && ordered.1.is_sorted());
    assert_eq!(ordered, times(whole));
    assert_eq!(grown.live_series.points(300), whole.live_series.points(300));
    assert_eq!(grown.live_series.peak(), peak(grown));
    assert_eq!(grown.stacks.len(), whole.stacks.len());
    assert_eq!(grown.locations.frames(), whole.locations.frames());
}

#[test]
fn a_trace_that_grows_says_what_is_there() {
    for name in ["cache-v2", "lists_and_sets-v1", "domains-v3", "ocamlopt-upstream"] {
        let path = format!("{}/../trace/tests/fixtures/{name}.ctf", env!("CARGO_MANIFEST_DIR"));
        let trace = std::fs::read(path).unwrap();
        let mut growing = GrowingProfile::new(None);
        for there in (0..trace.len()).step_by(trace.len() / 7) {
            let from = growing.offset() as usize;
            let more = growing.advance(&trace[from..there]);
            let offset = growing.offset() as usize;
            assert_eq!(more, offset > from);
            if let Some(grown) = growing.profile() {
                // What is whole so far is a trace of its own.
                assert_same(grown, &Profile::read(&trace[..offset], &mut |_| {}).unwrap());
            }
        }
        growing.finish(&trace[growing.offset() as usize..]).unwrap();
        let whole = Profile::read(&trace, &mut |_| {}).unwrap();
        let grown = growing.into_profile().unwrap();
        assert_same(&grown, &whole);
        assert_eq!(grown.inconsistent, whole.inconsistent);
        assert_eq!(grown.damage.total(), whole.damage.total());
    }
}

#[test]
fn a_trace_that_never_says_what_it_is_has_no_profile() {
    let mut growing = GrowingProfile::new(None);
    assert!(!growing.advance(&[]));
    assert!(growing.profile().is_none());
    assert_eq!(growing.finish(&[]), Err(Error::Empty));
}
