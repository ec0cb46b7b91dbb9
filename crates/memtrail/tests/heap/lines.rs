//! Where functions of closures are in the source, with debuggers' tables and without:
//! `tests/programs/function_lines.ml`.

use std::collections::BTreeMap;
use std::fs;

use memtrail_heap::read::{Function, Snapshot};
use memtrail_heap::redact::file_name;
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{Program, build, strip};
use memtrail_test_support::running::{Case, Recorded};
use memtrail_test_support::{on_each, on_each_build};

use crate::{answer, last_snapshot};

pub(crate) fn record(program: &Program) -> Recorded {
    Case::new(program, &[]).options(&["--snapshot", "exit"]).same()
}

/// The functions of a recording's closures by symbol, those of the libraries included.
pub(crate) fn functions(recorded: &Recorded) -> BTreeMap<String, Function> {
    let bytes = fs::read(last_snapshot(&recorded.recording)).unwrap();
    let functions = Snapshot::read(&bytes).unwrap().functions.into_iter();
    functions.map(|one| (String::from_utf8_lossy(&one.symbol).into_owned(), one)).collect()
}

// A function without a frame descriptor had no line in a stripped program. Debuggers' tables have it.
on_each_build!(functions_without_descriptors_are_between_their_neighbours, |compiler| {
    let program = build(&named(compiler), "function_lines");
    let exact = functions(&record(&program));
    let stripped = functions(&record(&strip(&program)));
    let mut own = 0;
    for (symbol, function) in &stripped {
        let Some(between) = function.between else { continue };
        assert_eq!(function.line, 0, "{function:?}");
        let known = exact.get(symbol).unwrap_or_else(|| panic!("{symbol}"));
        if !known.is_start {
            // Debian's library has no tables.
            continue;
        }
        let holds =
            between.first <= known.line && between.last.is_none_or(|last| known.line <= last);
        assert!(holds, "{symbol}: {between} and {}", known.line);
        assert_eq!(file_name(&function.file), file_name(&known.file), "{symbol}");
        own += usize::from(symbol.contains("Function_lines"));
    }
    assert!(own >= 3, "{own} of {:#?}", stripped.keys());
    let unplaced = stripped.iter().filter(|(symbol, one)| {
        let is_named = !symbol.contains("fun") && !symbol.contains("_init");
        symbol.contains("Function_lines") && is_named && one.line == 0 && one.between.is_none()
    });
    let unplaced: Vec<_> = unplaced.map(|(symbol, _)| symbol).collect();
    assert!(compiler.contains("flambda") || unplaced.is_empty(), "{unplaced:?}");
});

// Its name was that of the loop, `Function_lines.has_loop.loop`.
on_each_build!(functions_are_not_called_as_what_is_inlined_into_them, |compiler| {
    let program = strip(&build(&named(compiler), "function_lines"));
    let functions = functions(&record(&program));
    let of = |name: &str| functions.values().filter(|one| one.name == name.as_bytes()).count();
    assert_eq!(of("Function_lines.has_loop"), 1, "{functions:#?}");
    assert_eq!(of("Function_lines.has_loop.loop"), 0, "{functions:#?}");
});

// Views have the lines, and how they are known.
on_each!(histograms_tell_how_the_lines_of_functions_are_known, |compiler| {
    let recorded = record(&strip(&build(&named(compiler), "function_lines")));
    let histogram = answer("histogram", &recorded.recording, &["--limit", "0"]);
    let rows = histogram["rows"].as_array().unwrap();
    let row = |name: &str| {
        let starts = |row: &&serde_json::Value| row["kind"].as_str().unwrap().starts_with(name);
        rows.iter().find(starts).unwrap_or_else(|| panic!("{name}: {rows:#?}"))
    };
    let between = row("closure Function_lines.between ");
    let function = &between["function"];
    assert_eq!(function["derivation"], "neighbours", "{between}");
    let (first, last) =
        (function["line"].as_u64().unwrap(), function["last_line"].as_u64().unwrap());
    assert!((1..=18).contains(&first) && (18..=30).contains(&last), "{between}");
    let name = format!("closure Function_lines.between function_lines.ml:{first}-{last}");
    assert_eq!(between["kind"].as_str(), Some(name.as_str()));
    let calls = row("closure Function_lines.Shapes.calls ");
    assert_eq!(calls["function"]["derivation"], "first call", "{calls}");
    assert_eq!(calls["function"]["line"], 30, "{calls}");
});
