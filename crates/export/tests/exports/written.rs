//! A small trace with everything that a format can stumble over.

use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    BlockId, Code, DomainId, Location, SampleRate, Source, Timestamp, TraceInfo, Words,
};

const MAIN: DomainId = DomainId(0);
const START: u64 = 1_700_000_000_000_000;

fn info() -> TraceInfo {
    TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "/usr/bin/program".into(),
        host: "box".into(),
        runtime_params: String::new(),
        pid: 7,
        start: Timestamp(START),
        context: None,
    }
}

/// What stands at each code, the caller first.
fn locate(code: Code) -> Vec<Location<'static>> {
    let site = |function: &'static str, file: &'static str, line| Location {
        function: function.as_bytes(),
        file: file.as_bytes(),
        line,
        start_col: 4,
        end_col: 20,
    };
    match code.0 {
        1 => vec![site("Dune__exe__Main.entry", "main.ml", 1)],
        2 => vec![site("Main.serve", "main.ml", 10), site("Stdlib__List.iter", "list.ml", 110)],
        3 => vec![site("Cache.add", "cache.ml", 7)],
        4 => vec![site("<script>alert('&\"')</script>;\n", "a\\b\u{1}.ml", 3)],
        5 => vec![site("Élan.démarrer", "élan.ml", 5)],
        6 => vec![site("Cache.site", "cache.ml", 9)],
        _ => Vec::new(),
    }
}

/// So much recursion in so many ways that no format takes all of it as it is.
pub(crate) fn deep() -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &info()).unwrap();
    let mut random = 42_u64;
    let event = AllocEvent { length: Words(9), samples: 2, source: Source::Major };
    for after in 0..500 {
        let step = |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Code(if random >> 63 == 0 { 3 } else { 5 })
        };
        let stack: Vec<Code> = std::iter::once(Code(1)).chain((0..1200).map(step)).collect();
        let id = writer.alloc(MAIN, Timestamp(START + after), &event, &stack, |code, to| {
            to.extend(locate(code));
        });
        if after % 2 == 0 {
            writer.collect(MAIN, Timestamp(START + after), id.unwrap()).unwrap();
        }
    }
    writer.finish().unwrap()
}

/// Recursion of so many calls that allocates at the bottom.
pub(crate) fn deepest(depth: u64) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &info()).unwrap();
    let event = AllocEvent { length: Words(9), samples: 2, source: Source::Major };
    for more in 0..20 {
        let calls = (0..depth + more * 100).map(|call| Code(3 + 2 * (call % 2)));
        let stack: Vec<Code> = calls.chain([Code(6)]).collect();
        let at = Timestamp(START + more);
        let locate = |code, to: &mut Vec<_>| to.extend(locate(code));
        let id = writer.alloc(MAIN, at, &event, &stack, locate).unwrap();
        if more % 2 == 0 {
            writer.collect(MAIN, at, id).unwrap();
        }
    }
    writer.finish().unwrap()
}

/// Blocks of two paths live, one of a third dies; one has no known function at all.
pub(crate) fn trace() -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &info()).unwrap();
    let mut alloc = |after: u64, samples, stack: &[u64]| -> BlockId {
        let event = AllocEvent { length: Words(9), samples, source: Source::Minor };
        let stack: Vec<Code> = stack.iter().copied().map(Code).collect();
        writer
            .alloc(MAIN, Timestamp(START + after), &event, &stack, |code, to| {
                to.extend(locate(code));
            })
            .unwrap()
    };
    alloc(1_000, 3, &[1, 2, 3]);
    alloc(2_000, 1, &[1, 2, 3, 3, 3]);
    let dead = alloc(3_000, 2, &[1, 4]);
    alloc(4_000, 1, &[1, 5, 99]);
    alloc(5_000, 1, &[99]);
    writer.collect(MAIN, Timestamp(START + 6_000), dead).unwrap();
    writer.finish().unwrap()
}
