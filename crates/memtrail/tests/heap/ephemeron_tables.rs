//! Tables of `Ephemeron` and `Weak`, whose types nothing declares: `tests/programs/ephemeron_tables.ml`.

use memtrail_test_support::running::Case;
use memtrail_test_support::{compilers, on_each, programs};

use crate::answer;

fn check(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "ephemeron_tables");
    let recorded = Case::new(&program, &[]).options(&["--snapshot", "exit"]).same();
    assert_eq!(recorded.seen.stdout(), "200 200 200 200 200\n");
    let histogram = answer("histogram", &recorded.recording, &["--limit", "0"]);
    let blocks = |kind: &str| {
        let row = histogram["rows"].as_array().unwrap().iter().find(|row| row["kind"] == kind);
        row.map_or(0, |row| row["blocks"].as_u64().unwrap())
    };
    for (kind, count) in [
        // That by name; the numbered one of weak arrays may be of ephemerons.
        ("~ Hashtbl.t", 1),
        ("~ Hashtbl.t (Cons)", 200),
        ("~ Ephemeron.S.t", 2),
        ("~ Ephemeron.S.t (Cons)", 400),
        ("ephemeron", 400),
    ] {
        assert_eq!(blocks(kind), count, "{kind}: {histogram:#}");
    }
    let tables = answer("containers", &recorded.recording, &["--kind", "hashtbl"]);
    assert_eq!(tables["count"], 1, "{tables:#}");
    assert_eq!(tables["rows"][0]["entries"], 200);
}
on_each!(tables_of_ephemerons_are_no_hash_tables, check);
