//! What a penetration test tried and found closed: paths, headers of every answer, and
//! who may use each route.

use std::sync::{Arc, Mutex};

use memtrail_engine::{ApiError, Description, Engine, RecordingId, Setting, describe::State};
use memtrail_server::{Options, RecordingEvents, Server, SnapshotTrigger};

use crate::client::{Fixture, Response};

/// Every route, and one that is none: a path below the page's and how it is asked for.
const ROUTES: [(&str, &str, &str); 8] = [
    ("GET", "", ""),
    ("HEAD", "", ""),
    ("GET", "viewer.js", ""),
    ("GET", "viewer.css", ""),
    ("GET", "api/events", ""),
    ("POST", "api/query", r#"{"query":"about"}"#),
    ("POST", "api/snapshot", r#"{"rec":0}"#),
    ("GET", "nothing", ""),
];

#[test]
fn no_path_leads_out_of_the_page() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let token = root.trim_matches('/');
    let unknown = fixture.get(&format!("{root}nothing"));
    let authority = fixture.server.address();
    let mut paths: Vec<String> = [
        "..",
        "../",
        "../x",
        "../../etc/passwd",
        "%2e%2e",
        "%2e%2e/",
        "%2e%2e/x",
        "%2e%2e%2fetc%2fpasswd",
        ".%2e/x",
        "..%5cx",
        "..%00",
        "..;/x",
        "%252e%252e/x",
        "%c0%ae%c0%ae/x",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "%2fetc%2fpasswd",
        "./viewer.js",
        "/viewer.js",
        "viewer.js/",
        "viewer.js/..",
        "viewer.js%00",
        "viewer.js%2f..",
        "assets/../viewer.js",
        "api/../viewer.js",
        "api/query/",
        "api//query",
        "api/../../x",
        "engine.wasm.xz",
        "offline.js",
        "index.html",
        "trace.ctf",
        "recording.json",
    ]
    .iter()
    .map(|path| format!("{root}{path}"))
    .collect();
    // Nothing is normalised before the token is looked for, either.
    paths.extend(
        [
            "/..",
            "/../x",
            "/%2e%2e/x",
            "//",
            "//x",
            "///etc/passwd",
            "/etc/passwd",
            &format!("//{token}/"),
            &format!("/./{token}/"),
            &format!("/x/../{token}/"),
            &format!("/%2f{token}/"),
            &format!("/{token}%2f"),
            &format!("/{token}%00/"),
            &format!("/{}/", token.to_uppercase()),
            &format!("/x{root}"),
            &format!("//evil.example{root}"),
            &format!("http://{authority}{root}../x"),
            &format!("http://{authority}/../x"),
        ]
        .map(str::to_owned),
    );
    // A token of digits alone is the same in capitals.
    paths.retain(|path| *path != root);
    for path in &paths {
        for method in ["GET", "POST"] {
            let response = fixture.request(&format!("{method} {path}"), &[&fixture.host()], "");
            let is_file = method == "POST" && response.status == 405;
            assert!(response.status == 404 || is_file, "{method} {path}: {}", response.headers);
            assert!(is_file || response.body == unknown.body, "{method} {path}");
            assert_eq!(response.header("location"), None, "{method} {path}");
        }
    }
}

/// A request may name its host in the first line too, in place of the header.
#[test]
fn the_host_of_an_absolute_address_is_checked() {
    let fixture = Fixture::new();
    let (root, host) = (fixture.root(), fixture.host());
    let authority = fixture.server.address();
    let own = fixture.request(&format!("GET http://{authority}{root}"), &[&host], "");
    assert_eq!(own.status, 200);
    for line in [
        format!("GET http://evil.example{root}"),
        format!("GET http://evil.example:{}{root}", authority.port()),
        format!("GET http://{authority}@evil.example{root}"),
        format!("GET http://127.0.0.1:1{root}"),
        format!("GET https://{authority}{root}"),
    ] {
        let response = fixture.request(&line, &[&host], "");
        assert!([400, 403].contains(&response.status), "{line}: {}", response.headers);
        assert!(!response.text().contains("<html"), "{line}");
    }
}

/// Names and values of the headers that do not depend on what is answered.
fn policy(response: &Response) -> Vec<(String, String)> {
    let of_this_answer =
        ["content-type", "content-length", "date", "connection", "location", "allow"];
    let mut headers: Vec<_> = (response.headers.lines().skip(1))
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .filter(|(name, _)| !of_this_answer.contains(&name.as_str()))
        .collect();
    headers.sort();
    headers
}

#[test]
fn errors_and_redirects_have_the_headers_of_the_page() {
    let fixture = Fixture::new();
    let (root, host) = (fixture.root(), fixture.host());
    let page = fixture.get(&root);
    let expected = policy(&page);
    for name in [
        "cache-control",
        "content-security-policy",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
        "referrer-policy",
        "x-content-type-options",
        "x-frame-options",
    ] {
        assert_eq!(expected.iter().filter(|(known, _)| known == name).count(), 1, "{name}");
    }
    let long = format!(
        "POST {root}api/query HTTP/1.1\r\n{host}\r\nConnection: close\r\n\
         Content-Length: 262145\r\n\r\n"
    );
    let request = |line: &str, body: &str| fixture.request(line, &[&host], body);
    for (status, response) in [
        (308, fixture.get(root.trim_end_matches('/'))),
        (400, request(&format!("POST {root}api/query"), "{")),
        (400, request(&format!("POST {root}api/snapshot"), "{")),
        (403, fixture.request(&format!("GET {root}"), &["Host: evil.example"], "")),
        (403, fixture.request(&format!("GET {root}"), &[&host, "Origin: null"], "")),
        (404, fixture.get("/")),
        (404, fixture.get(&format!("{root}nothing"))),
        (404, request(&format!("POST {root}api/snapshot"), r#"{"rec":7}"#)),
        (405, fixture.get(&format!("{root}api/query"))),
        (405, request(&format!("POST {root}"), "")),
        (405, request(&format!("OPTIONS {root}api/query"), "")),
        (405, request(&format!("TRACE {root}"), "")),
        (413, fixture.exchange(&long)),
    ] {
        assert_eq!(response.status, status, "{}", response.headers);
        assert_eq!(policy(&response), expected, "{status}");
        assert_eq!(response.header("access-control-allow-origin"), None, "{status}");
    }
}

/// What the HTTP library refuses by itself has nothing in it that a browser could show.
#[test]
fn what_is_no_http_is_answered_without_content() {
    let fixture = Fixture::new();
    let root = fixture.root();
    for request in [
        "<script> / HTTP/1.1\r\n\r\n".to_owned(),
        format!("GET {root}<script> HTTP/1.1\r\n\r\n"),
        format!("GET {root} HTTP/7.7\r\n\r\n"),
        format!("GET {root} HTTP/1.1\r\nHost : x\r\n\r\n"),
    ] {
        let response = fixture.exchange(&request);
        assert!(response.status >= 400, "{request:?}: {}", response.headers);
        assert!(!response.text().contains('<'), "{request:?}: {}", response.text());
    }
}

/// Counts who gets through to it.
#[derive(Debug, Default)]
struct Counting(Mutex<usize>);

impl SnapshotTrigger for Counting {
    fn take(&self, _: RecordingId) -> Result<(), ApiError> {
        *self.0.lock().unwrap() += 1;
        Ok(())
    }
}

#[test]
fn host_and_origin_are_checked_on_every_route() {
    let engine = Engine::new(Setting { live: true, offline: false });
    let running =
        Description { state: State::Growing, can_snapshot: true, ..Description::default() };
    engine.add_growing(running, None);
    let taken = Arc::new(Counting::default());
    let trigger = Arc::clone(&taken) as Arc<dyn SnapshotTrigger>;
    let options = Options { port: Some(0), trigger: Some(trigger), ..Options::default() };
    let recording_events = RecordingEvents::default();
    let server = Server::start(Arc::new(engine), recording_events.clone(), &options).unwrap();
    let fixture = Fixture { server, recording_events };
    let (root, host) = (fixture.root(), fixture.host());
    let port = fixture.server.address().port();
    let own = format!("Origin: http://{}", fixture.server.address());
    let other_host = format!("Host: evil.example:{port}");
    let https = own.replace("http:", "https:");
    let foreign: [&[&str]; 12] = [
        &[],
        &["Host:"],
        &["Host: evil.example"],
        &[&other_host],
        &[&other_host, &own],
        &[&host, "Host: evil.example"],
        &[&host, "Origin: http://evil.example"],
        &[&host, "Origin: null"],
        &[&host, "Origin: http://127.0.0.1:1"],
        &[&host, &https],
        &[&host, &own, "Origin: http://evil.example"],
        &[&host, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
    ];
    let mut paths: Vec<_> = ROUTES
        .iter()
        .map(|(method, path, body)| (*method, format!("{root}{path}"), *body))
        .collect();
    paths.push(("GET", root.trim_end_matches('/').to_owned(), ""));
    for (method, path, body) in &paths {
        let line = format!("{method} {path}");
        for headers in foreign {
            let response = fixture.request(&line, headers, body);
            assert_eq!(response.status, 403, "{line} with {headers:?}");
            assert_eq!(response.header("location"), None, "{line} with {headers:?}");
        }
        assert_eq!(*taken.0.lock().unwrap(), 0, "{line}");
    }
    for (method, path, body) in &paths {
        let line = format!("{method} {path}");
        let response = fixture.request(&line, &[&host, &own], body);
        let expected = match path {
            path if path.ends_with("/nothing") => 404,
            path if path.ends_with('/') || path.len() > root.len() => 200,
            _ => 308,
        };
        assert_eq!(response.status, expected, "{line}: {}", response.headers);
    }
    assert_eq!(*taken.0.lock().unwrap(), 1);
}
