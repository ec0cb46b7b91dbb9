//! What of a recording is in the file of `memtrail html`: all that is embedded is decoded and searched.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use memtrail_heap::model::{Heap, Value};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::LabelRole;
use memtrail_heap::{RootKind, tag};
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    Code, Detail, DomainId, Location, Reader, SampleRate, Source, Timestamp, TraceInfo, Words,
};

use crate::{complaint, memtrail};

const STRING: &str = "hunter2-on-the-heap";
/// What tells whose machine it was.
const IDENTITY: [&str; 9] = [
    "alice",
    "topsecret",
    "--password=swordfish",
    "swordfish",
    "devbox.corp.example",
    "run for bob",
    "before bob",
    "471147",
    "note about",
];
/// What stays in any case.
const NAMES: [&str; 4] = ["Cache.load", "cache.ml", "Feed", "Stdlib./"];

fn trace() -> Vec<u8> {
    let info = TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "/home/alice/topsecret/server".into(),
        host: "devbox.corp.example".into(),
        runtime_params: "v=0x0".into(),
        pid: 471_147,
        start: Timestamp(1_000_000),
        context: Some("run for bob".into()),
    };
    let mut writer = TraceWriter::new(Vec::new(), &info).unwrap();
    let event = AllocEvent { length: Words(2), samples: 1, source: Source::Minor };
    for block in 0..100 {
        let time = Timestamp(1_000_001 + block);
        let codes = [Code(100), Code(200 + block % 3)];
        writer
            .alloc(DomainId(0), time, &event, &codes, |code, to| {
                let function: &[u8] = if code == Code(100) { b"Cache.load" } else { b"Stdlib./" };
                let file: &[u8] = b"/home/alice/topsecret/src/cache.ml";
                to.push(Location { function, file, line: 7, start_col: 1, end_col: 2 });
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

fn snapshot() -> Vec<u8> {
    let mut heap = Heap::new();
    heap.contents = true;
    heap.facts.number = 1;
    heap.facts.taken_at = 1_000_000_000;
    heap.facts.pid = 471_147;
    heap.facts.program = b"/home/alice/topsecret/server".to_vec();
    heap.facts.label = b"before bob".to_vec();
    let string = heap.string(STRING.as_bytes());
    let list = heap.block(0, &[Value::Block(string), Value::Int(0)]);
    let closure = heap.block(tag::CLOSURE, &[Value::Raw(77), Value::Raw(1 << 56)]);
    let unit = heap.labels.add(None, RootKind::Global, LabelRole::Unit, b"Feed", b"", 0);
    heap.root_at(unit, Value::Block(list), Strength::Strong, None);
    let file = b"/home/alice/topsecret/src/cache.ml";
    let frame = heap.labels.add(None, RootKind::Stack, LabelRole::Frame, b"Cache.load", file, 7);
    heap.root_at(frame, Value::Block(closure), Strength::Strong, None);
    heap.bytes()
}

fn recording(folder: &Path) -> PathBuf {
    let recording = folder.join("alice-471147.memtrail");
    fs::create_dir(&recording).unwrap();
    fs::write(recording.join("trace.ctf"), trace()).unwrap();
    fs::write(recording.join("0001.heap"), snapshot()).unwrap();
    let threads = "memtrail threads 1\nt 0 471147 server\nt 1 471148 worker\nb 0 0 0\nb 0 50 1\n";
    fs::write(recording.join("threads"), threads).unwrap();
    let description = serde_json::json!({
        "format": 1, "memtrail": "0.1.0", "program": "/home/alice/topsecret/server",
        "arguments": ["./server", "--password=swordfish"], "pid": 471_147,
        "host": "devbox.corp.example",
        "runtime": { "language": "OCaml", "version": "5.3", "word_bits": 64, "parameters": "" },
        "sampling": { "rate": 1e-3, "callstacks": "incremental" },
        "clock": { "start_unix_us": 1_000_000, "start_monotonic_ns": 2 },
        "trace": {
            "file": "trace.ctf", "state": "complete", "bytes": 1, "blocks": 100, "lost": 0
        },
        "notes": ["note about /home/alice/topsecret"],
        "outcome": null,
    });
    fs::write(recording.join("recording.json"), description.to_string()).unwrap();
    recording
}

fn unpacked(base64: &str) -> Vec<u8> {
    let packed = BASE64_STANDARD.decode(base64).expect("base64");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect("gzip");
    bytes
}

/// All that a page holds of recordings, as text: attributes, the bytes of traces and snapshots, and
/// what they say when they are read.
fn told(page: &str) -> String {
    let mut told = page.split("<script type=\"application/x-memtrail-").next().unwrap().to_owned();
    for element in page.split("<script type=\"application/x-memtrail-").skip(1) {
        let (head, rest) = element.split_once('>').unwrap();
        told += &head.replace("&quot;", "\"");
        let content = rest.split("</script>").next().unwrap();
        if head.starts_with("trace") {
            let bytes = unpacked(content);
            told += &String::from_utf8_lossy(&bytes);
            let reader = Reader::new(&bytes).unwrap();
            let decoded = reader.for_each(Detail::Codes, |_, _| ());
            assert_eq!(decoded.anomalies.total(), 0);
            write!(told, "{:?}", reader.info()).unwrap();
        } else if head.starts_with("types") {
            told += &String::from_utf8_lossy(&unpacked(content));
        } else if head.starts_with("snapshot") {
            let bytes = unpacked(content);
            told += &String::from_utf8_lossy(&bytes);
            let snapshot = Snapshot::read(&bytes).unwrap();
            assert!(snapshot.damage.is_none(), "{:?}", snapshot.damage);
            assert_eq!(snapshot.blocks(), 3);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            snapshot.contents(|_, _, piece| told += &text(piece)).unwrap();
            for (_, label) in snapshot.labels.iter() {
                told += &text(snapshot.labels.name(label));
                told += &text(snapshot.labels.file(label));
            }
            told += &text(&snapshot.facts.program);
            told += &text(&snapshot.facts.label);
            write!(told, "{} {:?}", snapshot.facts.pid, snapshot.functions).unwrap();
        }
    }
    told
}

fn html(args: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path()).display().to_string();
    let file = folder.path().join("x.html").display().to_string();
    let output = memtrail(["html", "-o", &file, &recording].iter().chain(args));
    let (code, said) = complaint(&output);
    assert_eq!(code, Some(0), "{said}");
    (told(&fs::read_to_string(file).unwrap()), said)
}

#[test]
fn html_leaves_out_what_strings_hold_unless_it_is_asked_for() {
    let (told, said) = html(&[]);
    assert!(!told.contains("hunter2"));
    assert!(said.contains("what strings hold is not in the file; --contents"), "{said}");
    for known in IDENTITY.iter().chain(&NAMES) {
        assert!(told.contains(known), "{known}: this test looks where it stands");
    }
    let (told, said) = html(&["--contents"]);
    assert!(told.contains(STRING));
    assert!(!said.contains("what strings hold"), "{said}");
}

#[test]
fn html_redact_leaves_out_whose_machine_it_was() {
    let (told, said) = html(&["--redact"]);
    for secret in IDENTITY.iter().chain(&["hunter2"]) {
        assert!(!told.contains(secret), "{secret}");
        assert!(!said.split(".html").skip(1).any(|said| said.contains(secret)), "{said}");
    }
    for name in NAMES.iter().chain(&["\"program\":\"server\"", "recording-1", "worker"]) {
        assert!(told.contains(name), "{name}");
    }
}

#[test]
fn html_takes_either_contents_or_redact() {
    let (code, said) = complaint(&memtrail(["html", "--contents", "--redact", "x.memtrail"]));
    assert_eq!(code, Some(2), "{said}");
}

/// Behind the damage no reader finds strings, but a search through the file would.
#[test]
fn html_leaves_out_what_stands_behind_damage() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path());
    let file = recording.join("0001.heap");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(7).position(|bytes| bytes == b"hunter2");
    let place = place.expect("so short a section is not compressed");
    // A byte of the section's checksum.
    bytes[place - 8] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    let page = folder.path().join("x.html");
    memtrail(["html".as_ref(), "-o".as_ref(), page.as_os_str(), recording.as_os_str()]);
    let page = fs::read_to_string(page).unwrap();
    let snapshots = page.split("<script type=\"application/x-memtrail-snapshot").skip(1);
    for snapshot in snapshots {
        let content = snapshot.split_once('>').unwrap().1.split("</script>").next().unwrap();
        if !content.is_empty() {
            assert!(!String::from_utf8_lossy(&unpacked(content)).contains("hunter2"));
        }
    }
}
