//! What refers to native memory, in a page that is a file. What browsers make of it, the page's own tests say.

use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use flate2::read::GzDecoder;
use memtrail_engine::leaks::UnreachableResponse;
use memtrail_engine::references::ReferencesFacts;
use memtrail_engine::{Description, Engine, Setting};
use memtrail_references::{Place, References};
use memtrail_test_support::running::{Case, Recorded};

use crate::compile;

fn recorded(program: &str) -> Recorded {
    let program = compile(program, &["-pthread"]);
    let options = ["--native", "--rate", "1", "--snapshot", "exit"];
    Case::command(&program.path, &[]).options(&options).recorded()
}

/// The page that `memtrail html` makes with these options, and what it prints.
fn html(recording: &Path, options: &[&str]) -> (String, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["html", "--json", "-o"]).arg(&file).args(options).arg(recording);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = serde_json::from_slice(&output.stdout).unwrap();
    (std::fs::read_to_string(&file).unwrap(), told)
}

/// An attribute of the element of a kind, and its bytes.
fn element(page: &str, kind: &str, attribute: &str) -> (String, Vec<u8>) {
    let begin = format!(r#"<script type="application/x-memtrail-{kind}""#);
    let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {kind}"));
    let (attributes, rest) = rest.split_once('>').unwrap();
    let (_, value) = attributes.split_once(&format!("{attribute}=\"")).unwrap();
    let value = value.split('"').next().unwrap().replace("&quot;", "\"");
    let text = rest.split("</script>").next().unwrap();
    let zipped = base64::prelude::BASE64_STANDARD.decode(text).unwrap();
    let mut bytes = Vec::new();
    if !zipped.is_empty() {
        GzDecoder::new(&*zipped).read_to_end(&mut bytes).unwrap();
    }
    (value, bytes)
}

/// What the page's engine finds of references.
fn found(page: &str) -> UnreachableResponse {
    let (description, trace) = element(page, "trace", "data-description");
    let (facts, references) = element(page, "references", "data-facts");
    let description: Description = serde_json::from_str(&description).unwrap();
    let facts: ReferencesFacts = serde_json::from_str(&facts).unwrap();
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = engine.add(&trace, description, &mut |_| {}).unwrap();
    engine.add_references(id, &references, facts).unwrap();
    engine.site_leaks(id, usize::MAX).unwrap().unwrap().unreachable.unwrap()
}

#[test]
fn a_page_has_the_references_of_its_recording() {
    let recorded = recorded("references.c");
    let (page, told) = html(&recorded.recording, &[]);
    assert_eq!(told["recordings"][0]["references_of"], 1);
    let (expected, _) = crate::json(&["leaks", "--limit", "0"], &recorded.recording);
    let found = serde_json::to_value(found(&page)).unwrap();
    assert!(found["unreachable"]["sampled"].as_u64().unwrap() > 100, "{found:#}");
    assert_eq!(found, expected["unreachable"]);
}

#[test]
fn paths_are_not_in_a_redacted_page() {
    let recorded = recorded("references.c");
    let (page, _) = html(&recorded.recording, &["--redact"]);
    let (_, bytes) = element(&page, "references", "data-facts");
    let References { modules, roots, .. } = References::read(&bytes).unwrap();
    assert!(modules.iter().all(|module| !module.contains('/')), "{modules:?}");
    let variables = roots.iter().filter_map(|root| match &root.place {
        Place::Data { variable, .. } => variable.as_ref(),
        _ => None,
    });
    let named: Vec<_> = variables.collect();
    assert!(named.iter().any(|variable| variable.name == "list"), "{named:?}");
    let positions = named.iter().filter_map(|variable| variable.position.as_ref());
    assert!(positions.clone().all(|position| !position.contains('/')), "{named:?}");
}

/// A smaller page has fewer blocks, with other numbers, and estimates the same.
#[test]
fn blocks_of_a_subsampled_trace_are_found() {
    let recorded = recorded("resident.c");
    let (page, _) = html(&recorded.recording, &[]);
    let all = found(&page).unreachable.sampled;
    let (_, trace) = element(&page, "trace", "data-description");
    let limit = (page.len() - trace.len() / 20).to_string();
    let (page, told) = html(&recorded.recording, &["--max-size", &limit]);
    assert!(told["recordings"][0]["subsampled"]["kept"].is_u64(), "{told:#}");
    let found = found(&page).unreachable;
    assert!(0 < found.sampled && found.sampled < all, "{} of {all}", found.sampled);
    let error = (found.bytes.value - 40_000.0 * 1008.0).abs();
    assert!(error < 5.0 * found.bytes.stderr + 1e5, "{error}");
}
