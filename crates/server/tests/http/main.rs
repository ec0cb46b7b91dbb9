//! The server as browsers, and others, talk to it: over real connections, byte by byte.
#![forbid(unsafe_code)]

mod client;
mod guarded;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use memtrail_engine::{
    ApiError, Description, Engine, Grown, InMemory, RecordingId, ResponseBody, Setting,
    SnapshotFacts, SnapshotFile,
};
use memtrail_server::{Error, Options, RecordingEvents, Server, SnapshotTrigger};
use serde_json::json;

use crate::client::{Fixture, TRACE};

const ABOUT: &str = r#"{"query":"about"}"#;
const HEAP: &str = r#"{"query":"heapstack"}"#;

#[test]
fn the_page_and_its_files_are_behind_the_token() {
    let fixture = Fixture::new();
    let root = fixture.root();
    assert_eq!(root.len(), 34);
    for (file, media_type) in [
        ("", "text/html; charset=utf-8"),
        ("viewer.js", "text/javascript; charset=utf-8"),
        ("viewer.css", "text/css; charset=utf-8"),
    ] {
        let response = fixture.get(&format!("{root}{file}"));
        assert_eq!(response.status, 200, "{file}");
        assert_eq!(response.header("content-type"), Some(media_type));
        assert!(!response.body.is_empty());
    }
    let redirect = fixture.get(root.trim_end_matches('/'));
    assert_eq!((redirect.status, redirect.header("location")), (308, Some(root.as_str())));
}

#[test]
fn without_the_token_there_is_nothing() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let other = format!("/{}/", "0".repeat(32));
    let short = format!("{}/", &root[..32]);
    let unknown = fixture.get(&format!("{root}nothing"));
    for path in ["/", "/viewer.js", "/api/query", "/api/events", "//", &other, &short] {
        let response = fixture.get(path);
        assert_eq!(response.status, 404, "{path}");
        assert_eq!(response.body, unknown.body, "{path}: one cannot tell what was wrong");
    }
    let response = fixture.request(&format!("POST {other}api/query"), &[&fixture.host()], ABOUT);
    assert_eq!(response.status, 404);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let page = format!("GET {root}");
    let host = fixture.host();
    for headers in [
        vec!["Host: evil.example"],
        vec!["Host: 127.0.0.1.evil.example:8080"],
        vec!["Host: 10.0.0.1:8080"],
        vec![host.as_str(), "Origin: http://evil.example"],
        vec![host.as_str(), "Origin: null"],
        vec![host.as_str(), "Origin: http://127.0.0.1:1"],
        vec![host.as_str(), "Sec-Fetch-Site: cross-site"],
        vec![host.as_str(), "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"],
    ] {
        let response = fixture.request(&page, &headers, "");
        assert_eq!(response.status, 403, "{headers:?}");
        assert!(!response.text().contains("<html"), "{headers:?}");
    }
    // A link to the page in someone's chat, and a forwarded port.
    for headers in [
        vec![host.as_str(), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
        vec!["Host: localhost:9999", "Origin: http://localhost:9999"],
    ] {
        assert_eq!(fixture.request(&page, &headers, "").status, 200, "{headers:?}");
    }
}

#[test]
fn browsers_are_told_what_to_refuse_on_every_answer() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let foreign = fixture.request(&format!("GET {root}"), &["Host: evil.example"], "");
    for response in [fixture.get(&root), fixture.get("/"), foreign, fixture.query(ABOUT)] {
        let policy = response.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.split("; ").any(|p| p == part), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(response.header(name), Some(value), "{}", response.status);
        }
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
}

#[test]
fn queries_are_answered() {
    let fixture = Fixture::new();
    let response = fixture.query(ABOUT);
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/octet-stream"));
    let answer = ResponseBody::decode(&response.body).unwrap();
    assert_eq!(answer.header()["recordings"][0]["name"], "cache");
}

#[test]
fn wrong_queries_get_errors_in_the_form_of_answers() {
    let fixture = Fixture::new();
    for query in ["", "{", r#"{"query":"nothing"}"#, "[[[[", r#"{"query":"about","x":1}"#] {
        let response = fixture.query(query);
        assert_eq!(response.status, 400, "{query}");
        let answer = ResponseBody::decode(&response.body).unwrap();
        assert!(answer.header()["error"]["message"].is_string(), "{query}");
    }
    let get = fixture.get(&format!("{}api/query", fixture.root()));
    assert_eq!(get.status, 405);
}

#[test]
fn long_queries_are_refused_unread() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let host = fixture.host();
    // The length alone decides: nothing of the body is ever sent.
    let mut stream = fixture.send(&format!(
        "POST {root}api/query HTTP/1.1\r\n{host}\r\nContent-Length: 262145\r\n\r\n"
    ));
    let mut line = String::new();
    BufReader::new(&mut stream).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 413 "), "{line}");
}

#[test]
fn news_reach_the_page() {
    let fixture = Fixture::new();
    let rec = RecordingId(0);
    let hear = |query: &str| {
        let response = fixture.get(&format!("{}api/events{query}", fixture.root()));
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        let answer: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        (answer["version"].as_u64().unwrap(), answer["events"].clone())
    };
    fixture.recording_events.grown(rec, Grown { events: 10, end: 1.5 });
    let (version, events) = hear("");
    assert_eq!(events, json!([{ "kind": "grown", "rec": 0, "events": 10, "end": 1.5 }]));
    assert_eq!(hear(&format!("?since={version}")), (version, json!([])));
    fixture.recording_events.grown(rec, Grown { events: 11, end: 2.0 });
    fixture.recording_events.ended(rec, Some("killed by signal 9".into()));
    let (_, events) = hear(&format!("?since={version}"));
    let grown = json!({ "kind": "grown", "rec": 0, "events": 11, "end": 2.0 });
    let ended = json!({ "kind": "ended", "rec": 0, "outcome": "killed by signal 9" });
    assert_eq!(events, json!([grown, ended]));
    assert_eq!(hear("?since=nonsense"), hear(""));
}

/// A browser has six connections for an origin: if pages held one each, the seventh would wait.
#[test]
fn pages_that_listen_hold_no_connection() {
    let fixture = Fixture::new();
    let (root, host) = (fixture.root(), fixture.host());
    let request = format!("GET {root}api/events HTTP/1.1\r\n{host}\r\n\r\n");
    let mut stream = BufReader::new(fixture.send(&request));
    // On the same connection, one answer after the other.
    for _ in 0..8 {
        let mut length = 0;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        assert_eq!(body, br#"{"events":[],"version":0}"#);
        stream.get_mut().write_all(request.as_bytes()).unwrap();
    }
}

/// Answers yes to the first recording.
#[derive(Debug, Default)]
struct Asked(std::sync::Mutex<Vec<RecordingId>>);

impl SnapshotTrigger for Asked {
    fn take(&self, recording: RecordingId) -> Result<(), ApiError> {
        self.0.lock().unwrap().push(recording);
        Ok(())
    }
}

#[test]
fn the_page_asks_a_running_program_for_a_snapshot() {
    let engine = Engine::new(Setting { live: true, offline: false });
    let state = memtrail_engine::describe::State::Growing;
    let running = Description { state, can_snapshot: true, ..Description::default() };
    engine.add_growing(running.clone(), None);
    engine.add_growing(Description { can_snapshot: false, ..running }, None);
    let asked = Arc::new(Asked::default());
    let trigger = Arc::clone(&asked) as Arc<dyn SnapshotTrigger>;
    let options = Options { port: Some(0), trigger: Some(trigger), ..Options::default() };
    let recording_events = RecordingEvents::default();
    let server = Server::start(Arc::new(engine), recording_events.clone(), &options).unwrap();
    let fixture = Fixture { server, recording_events };
    let take = |root: &str, origin: &str, rec: &str| {
        let path = format!("POST {root}api/snapshot");
        fixture.request(&path, &[&fixture.host(), &format!("Origin: {origin}")], rec)
    };
    let (root, own) = (fixture.root(), format!("http://{}", fixture.server.address()));
    let taken = take(&root, &own, r#"{"rec":0}"#);
    assert_eq!((taken.status, taken.text().as_str()), (200, r#"{"asked":true}"#));
    let refused = take(&root, &own, r#"{"rec":1}"#);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("was started with --snapshot off"), "{}", refused.text());
    assert_eq!(take(&root, &own, r#"{"rec":2}"#).status, 404);
    assert_eq!(take(&root, &own, "{}").status, 400);
    assert_eq!(take("/", &own, r#"{"rec":0}"#).status, 404);
    assert_ne!(take(&root, "http://evil.example", r#"{"rec":0}"#).status, 200);
    assert_eq!(*asked.0.lock().unwrap(), [RecordingId(0)]);
}

#[test]
fn who_asks_of_what_is_being_analysed_does_not_keep_others_from_asking() {
    let engine = Arc::new(Engine::new(Setting { live: true, offline: false }));
    let id = engine.add(TRACE, Description::default(), &mut |_| {}).unwrap();
    let file: Arc<dyn SnapshotFile> = Arc::new(InMemory((*b"no snapshot").into()));
    engine.add_snapshot(id, SnapshotFacts { number: 1, ..SnapshotFacts::default() }, Some(file));
    let (recording_events, options) =
        (RecordingEvents::default(), Options { port: Some(0), ..Options::default() });
    let server = Server::start(Arc::clone(&engine), recording_events.clone(), &options).unwrap();
    let fixture = Fixture { server, recording_events };
    std::thread::scope(|scope| {
        // More than are worked on at a time, and nobody analyses anything.
        let waiting: Vec<_> = (0..20).map(|_| scope.spawn(|| fixture.query(HEAP))).collect();
        assert_eq!(fixture.query(ABOUT).status, 200);
        for waiting in waiting {
            let response = waiting.join().unwrap();
            assert_eq!(response.status, 202);
            let answer = ResponseBody::decode(&response.body).unwrap();
            assert_eq!(answer.header()["analysing"]["snapshot"], 1);
        }
        // Now somebody does.
        let (id, done) = engine.work().unwrap();
        fixture.recording_events.analysed(id, done);
    });
    assert_eq!(fixture.query(HEAP).status, 400);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let fixture = Fixture::new();
    let port = fixture.server.address().port();
    let options = Options { port: Some(port), ..Options::default() };
    let engine = Arc::new(Engine::new(Setting::default()));
    let error = Server::start(engine, RecordingEvents::default(), &options).unwrap_err();
    assert!(matches!(error, Error::Listen { .. }), "{error}");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
}

#[test]
fn elsewhere_than_on_loopback_the_token_is_asked_for_all_the_same() {
    let engine = Arc::new(Engine::new(Setting::default()));
    let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let options = Options { address, port: Some(0), names: vec!["devbox".into()], trigger: None };
    let server = Server::start(engine, RecordingEvents::default(), &options).unwrap();
    let port = server.address().port();
    assert!(server.url().starts_with(&format!("http://127.0.0.1:{port}/")), "{}", server.url());
    let fixture = Fixture { server, recording_events: RecordingEvents::default() };
    let root = fixture.root_of(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    for (path, host, status) in [
        (root.as_str(), "10.1.2.3:80", 200),
        (root.as_str(), "devbox:80", 200),
        (root.as_str(), "evil.example", 403),
        ("/", "10.1.2.3:80", 404),
    ] {
        let response = fixture.request(&format!("GET {path}"), &[&format!("Host: {host}")], "");
        assert_eq!(response.status, status, "{path} {host}");
    }
}
