//! The page of recordings that are there as a whole.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::client::View;
use crate::{complaint, fixture, truncated};

#[test]
fn a_bare_trace_is_shown_until_ctrl_c() {
    let view = View::start([fixture("cache-v2.ctf")]);
    let page = view.request("GET", "", "");
    assert_eq!(page.status, 200);
    assert!(String::from_utf8_lossy(&page.body).contains("viewer.js"));
    let about = view.query(r#"{"query":"about"}"#);
    let recording = &about.header()["recordings"][0];
    assert_eq!(recording["name"], "cache-v2.ctf");
    assert_eq!(recording["state"], "ended");
    assert_eq!(about.header()["live"], false);
    let end = view.interrupt();
    let said = "memtrail: the page is there until Ctrl-C\n";
    assert_eq!(complaint(&end), (Some(0), said.into()));
}

#[test]
fn several_recordings_have_their_order() {
    let view = View::start([fixture("cache-v2.ctf"), fixture("domains-v3.ctf")]);
    let about = view.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"][1]["name"], "domains-v3.ctf");
    assert_eq!(
        view.request("POST", "api/query", r#"{"query":"overview","rec":2,"points":9}"#).status,
        404
    );
}

#[test]
fn an_open_connection_does_not_hold_up_the_end() {
    let view = View::start([fixture("cache-v2.ctf")]);
    let (host, root) = view.parts();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {root}api/events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 15];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    assert_eq!(view.interrupt().status.code(), Some(0));
}

#[test]
fn the_address_holds_the_filter() {
    let view = View::start([
        fixture("cache-v2.ctf").into_os_string(),
        "--filter".into(),
        "live:end".into(),
        "--filter".into(),
        "-in:~a&b".into(),
    ]);
    assert!(view.url.ends_with("/#f=live:end&f=-in:~a%26b"), "{}", view.url);
    assert_eq!(view.request("GET", "", "").status, 200);
}

#[test]
fn the_address_as_json() {
    let view = View::start([fixture("cache-v2.ctf").into_os_string(), "--json".into()]);
    let told: serde_json::Value = serde_json::from_str(&view.url).unwrap();
    let (url, address) = (told["url"].as_str().unwrap(), told["address"].as_str().unwrap());
    assert!(url.starts_with(&format!("http://{address}/")), "{told}");
    let end = complaint(&view.interrupt());
    assert_eq!(end, (Some(0), String::new()));
}

#[test]
fn damaged_traces_are_shown_and_their_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let view = View::start([truncated(folder.path())]);
    let about = view.query(r#"{"query":"about"}"#);
    let damage = about.header()["recordings"][0]["damage"].as_array().unwrap().clone();
    assert!(!damage.is_empty(), "{:?}", about.header());
    let (code, said) = complaint(&view.interrupt());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("truncated.ctf is damaged"), "{said}");
}

#[test]
fn a_trace_without_samples_is_shown() {
    let view = View::start([fixture("empty-v2.ctf")]);
    let about = view.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"][0]["blocks_recorded"], 0);
}

/// It printed 127.0.0.1, which is another machine to everybody else.
#[test]
fn listening_on_all_addresses_prints_one_that_other_machines_can_use() {
    let route = std::net::UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let view = View::start([
        fixture("cache-v2.ctf").into_os_string(),
        "--listen".into(),
        "0.0.0.0".into(),
    ]);
    let (host, _) = view.parts();
    match route {
        Ok(route) => assert!(host.starts_with(&format!("{}:", route.ip())), "{host}"),
        Err(_) => assert!(host.starts_with("127.0.0.1:"), "no route: {host}"),
    }
    // The `Host` that is printed is let in.
    assert_eq!(view.request("GET", "", "").status, 200);
    let (_, said) = complaint(&view.interrupt());
    assert!(said.contains("at every address of this machine; here also at 127.0.0.1:"), "{said}");
}
