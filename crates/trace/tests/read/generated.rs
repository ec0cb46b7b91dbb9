//! What our writer writes is what our reader reads, and what the oracle reads.

use std::collections::HashMap;

use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    BlockId, Code, Detail, DomainId, Follow, Location, Reader, SampleRate, Source, Timestamp,
    TraceInfo, Words,
};
use proptest::prelude::*;

use crate::read::oracle::Oracle;
use crate::read::{Seen, Spelled, events, seen, spelled_at};

/// One thing to write.
#[derive(Clone, Debug)]
enum Step {
    Alloc {
        domain: u16,
        length: u64,
        samples: u64,
        source: Source,
        /// Frames kept of the domain's last backtrace, and what follows them.
        kept: usize,
        new: Vec<u64>,
    },
    /// Of the n-th block of those that are left.
    Promote(prop::sample::Index),
    Collect(prop::sample::Index),
    Wait(u64),
}

fn step(domains: u16) -> impl Strategy<Value = Step> {
    let source = prop_oneof![
        4 => Just(Source::Minor),
        1 => Just(Source::Major),
        1 => Just(Source::External),
    ];
    let length = prop_oneof![0..20_u64, 250..260_u64, 65_000..66_000_u64, 0..1_u64 << 40];
    let new = prop_oneof![
        4 => prop::collection::vec(1..12_u64, 0..6),
        2 => prop::collection::vec(1..400_u64, 0..40),
        1 => prop::collection::vec(1..!0_u64 >> 1, 0..10),
        1 => (1..50_u64, 0..600_usize).prop_map(|(code, depth)| vec![code; depth]),
    ];
    prop_oneof![
        6 => (0..domains, length, 1..4_u64, source, 0..50_usize, new).prop_map(
            |(domain, length, samples, source, kept, new)| Step::Alloc {
                domain, length, samples, source, kept, new,
            }
        ),
        1 => any::<prop::sample::Index>().prop_map(Step::Promote),
        4 => any::<prop::sample::Index>().prop_map(Step::Collect),
        1 => prop_oneof![0..100_u64, 0..20_000_000_u64].prop_map(Step::Wait),
    ]
}

/// What stands at a code: 0 to 2 locations, of a few dozen files.
fn locations_of(code: u64) -> Vec<Spelled> {
    (0..code % 3)
        .map(|nth| {
            let n = (code as u32).wrapping_mul(31).wrapping_add(nth as u32);
            let function = format!("M{}.f{}", n % 40, n % 47);
            (function, format!("m{}.ml", n % 40), n % 5000 + 1, n % 256, n % 1024)
        })
        .collect()
}

struct Written {
    trace: Vec<u8>,
    /// In the order of writing.
    events: Vec<Seen>,
}

fn write(steps: &[Step]) -> Written {
    let start = Timestamp(1_700_000_000_000_000);
    let info = TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "/bin/generated".into(),
        host: "host".into(),
        runtime_params: "v=0".into(),
        pid: 42,
        start,
        context: Some("context".into()),
    };
    let mut writer = TraceWriter::new(Vec::new(), &info).unwrap();
    let mut now = start;
    let mut live: Vec<(BlockId, u16)> = Vec::new();
    let mut stacks: HashMap<u16, Vec<u64>> = HashMap::new();
    let mut events = Vec::new();
    let spelled: HashMap<u64, Vec<Spelled>> = steps
        .iter()
        .filter_map(|step| if let Step::Alloc { new, .. } = step { Some(new) } else { None })
        .flatten()
        .map(|&code| (code, locations_of(code)))
        .collect();
    for step in steps {
        match step {
            Step::Alloc { domain, length, samples, source, kept, new } => {
                let stack = stacks.entry(*domain).or_default();
                stack.truncate(*kept);
                stack.extend(new);
                let codes: Vec<Code> = stack.iter().copied().map(Code).collect();
                let event =
                    AllocEvent { length: Words(*length), samples: *samples, source: *source };
                let id = writer
                    .alloc(DomainId(*domain), now, &event, &codes, |code, to| {
                        to.extend(spelled[&code.0].iter().map(
                            |(function, file, line, start_col, end_col)| Location {
                                function: function.as_bytes(),
                                file: file.as_bytes(),
                                line: *line,
                                start_col: *start_col,
                                end_col: *end_col,
                            },
                        ));
                    })
                    .unwrap();
                live.push((id, *domain));
                events.push(Seen::Alloc {
                    time: now.0,
                    id: id.0,
                    domain: *domain,
                    length: *length,
                    samples: *samples,
                    source: *source,
                    backtrace: stack.clone(),
                });
            }
            Step::Promote(which) if !live.is_empty() => {
                let (id, domain) = live[which.index(live.len())];
                writer.promote(DomainId(domain), now, id).unwrap();
                events.push(Seen::Promote { time: now.0, id: id.0, domain });
            }
            Step::Collect(which) if !live.is_empty() => {
                let (id, domain) = live.swap_remove(which.index(live.len()));
                writer.collect(DomainId(domain), now, id).unwrap();
                events.push(Seen::Collect { time: now.0, id: id.0, domain });
            }
            Step::Wait(micros) => now.0 += micros,
            Step::Promote(_) | Step::Collect(_) => {}
        }
    }
    Written { trace: writer.finish().unwrap(), events }
}

fn of_domain(events: &[Seen], wanted: u16) -> Vec<Seen> {
    let is_wanted = |event: &&Seen| match event {
        Seen::Alloc { domain, .. }
        | Seen::Promote { domain, .. }
        | Seen::Collect { domain, .. } => *domain == wanted,
    };
    events.iter().filter(is_wanted).cloned().collect()
}

fn check(steps: &[Step], domains: u16) -> Result<(), TestCaseError> {
    let Written { trace, events: written } = write(steps);
    let read = events(&trace);
    for domain in 0..domains {
        prop_assert_eq!(of_domain(&read, domain), of_domain(&written, domain));
    }
    let oracle = Oracle::read(&trace);
    prop_assert_eq!(&read, &oracle.events);
    let reader = Reader::new(&trace).unwrap();
    let decoded = reader.for_each(Detail::Stacks, |_, _| {});
    prop_assert!(decoded.anomalies.is_empty(), "{:?}", decoded.anomalies.list());
    for (&code, expected) in &oracle.locations {
        prop_assert_eq!(&spelled_at(&decoded.tables, code), expected);
        prop_assert_eq!(expected, &locations_of(code));
    }
    let mut follow = Follow::new(Detail::Codes);
    let mut followed = Vec::new();
    for there in (0..trace.len()).step_by(1000) {
        let tail = &trace[(follow.offset() as usize).min(there)..there];
        follow.advance(tail, |event, _| followed.push(seen(&event)));
    }
    let tail = &trace[follow.offset() as usize..];
    follow.finish(tail, |event, _| followed.push(seen(&event))).unwrap();
    prop_assert_eq!(followed, read);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_domain(steps in prop::collection::vec(step(1), 0..300)) {
        check(&steps, 1)?;
    }

    #[test]
    fn several_domains(steps in prop::collection::vec(step(4), 0..300)) {
        check(&steps, 4)?;
    }
}
