//! What cannot be shown is said before anything is served or written.

use std::fs;

use crate::{complaint, fixture, memtrail};

#[test]
fn files_that_are_no_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("empty.ctf"), "").unwrap();
    fs::write(path("text.ctf"), "this is no trace, whatever its name").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let html = path("out.html");
    for name in ["missing.ctf", "empty.ctf", "text.ctf", "folder"] {
        let file = path(name);
        for command in [
            vec!["view", "--no-open", &file],
            vec!["html", "-o", &html, &file],
            vec!["export", "--format", "folded", &file],
        ] {
            let output = memtrail(&command);
            let (code, said) = complaint(&output);
            assert_eq!(code, Some(3), "{command:?}: {said}");
            assert!(said.starts_with("memtrail: ") && said.contains(name), "{said}");
            assert!(said.contains("\nhint: "), "{said}");
            assert!(output.stdout.is_empty(), "{command:?}");
        }
    }
    assert!(!fs::exists(html).unwrap(), "a page of nothing");
}

#[test]
fn filters_that_are_none() {
    let trace = fixture("cache-v2.ctf").display().to_string();
    for command in [&["view", "--no-open"][..], &["html"], &["export", "--json"]] {
        for (filter, named) in
            [("nothing:1", "nothing:1"), ("size:4X", "size:4X"), ("in:/(/", "in:/(/")]
        {
            let output = memtrail(
                command.iter().chain(&["--filter", "live:end", "--filter", filter, &trace]),
            );
            let (code, said) = complaint(&output);
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains(named) && said.contains("\nhint: "), "{said}");
        }
    }
}

#[test]
fn a_port_that_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let (code, said) = complaint(&memtrail(["view", "--no-open", "--port", &port, &trace]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("127.0.0.1:{port}")) && said.contains("hint: "), "{said}");
}

#[test]
fn an_address_of_nobody() {
    let trace = fixture("cache-v2.ctf").display().to_string();
    let (code, said) =
        complaint(&memtrail(["view", "--no-open", "--listen", "no such name", &trace]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no such name"), "{said}");
}

#[test]
fn the_pages_options_without_a_page() {
    let (code, said) = complaint(&memtrail(["run", "--no-open", "--", "true"]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--view"), "{said}");
}
