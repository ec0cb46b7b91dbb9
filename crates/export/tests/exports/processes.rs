//! Several processes in one trace: conditions choose among them, and pprof's samples have them as labels.

use std::collections::BTreeMap;

use memtrail_export::pprof::{Profile, Sample};
use memtrail_export::{Format, pprof};
use memtrail_profile::processes::frame_name;
use memtrail_trace::Reader;
use memtrail_trace::merge::{Part, merge};

use crate::recorded::with;
use crate::written::trace;

/// What `process` and `pid` say of a sample.
fn process(profile: &Profile, sample: &Sample) -> (String, i64) {
    let text = |index: i64| profile.string_table[usize::try_from(index).unwrap()].as_str();
    let [process, pid] = sample.label.as_slice() else { panic!("{sample:?}") };
    assert_eq!((text(process.key), text(pid.key)), ("process", "pid"));
    (text(process.str).to_owned(), pid.num)
}

fn sums(conditions: &[&str], merged: &[u8]) -> BTreeMap<(String, i64), i64> {
    let profile = with(Format::Pprof, merged, conditions, pprof::profile);
    let mut sums = BTreeMap::new();
    for sample in &profile.sample {
        *sums.entry(process(&profile, sample)).or_default() += sample.value[1];
    }
    sums
}

fn bytes(trace: &[u8]) -> i64 {
    let profile = with(Format::Pprof, trace, &[], pprof::profile);
    assert!(profile.sample.iter().all(|sample| sample.label.is_empty()));
    profile.sample.iter().map(|sample| sample.value[1]).sum()
}

#[test]
fn samples_have_their_process() {
    let traces = [trace(), trace()];
    let readers = traces.each_ref().map(|trace| Reader::new(trace).unwrap());
    let names = ["coqc-4711", "make-4712-2"].map(frame_name);
    let part = |(trace, name, file): (_, &'static [u8], &'static [u8])| Part {
        trace,
        name,
        file,
        freed: None,
    };
    let names: [&'static [u8]; 2] = names.map(|name| &*name.into_bytes().leak());
    let parts =
        [part((&readers[0], names[0], b"/usr/bin/coqc")), part((&readers[1], names[1], b"make"))];
    let mut merged = Vec::new();
    merge(&parts, readers[0].info(), &mut merged, &mut |_| ()).unwrap();
    let coqc = (("coqc-4711".to_owned(), 4711), bytes(&traces[0]));
    let make = (("make-4712-2".to_owned(), 4712), bytes(&traces[1]));
    let both = BTreeMap::from([coqc.clone(), make.clone()]);
    for (conditions, expected) in [
        (&[][..], both.clone()),
        (&["process:coqc"], BTreeMap::from([coqc.clone()])),
        (&["process:4712"], BTreeMap::from([make.clone()])),
        (&["process:make-4712-2"], BTreeMap::from([make.clone()])),
        (&["-process:~coq"], BTreeMap::from([make])),
        (&["process:4711,4712"], both),
        (&["process:/^.{4}$/", "-process:4712"], BTreeMap::from([coqc.clone()])),
        (&["process:4711", "-in:[make-4712-2]", "hide:Nothing"], BTreeMap::from([coqc])),
        (&["process:4713"], BTreeMap::new()),
    ] {
        assert_eq!(sums(conditions, &merged), expected, "{conditions:?}");
    }
}
