//! Fixtures that views are tried on: names that mean something to a browser or a terminal, and a
//! recording in which nothing was sampled. `UPDATE_FIXTURES=1` writes them again.

use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    Code, Detail, DomainId, Location, Reader, SampleRate, Source, Timestamp, TraceInfo, Words,
};

/// Function and file of each frame.
const NAMES: [(&str, &str); 8] = [
    ("<script>window.stolen = 1</script>", "<img src=x onerror=alert(1)>.ml"),
    ("\"><svg onload=alert(2)>", "javascript:alert(3)"),
    ("Étude.naïve_größe", "src/日本語/ファイル.ml"),
    ("Stdlib.(@)", "list.ml"),
    ("Camlp4.\u{1b}[31mred\u{7}", "red\tand\nnew line.ml"),
    ("a,b\\\"c\\..d", "~tilde,comma.ml"),
    ("/regex.*/", "-in:not.ml"),
    ("\u{202e}desrever\u{0301}", "{{template}} ${shell} %s %00.ml"),
];

fn info() -> TraceInfo {
    TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "/opt/<b>bold</b>/sérveur".into(),
        host: "\"host\"&co".into(),
        runtime_params: "v=0x400,<i>s=256k</i>".into(),
        pid: 4711,
        start: Timestamp(1_700_000_000_000_000),
        context: Some("</script><script>alert(4)</script>".into()),
    }
}

/// Each name calls the next one and allocates; some blocks stay.
fn hostile_names() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, &info())?;
    for round in 0..400_u64 {
        let depth = 1 + round as usize % NAMES.len();
        let stack: Vec<Code> = (1..=depth as u64).map(Code).collect();
        let time = Timestamp(info().start.0 + 10_000 * round);
        let event = AllocEvent { length: Words(1 + round % 30), samples: 1, source: Source::Minor };
        let id = writer.alloc(DomainId(0), time, &event, &stack, |code, to| {
            let (function, file) = NAMES[code.0 as usize - 1];
            let (function, file) = (function.as_bytes(), file.as_bytes());
            let line = 10 * code.0 as u32;
            to.push(Location { function, file, line, start_col: 2, end_col: 9 });
        })?;
        if round % 3 == 0 {
            writer.collect(DomainId(0), Timestamp(time.0 + 5_000), id)?;
        }
    }
    writer.finish()?;
    Ok(bytes)
}

fn empty() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    TraceWriter::new(&mut bytes, &TraceInfo { executable: "idle".into(), ..info() })?.finish()?;
    Ok(bytes)
}

fn is_as_written(name: &str, bytes: &[u8]) {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, bytes).expect("fixtures can be written");
    }
    assert!(crate::read::fixture(name) == bytes, "{name} is not what this test writes");
}

#[test]
fn hostile_names_come_through_as_they_are() {
    let trace = hostile_names().expect("written to memory");
    is_as_written("hostile-names-v2.ctf", &trace);
    let reader = Reader::new(&trace).expect("readable information");
    let summary = reader.for_each(Detail::Stacks, |_, _| ());
    let functions: Vec<_> =
        summary.tables.locations.functions().iter().map(|(_, name)| name.to_vec()).collect();
    let expected: Vec<_> = NAMES.iter().map(|(function, _)| function.as_bytes().to_vec()).collect();
    assert_eq!(functions, expected);
}

#[test]
fn a_recording_may_hold_no_sample() {
    let trace = empty().expect("written to memory");
    is_as_written("empty-v2.ctf", &trace);
    assert_eq!(crate::read::events(&trace), []);
}
