//! Names that are given while a trace is read are those that it would have if they were written into it.

use std::ops::Range;

use memtrail_trace::rewrite::{Rewrite, rewrite};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{
    Alloc, Code, Detail, Event, Follow, Location, Locations, Naming, Reader, StackId, StackTree,
    TraceInfo,
};

use crate::read::{FIXTURES, fixture};

/// A rule by codes alone: some are named, some frames at both ends are left out.
#[derive(Debug, Default)]
struct Rule {
    own: Range<usize>,
}

fn is_named(code: Code) -> bool {
    !code.0.is_multiple_of(3)
}

fn own(callstack: &[Code]) -> Range<usize> {
    let end = callstack.len()
        - callstack.iter().rev().take_while(|code| code.0.is_multiple_of(2)).count();
    let start = callstack[..end].iter().take_while(|code| code.0.is_multiple_of(5)).count();
    start..end
}

const NAMED: Location<'static> =
    Location { function: b"named", file: b"named.c", line: 7, start_col: 1, end_col: 2 };

impl Naming for Rule {
    fn locate(&self, code: Code, each: &mut dyn FnMut(Location<'_>)) {
        if is_named(code) {
            each(NAMED);
        }
    }

    fn own(&self, callstack: &[Code]) -> Range<usize> {
        own(callstack)
    }
}

impl Rewrite for Rule {
    const STACKS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        old.clone()
    }

    fn alloc(&mut self, a: &Alloc<'_>) -> Option<AllocEvent> {
        self.own = own(a.backtrace);
        Some(AllocEvent { length: a.length, samples: a.samples, source: a.source })
    }

    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        &backtrace[self.own.clone()]
    }

    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        is_named(code).then(|| vec![NAMED])
    }
}

/// A callstack with its names, the innermost frame first.
fn spelt(stack: StackId, locations: &Locations, stacks: &StackTree) -> Vec<(u64, Vec<String>)> {
    let mut frames = Vec::new();
    let mut at = stack;
    while at != StackId::ROOT {
        let frame = stacks.frame(at);
        let sites = locations.at(frame).iter();
        let names = sites.map(|&site| format!("{:?}", locations.resolve(site))).collect();
        frames.push((locations.code(frame).0, names));
        at = stacks.parent(at);
    }
    frames
}

#[test]
fn names_given_on_the_way_are_those_that_are_written() {
    for name in FIXTURES {
        let trace = fixture(name);
        let written =
            rewrite(&Reader::new(&trace).unwrap(), Vec::new(), &mut Rule::default(), || ());
        let (written, _) = written.unwrap();
        let mut expected = Vec::new();
        Reader::new(&written).unwrap().for_each(Detail::Stacks, |event, tables| {
            if let Event::Alloc(a) = event {
                expected.push((a.length, spelt(a.stack, &tables.locations, &tables.stacks)));
            }
        });
        let mut follow =
            Follow::new(Detail::Stacks).named(Some(std::sync::Arc::new(Rule::default())));
        let mut found = Vec::new();
        while (follow.offset() as usize) < trace.len() {
            let from = follow.offset() as usize;
            let to = trace.len().min(from + 100_000);
            follow.advance(&trace[from..to], |event, tables| {
                if let Event::Alloc(a) = event {
                    found.push((a.length, spelt(a.stack, &tables.locations, &tables.stacks)));
                }
            });
        }
        assert!(found.iter().any(|(_, frames)| !frames.is_empty()), "{name}");
        assert!(follow.anomalies().is_empty(), "{name}: {:?}", follow.anomalies().list());
        assert_eq!(found, expected, "{name}");
    }
}
