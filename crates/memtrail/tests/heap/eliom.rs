//! `examples/eliom-feed`: a page of Eliom that keeps a channel for each visit, and the same mended.

use std::path::Path;
use std::process::{Command, Stdio};

use memtrail_test_support::site::free_port;
use serde_json::Value;

use crate::answer;

/// The closure that each channel has.
const HANDLER: &str =
    "closure Eliom_comet.Stateful.run_handler.f src/lib/eliom_comet.server.ml:532";

/// Share of live memory that several kinds of roots retain jointly.
fn jointly_retained(roots: &Value) -> f64 {
    roots["jointly_retained"].as_f64().unwrap() / roots["retained"].as_f64().unwrap()
}

#[test]
fn an_eliom_page_that_keeps_a_channel_for_each_visit() {
    let out = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/eliom-feed/run");
    let output = Command::new(script)
        .arg("300")
        .env("MEMTRAIL", env!("CARGO_BIN_EXE_memtrail"))
        .env("OUT", out.path())
        .env("PORT", free_port().to_string())
        .stdin(Stdio::null())
        .output()
        .expect("the script runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}\nhint: cargo xtask setup");
    assert!(said.contains("$ memtrail heap roots --limit 8 leaking.memtrail"), "{said}");

    let [leaking, fixed] = ["leaking", "fixed"].map(|variant| {
        let recording = out.path().join(format!("{variant}.memtrail"));
        let histogram = answer("histogram", &recording, &["--limit", "0"]);
        let rows = histogram["rows"].as_array().unwrap().iter();
        let handlers = rows.filter(|row| row["kind"] == HANDLER);
        let handlers: u64 = handlers.map(|row| row["blocks"].as_u64().unwrap()).sum();
        (
            handlers,
            jointly_retained(&answer("roots", &recording, &["--retained", "--limit", "1"])),
            recording,
        )
    });
    // One visit more: the one that found the server listening.
    assert_eq!((leaking.0, fixed.0), (301, 0));
    assert!(leaking.1 > 0.4, "{:.3}", leaking.1);
    assert!(fixed.1 < 0.05, "{:.3}", fixed.1);

    // Channels are held through the table of sessions. Session numbers are random, and where they
    // collide in it a few channels may have a shorter way through their session's own closures.
    let merged = answer("path", &leaking.2, &["--kind", HANDLER, "--limit", "0"]);
    let merged = merged["paths"].as_array().unwrap();
    let blocks = |group: &serde_json::Value| group["blocks"].as_u64().unwrap();
    assert_eq!(merged.iter().map(blocks).sum::<u64>(), 301, "{merged:#?}");
    assert!(merged.len() <= 3 && blocks(&merged[0]) > 270, "{merged:#?}");
    for group in merged {
        let shape = group["shape"].to_string();
        assert!(shape.contains("Eliommod"), "{shape}");
    }
}
