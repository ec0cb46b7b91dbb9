//! Recordings with heap snapshots, and snapshots alone, as `memtrail view` and `html` show them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memtrail_engine::ResponseBody;
use memtrail_heap::model::{Heap, Value};
use memtrail_heap::read::Strength;
use memtrail_heap::write::LabelRole;
use memtrail_heap::{RootKind, tag};

use crate::client::View;
use crate::{complaint, fixture, memtrail};

/// A snapshot of a list that a module holds; of each cell an element is some earlier one.
fn snapshot(number: u64, cells: usize) -> Vec<u8> {
    let mut heap = Heap::new();
    heap.facts.number = number;
    heap.facts.taken_at = number * 1_000_000_000;
    heap.facts.program = b"server".to_vec();
    let mut list = vec![heap.block(tag::DOUBLE, &[Value::Raw(0)])];
    let mut random = number;
    for cell in 1..=cells {
        // Knuth's generator: pointers that do not compress.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let element = list[(random >> 33) as usize % cell];
        list.push(heap.block(0, &[Value::Block(element), Value::Block(list[cell - 1])]));
    }
    let list = Value::Block(list[cells]);
    let unit = heap.labels.add(None, RootKind::Global, LabelRole::Unit, b"Feed", b"", 0);
    heap.root_at(unit, list, Strength::Strong, None);
    heap.bytes()
}

/// A recording with three of them.
fn recording(folder: &Path) -> PathBuf {
    let recording = folder.join("server-1.memtrail");
    fs::create_dir(&recording).expect("a folder");
    fs::copy(fixture("cache-v2.ctf"), recording.join("trace.ctf")).expect("copied");
    for number in 1..=3 {
        let file = recording.join(format!("000{number}.heap"));
        fs::write(file, snapshot(number, number as usize * 100)).expect("written");
    }
    recording
}

/// The answer to a query, when what it needs is analysed.
fn query(view: &View, query: &str) -> ResponseBody {
    for _ in 0..600 {
        let response = view.request("POST", "api/query", query);
        let answer = ResponseBody::decode(&response.body).expect("an answer");
        match response.status {
            202 => assert!(answer.header().contains_key("analysing")),
            200 => return answer,
            status => panic!("{status}: {:?}", answer.header()),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not analysed for half a minute: {query}");
}

#[test]
fn a_recording_is_shown_with_its_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path());
    let view = View::start([&recording]);
    let about = view.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"][0]["snapshots"], 3);
    let roots = query(&view, r#"{"query":"heaproots"}"#);
    assert_eq!(roots.header()["rows"][0]["name"], "Feed");
    assert_eq!(roots.header()["rows"][0]["retained"], (300 * 3 + 2) * 8);
    // The page asks again when it hears that more is analysed.
    let mut ready = 0;
    while ready < 3 {
        std::thread::sleep(Duration::from_millis(20));
        ready = query(&view, r#"{"query":"evolution"}"#).header()["ready"].as_u64().unwrap();
    }
    let growth = query(&view, r#"{"query":"heapgrowth"}"#);
    assert_eq!(growth.header()["rows"][0]["name"], "Feed");
    // What was found is left beside the snapshots, for the next time.
    for file in ["0001.heap.summary", "0003.heap.index"] {
        assert!(recording.join(file).exists(), "{file}");
    }
    assert!(!recording.join("0001.heap.index").exists(), "nobody has looked into that one");
    assert_eq!(view.interrupt().status.code(), Some(0));
    let view = View::start([&recording]);
    let evolution = view.query(r#"{"query":"evolution"}"#);
    assert_eq!(evolution.header()["ready"], 3, "at once");
}

#[test]
fn analysing_is_told_to_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let view = View::start([recording(folder.path())]);
    let (version, _) = view.events(None);
    query(&view, r#"{"query":"heapstack","snapshot":2}"#);
    // It is analysed before the page hears of it.
    let started = Instant::now();
    let events = loop {
        let (_, events) = view.events(Some(version));
        if !events.is_empty() || started.elapsed() > Duration::from_secs(60) {
            break events;
        }
    };
    let analysed = serde_json::json!({
        "kind": "analysed", "number": 2, "of": 3, "ready": 1, "rec": 0,
    });
    assert_eq!(events, [analysed]);
}

#[test]
fn a_snapshot_alone_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("0007.heap");
    fs::write(&file, snapshot(7, 10)).unwrap();
    let view = View::start([&file]);
    let about = view.query(r#"{"query":"about"}"#);
    let told = &about.header()["recordings"][0];
    assert_eq!(told["trace"], false);
    assert_eq!(told["program"], "server");
    assert_eq!(told["snapshots"], 1);
    let list = query(&view, r#"{"query":"snapshots"}"#);
    assert_eq!(list.header()["snapshots"][0]["number"], 7);
    query(&view, r#"{"query":"heaptreemap"}"#);
}

#[test]
fn a_program_that_does_not_run_is_not_asked_for_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let view = View::start([recording(folder.path())]);
    let response = view.request("POST", "api/snapshot", r#"{"rec":0}"#);
    let told: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(response.status, 400);
    assert_eq!(told["error"]["message"], "the program does not run any more");
    assert_eq!(view.request("POST", "api/snapshot", r#"{"rec":5}"#).status, 404);
    assert_eq!(view.request("POST", "api/snapshot", "nonsense").status, 400);
}

/// The snapshots in a page: their facts, and whether they are there.
fn in_page(page: &str) -> Vec<(serde_json::Value, bool)> {
    let elements = page.split(r#"<script type="application/x-memtrail-snapshot""#).skip(1);
    elements
        .map(|element| {
            let (head, rest) = element.split_once('>').unwrap();
            let facts = head.split("data-snapshot=\"").nth(1).unwrap().trim_end_matches('"');
            let facts = facts
                .replace("&quot;", "\"")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&#39;", "'");
            let facts = serde_json::from_str(&facts.replace("&amp;", "&")).unwrap();
            (facts, !rest.starts_with("</script>"))
        })
        .collect()
}

#[test]
fn snapshots_are_in_the_page_that_opens_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path()).display().to_string();
    let file = folder.path().join("x.html").display().to_string();
    let output = memtrail(["html", "-o", &file, &recording]);
    let (code, said) = complaint(&output);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("snapshots"), "{said}");
    let page = fs::read_to_string(&file).unwrap();
    let there = in_page(&page);
    assert_eq!(there.len(), 3);
    for (number, (facts, is_included)) in (1..).zip(&there) {
        assert_eq!((&facts["number"], *is_included), (&serde_json::json!(number), true));
        assert!(facts["summary"]["bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn of_snapshots_that_have_no_room_the_newest_stay() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("server-1.memtrail");
    fs::create_dir(&recording).unwrap();
    fs::copy(fixture("cache-v2.ctf"), recording.join("trace.ctf")).unwrap();
    for number in 1..=4 {
        fs::write(recording.join(format!("000{number}.heap")), snapshot(number, 60_000)).unwrap();
    }
    let size = fs::metadata(recording.join("0001.heap")).unwrap().len();
    let recording = recording.display().to_string();
    let file = folder.path().join("x.html").display().to_string();
    let whole = memtrail(["html", "-o", &file, "--max-size", "500M", "--json", &recording]);
    let told: serde_json::Value = serde_json::from_slice(&whole.stdout).unwrap();
    let snapshots = &told["recordings"][0]["snapshots"];
    assert_eq!(snapshots["included"], serde_json::json!([1, 2, 3, 4]));
    let all = fs::metadata(&file).unwrap().len();
    let limit = (all - size / 2).to_string();
    let less = memtrail(["html", "-o", &file, "--max-size", &limit, &recording]);
    let (code, said) = complaint(&less);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 of 4 heap snapshots are left out"), "{said}");
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.len() as u64 <= all - size / 2, "{} of {limit}", page.len());
    let included: Vec<bool> = in_page(&page).into_iter().map(|(_, is_there)| is_there).collect();
    assert_eq!(included, [false, true, true, true]);
}

/// A recording with one large snapshot had a page without leaks.
#[test]
fn leaks_and_owners_of_a_last_snapshot_without_room_are_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("server-1.memtrail");
    fs::create_dir(&recording).unwrap();
    fs::copy(fixture("cache-v2.ctf"), recording.join("trace.ctf")).unwrap();
    fs::write(recording.join("0001.heap"), snapshot(1, 200_000)).unwrap();
    let recording = recording.display().to_string();
    let file = folder.path().join("x.html").display().to_string();
    let refused = memtrail(["html", "-o", &file, "--max-size", "10K", &recording]);
    let (_, said) = complaint(&refused);
    let bare: u64 = said
        .split("the page alone has ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let limit = bare + 200_000;
    let output = memtrail(["html", "-o", &file, "--max-size", &limit.to_string(), &recording]);
    let (code, said) = complaint(&output);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("1 of 1 heap snapshots are left out; of the last one, leaks and owners are"),
        "{said}"
    );
    assert!(said.contains("--max-size ") && said.contains(" includes all"), "{said}");
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.len() as u64 <= limit, "{} of {limit}", page.len());
    for query in ["heapleaks", "heapowners"] {
        let start = format!(r#"data-recording="0" data-snapshot="1" data-query="{query}">"#);
        let text = page.split(&start).nth(1).unwrap().split('<').next().unwrap();
        let zipped =
            base64::prelude::Engine::decode(&base64::prelude::BASE64_STANDARD, text).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&zipped[..]), &mut bytes)
            .unwrap();
        let answer = ResponseBody::decode(&bytes).unwrap();
        if query == "heapowners" {
            assert!(answer.header()["rows"][0]["name"].as_str().unwrap().contains("Feed"));
        } else {
            assert!(answer.header().contains_key("conclusion"));
        }
    }
}

/// All the room once went to the recording that was made later.
#[test]
fn before_and_after_have_as_many_snapshots_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut recordings = Vec::new();
    for (place, name) in ["before.memtrail", "after.memtrail"].into_iter().enumerate() {
        let recording = folder.path().join(name);
        fs::create_dir(&recording).unwrap();
        fs::copy(fixture("cache-v2.ctf"), recording.join("trace.ctf")).unwrap();
        for number in 1..=3 {
            // Those of the second are later than all of the first.
            let bytes = snapshot(number + 3 * place as u64, 60_000);
            fs::write(recording.join(format!("000{number}.heap")), bytes).unwrap();
        }
        recordings.push(recording.display().to_string());
    }
    let size = fs::metadata(folder.path().join("after.memtrail/0001.heap")).unwrap().len();
    let file = folder.path().join("x.html").display().to_string();
    let html = |limit: &str| {
        let [before, after] = &recordings[..] else { unreachable!() };
        let output = memtrail(["html", "-o", &file, "--max-size", limit, "--json", before, after]);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |place: usize| told["recordings"][place]["snapshots"]["included"].clone();
        (told["bytes"].as_u64().unwrap(), [of(0), of(1)])
    };
    let (all, whole) = html("500M");
    assert_eq!(whole, [serde_json::json!([1, 2, 3]), serde_json::json!([1, 2, 3])]);
    // Room for some of the six.
    let (_, some) = html(&(all - size * 4 / 3 * 3 / 2).to_string());
    let [before, after] = some.map(|numbers| numbers.as_array().unwrap().len());
    assert!(before > 0 && before + after < 6 && before.abs_diff(after) <= 1, "{before}, {after}");
}

/// Looking at what is gone of a mapped file ends a process: the viewer with all its recordings.
#[test]
fn a_snapshot_or_index_that_is_cut_short_while_it_is_open_is_analysed_anew() {
    const BLOCK: &str = r#"{"query":"heapblock","block":19990}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("0001.heap");
    let index = folder.path().join("0001.heap.index");
    let cut = |file: &Path, by: u64| {
        let file = fs::OpenOptions::new().write(true).open(file).expect("opened");
        let length = file.metadata().expect("its length").len();
        assert!(length / by > 8192, "pages of it are gone");
        file.set_len(length / by).expect("cut");
    };
    fs::write(&file, snapshot(1, 20_000)).expect("written");
    drop({
        let view = View::start([&file]);
        query(&view, BLOCK);
        view
    });
    // This one opens the index.
    let view = View::start([&file]);
    let whole = query(&view, BLOCK);
    cut(&index, 2);
    let again = query(&view, BLOCK);
    assert_eq!(again.header(), whole.header());
    assert!(!again.header().contains_key("partial"));
    cut(&file, 2);
    let part = query(&view, r#"{"query":"heaphistogram"}"#);
    assert!(part.header().contains_key("partial"), "{:?}", part.header());
}
