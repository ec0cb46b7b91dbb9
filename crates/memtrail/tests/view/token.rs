//! The token is in the one line that prints the address, and nowhere else.

use std::fs;
use std::path::Path;

use crate::client::View;
use crate::{complaint, fixture};

/// Files below a folder that contain the text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else {
            let content = fs::read(&path).unwrap();
            if content.windows(text.len()).any(|bytes| bytes == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn check(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("cut.memtrail");
    fs::create_dir(&recording).unwrap();
    // Damaged, so that something is said of it.
    let whole = fs::read(fixture("cache-v2.ctf")).unwrap();
    fs::write(recording.join("trace.ctf"), &whole[..whole.len() / 2]).unwrap();
    let text = recording.display().to_string();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let args = [&["--no-open", text.as_str()], options].concat();
    let environment =
        [("TMPDIR", temporary.to_str().unwrap()), ("RUST_LOG", "trace"), ("RUST_BACKTRACE", "1")];
    let view = View::start_with(&args, &environment);
    let token = view.parts().1.trim_matches('/').to_owned();
    assert_eq!(token.len(), 32, "{}", view.url);
    for (method, path, body, status) in [
        ("GET", "", "", 200),
        ("GET", "viewer.js", "", 200),
        ("GET", "nothing", "", 404),
        ("GET", "api/events", "", 200),
        ("POST", "api/query", "{", 400),
        ("POST", "api/query", r#"{"query":"about"}"#, 200),
        ("POST", "api/snapshot", r#"{"rec":0}"#, 400),
        ("POST", "api/snapshot", r#"{"rec":9}"#, 404),
    ] {
        let response = view.request(method, path, body);
        assert_eq!(response.status, status, "{method} {path}");
        assert!(!String::from_utf8_lossy(&response.body).contains(&token), "{method} {path}");
    }
    let pid = view.pid();
    for file in ["cmdline", "environ", "comm"] {
        let text = fs::read(format!("/proc/{pid}/{file}")).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(&token), "{file}");
    }
    assert_eq!(holding(folder.path(), &token), [""; 0]);
    let printed = view.interrupt();
    let (_, said) = complaint(&printed);
    assert!(said.contains("cut.memtrail/trace.ctf is damaged"), "{said}");
    assert!(said.contains("until Ctrl-C"), "{said}");
    assert!(!said.contains(&token), "{said}");
    let printed = String::from_utf8_lossy(&printed.stdout);
    assert!(!printed.contains(&token), "after the first line: {printed}");
    assert_eq!(holding(folder.path(), &token), [""; 0]);
}

#[test]
fn the_token_is_in_the_first_line_of_output_and_in_no_file_nor_message() {
    check(&[]);
}

#[test]
fn on_all_addresses_the_token_is_in_the_first_line_only() {
    check(&["--listen", "0.0.0.0"]);
}

#[test]
fn when_the_port_is_taken_no_token_is_told() {
    let view = View::start([fixture("cache-v2.ctf")]);
    let token = view.parts().1.trim_matches('/').to_owned();
    let port = view.parts().0.rsplit(':').next().unwrap().to_owned();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let (code, said) = complaint(&crate::memtrail(["view", "--no-open", "--port", &port, &trace]));
    assert_eq!(code, Some(1));
    assert!(!said.contains(&token) && !has_token(&said), "{said}");
}

/// Whether there is anything of the form of a token.
fn has_token(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_hexdigit());
    words.into_iter().any(|word| word.len() == 32)
}
