//! `memtrail html`: what is in the file. What browsers make of it, the page's own tests say.

use std::fs;
use std::path::Path;

use crate::{complaint, fixture, memtrail, truncated};

fn html(args: &[&str], folder: &Path) -> (String, (Option<i32>, String)) {
    let file = folder.join("leak.html").display().to_string();
    let output = memtrail(["html", "-o", &file].iter().chain(args));
    (fs::read_to_string(&file).unwrap_or_default(), complaint(&output))
}

/// Everything that a page could fetch by itself.
fn links(page: &str) -> Vec<&str> {
    let markup = page.split("<script").next().unwrap_or_default();
    let attributes = ["src=\"", "href=\"", "url("];
    attributes.iter().flat_map(|a| markup.split(a).skip(1)).collect()
}

#[test]
fn one_file_holds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let (page, (code, said)) = html(&["--filter", "live:end", &trace], folder.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("leak.html: ") && !said.contains("subsampled"), "{said}");
    for kind in ["wasm", "trace", "view"] {
        let element = format!(r#"<script type="application/x-memtrail-{kind}""#);
        assert_eq!(page.matches(&element).count(), 1, "{kind}");
    }
    assert!(page.contains(">f=live:end</script>"));
    assert!(page.contains("&quot;name&quot;:&quot;cache-v2.ctf&quot;"));
    let policy = page.split("Content-Security-Policy").nth(1).unwrap();
    assert!(policy.starts_with(r#"" content="default-src 'none'; "#), "{}", &policy[..80]);
    let links = links(&page);
    assert!(links.iter().all(|link| link.starts_with("data:")), "{links:?}");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"));
}

#[test]
fn the_same_recording_gives_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("cache-v2.ctf").display().to_string();
    assert!(html(&[&trace], folder.path()).0 == html(&[&trace], folder.path()).0);
}

#[test]
fn what_does_not_fit_is_subsampled_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("ocamlopt-upstream.ctf").display().to_string();
    let whole = html(&[&trace], folder.path()).0.len();
    let limit = whole - fs::metadata(&trace).unwrap().len() as usize / 3;
    let limit_text = limit.to_string();
    let (page, (code, said)) = html(&["--max-size", &limit_text, &trace], folder.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(page.len() <= limit, "{} of {limit}", page.len());
    assert!(said.contains("subsampled to "), "{said}");
    assert!(page.contains("&quot;subsampled&quot;:{&quot;kept&quot;:"));
}

#[test]
fn a_limit_below_the_page_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let (page, (code, said)) = html(&["--max-size", "10K", &trace], folder.path());
    assert_eq!((page.as_str(), code), ("", Some(2)), "{said}");
    assert!(said.contains("hint: the page alone has "), "{said}");
}

#[test]
fn what_was_written_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let file = folder.path().join("x.html").display().to_string();
    let output = memtrail(["html", "--json", "-o", &file, &trace]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["output"], file.as_str());
    assert_eq!(told["bytes"], fs::metadata(&file).unwrap().len());
    assert_eq!(told["recordings"][0]["subsampled"], serde_json::Value::Null);
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let trace = fixture("cache-v2.ctf").display().to_string();
    let output = memtrail(["html", "-o", "-", &trace]);
    assert_eq!(output.status.code(), Some(0));
    let (page, _) = html(&[&trace], folder.path());
    assert_eq!(String::from_utf8_lossy(&output.stdout), page);
    let (code, said) = complaint(&memtrail(["html", "--json", "-o", "-", &trace]));
    assert_eq!(code, Some(2));
    assert!(said.contains("hint: "), "{said}");
}

#[test]
fn damaged_traces_are_packed_and_their_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let trace = truncated(folder.path()).display().to_string();
    let (page, (code, said)) = html(&[&trace], folder.path());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("truncated.ctf is damaged"), "{said}");
    assert!(page.contains("x-memtrail-trace"));
}
