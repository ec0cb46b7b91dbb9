//! The browser that is opened: a stand-in for `xdg-open` notes what it is given.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::client::View;
use crate::fixture;

/// Notes its arguments and what the file that they name says.
const XDG_OPEN: &str = r#"#!/bin/sh
echo "$@" > "$NOTES/arguments.partial"
cp "$1" "$NOTES/page"
stat -c %a "$1" "$(dirname "$1")" > "$NOTES/modes"
mv "$NOTES/arguments.partial" "$NOTES/arguments"
"#;

fn wait_for(path: &Path) -> String {
    let started = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(path) {
            return text;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_token_is_not_in_the_arguments_of_xdg_open() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("xdg-open");
    fs::write(&program, XDG_OPEN).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let runtime = folder.path().join("runtime");
    fs::create_dir(&runtime).unwrap();
    let path = format!("{}:{path}", folder.path().display());
    let (notes, runtime_text) =
        (folder.path().display().to_string(), runtime.display().to_string());
    let trace = fixture("cache-v2.ctf").display().to_string();
    let view = View::start_with(
        &[&trace, "--filter", "live:end", "--filter", "-in:~a&b"],
        &[
            ("PATH", &path),
            ("NOTES", &notes),
            ("XDG_RUNTIME_DIR", &runtime_text),
            ("DISPLAY", ":0"),
        ],
    );
    let arguments = wait_for(&folder.path().join("arguments"));
    let token = view.url.split('/').nth(3).unwrap();
    assert_eq!(token.len(), 32);
    assert!(!arguments.contains(token) && !arguments.contains("http"), "{arguments}");
    assert!(arguments.starts_with(&runtime_text), "{arguments}");
    let page = fs::read_to_string(folder.path().join("page")).unwrap();
    let target = view.url.replace('&', "&amp;");
    assert!(page.contains(&format!(r#"http-equiv="refresh" content="0; url={target}""#)), "{page}");
    assert_eq!(fs::read_to_string(folder.path().join("modes")).unwrap(), "600\n700\n");
    assert_eq!(view.interrupt().status.code(), Some(0));
    assert_eq!(fs::read_dir(&runtime).unwrap().count(), 0, "the file goes with the page");
}
