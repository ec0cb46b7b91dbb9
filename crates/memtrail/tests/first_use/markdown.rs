//! `--markdown` and `--redact`, for bug reports.

use super::{NAME, Stored, printed, text};

/// Cells of the rows of a table, its head and rule left out.
fn rows<'m>(page: &'m str, column: &str) -> Vec<Vec<&'m str>> {
    let lines = page.lines().skip_while(|line| !line.contains(column)).skip(2);
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn leaks_are_a_list() {
    let stored = Stored::unpack();
    let page = printed(&stored.run(&["leaks", NAME, "--markdown"]));
    assert!(page.starts_with(&format!("## Leaks in {NAME}\n\n1. **")), "{page}");
    assert!(page.contains("**Leaks.Session\\_cache.sessions keeps growing"), "{page}");
    assert!(page.contains("   - next: `memtrail "), "{page}");
    assert!(!page.contains('\u{1b}'));
}

#[test]
fn reports_are_tables() {
    let stored = Stored::unpack();
    let page = printed(&stored.run(&["report", NAME, "--markdown", "--live-at", "end"]));
    assert!(page.starts_with("## Memory of leaks\n"), "{page}");
    let places = rows(&page, "call site that allocated");
    assert!(places.len() >= 5, "{page}");
    assert!(places.iter().all(|cells| cells.len() == 6), "{places:?}");
    assert!(
        places.iter().any(|cells| cells[4].starts_with("Leaks.Session\\_cache.load leaks.ml:"))
    );
}

#[test]
fn redacted_reports_have_pseudonyms_for_the_programs_names() {
    let stored = Stored::unpack();
    let words = ["report", NAME, "--markdown", "--live-at", "end"];
    let plain = printed(&stored.run(&words));
    let redacted = printed(&stored.run(&[&words[..], &["--redact"]].concat()));
    assert!(plain.contains("leaks.ml"));
    for name in ["eaks", "Session", "Connection", "server", "4711", "/"] {
        assert!(!redacted.replace("w/ ", "").contains(name), "{name}:\n{redacted}");
    }
    assert!(redacted.contains("Stdlib."), "names of libraries stay:\n{redacted}");
    let (plain, redacted) =
        (rows(&plain, "call site that allocated"), rows(&redacted, "call site that allocated"));
    let figures =
        |rows: &[Vec<&str>]| rows.iter().map(|cells| cells[..4].join(" ")).collect::<Vec<_>>();
    assert_eq!(figures(&plain), figures(&redacted));
}

#[test]
fn redact_needs_markdown() {
    let stored = Stored::unpack();
    let output = stored.run(&["report", NAME, "--redact"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--markdown"), "{output:?}");
}
