//! The reader against an independent, slow decoder, on traces that other people's recorders made,
//! on generated ones and on damaged ones.

mod damage;
mod fixtures;
mod generated;
mod growing;
mod hostile;
mod naming;
mod oracle;
mod packets;
mod traps;

use memtrail_trace::{Code, Detail, Event, Location, Mark, Reader, Source};

/// A file among the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Those that other people's recorders made.
const FIXTURES: [&str; 4] =
    ["lists_and_sets-v1.ctf", "cache-v2.ctf", "ocamlopt-upstream.ctf", "domains-v3.ctf"];

/// An event with all that it says, in a form of its own for both decoders.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Alloc {
        time: u64,
        id: u64,
        domain: u16,
        length: u64,
        samples: u64,
        source: Source,
        backtrace: Vec<u64>,
    },
    Promote {
        time: u64,
        id: u64,
        domain: u16,
    },
    Collect {
        time: u64,
        id: u64,
        domain: u16,
    },
}

/// What [`Reader`] makes of an event.
fn seen(event: &Event<'_>) -> Seen {
    match *event {
        Event::Alloc(alloc) => Seen::Alloc {
            time: alloc.time.0,
            id: alloc.id.0,
            domain: alloc.domain.0,
            length: alloc.length.0,
            samples: alloc.samples,
            source: alloc.source,
            backtrace: alloc.backtrace.iter().map(|code| code.0).collect(),
        },
        Event::Promote(Mark { time, id, domain }) => {
            Seen::Promote { time: time.0, id: id.0, domain: domain.0 }
        }
        Event::Collect(Mark { time, id, domain }) => {
            Seen::Collect { time: time.0, id: id.0, domain: domain.0 }
        }
    }
}

/// All events of a trace, with backtraces.
fn events(trace: &[u8]) -> Vec<Seen> {
    let mut events = Vec::new();
    let reader = Reader::new(trace).expect("readable information");
    reader.for_each(Detail::Codes, |event, _| events.push(seen(&event)));
    events
}

/// A location as plain values.
type Spelled = (String, String, u32, u32, u32);

fn spelled(location: &Location<'_>) -> Spelled {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let Location { function, file, line, start_col, end_col } = *location;
    (text(function), text(file), line, start_col, end_col)
}

/// What a trace's tables say of a code.
fn spelled_at(tables: &memtrail_trace::Tables, code: u64) -> Vec<Spelled> {
    let sites = tables.locations.of(Code(code));
    sites.iter().map(|&site| spelled(&tables.locations.resolve(site))).collect()
}
