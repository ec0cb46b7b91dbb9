//! `cargo xtask layers`: cycles between the modules of a crate or of the page, and imports from a higher layer.
//!
//! A module is a file. It depends on another when a `use` item or a path in its code names something that is
//! defined there; re-exports are followed to the definition. Tests inside a file do not count.

mod cycles;
mod files;
mod graph;
mod page;
mod source;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use self::graph::Graph;
use self::source::Source;
use crate::command::{Outcome, repository};

/// The name of the page among the crates.
const PAGE: &str = "web";
/// The crate beside the others.
const XTASK: &str = "xtask";

/// The layers of a crate, lowest first. A folder of modules that is not listed may use all of them.
const LAYERS: [(&str, &[&str]); 1] = [(
    "agent",
    &[
        "os",
        "random",
        "references",
        "context",
        "recording",
        "sampling",
        "malloc",
        "snapshot",
        "api",
        "lifecycle",
        "native",
    ],
)];

/// Print what is wrong with the modules of these crates, or of all and of the page.
pub(crate) fn print(crates: &[String]) -> Outcome {
    let checked = if crates.is_empty() { all()? } else { crates.to_vec() };
    let mut wrong = 0;
    for name in checked {
        let graph = read(&name)?;
        let report = check(&name, &graph);
        println!("{name}: {} modules, {} dependencies", graph.names().len(), graph.len());
        print!("{report}");
        wrong += usize::from(!report.is_empty());
    }
    if wrong == 0 { Ok(()) } else { Err("there are cycles, or imports from a higher layer".into()) }
}

/// The names of all crates, and of the page.
fn all() -> Outcome<Vec<String>> {
    let entries = std::fs::read_dir(repository().join("crates"));
    let entries = entries.map_err(|e| format!("cannot list crates: {e}"))?;
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().join("src").is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.extend([XTASK.to_owned(), PAGE.to_owned()]);
    Ok(names)
}

/// The cycles of a crate and its imports from higher layers; empty when there are none.
fn check(name: &str, graph: &Graph) -> String {
    let mut report = String::new();
    for cycle in cycles::all(graph) {
        let modules: Vec<_> = cycle.iter().map(|&module| graph.names()[module].as_str()).collect();
        let _ = writeln!(report, "  cycle of {} modules: {}", cycle.len(), modules.join(", "));
        for (from, to) in graph.within(&cycle) {
            describe(&mut report, graph, from, to);
        }
    }
    let layers = LAYERS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, layers)| layers);
    let level = |module: usize| {
        let first = graph.names()[module].split("::").next();
        layers.iter().position(|layer| Some(*layer) == first)
    };
    for (from, to) in graph.edges() {
        if let (Some(lower), Some(higher)) = (level(from), level(to))
            && lower < higher
        {
            report.push_str("  from a higher layer:\n");
            describe(&mut report, graph, from, to);
        }
    }
    report
}

fn describe(report: &mut String, graph: &Graph, from: usize, to: usize) {
    let names = graph.names();
    let _ = writeln!(report, "    {} uses {}", names[from], names[to]);
    for place in graph.places(from, to) {
        let _ = writeln!(report, "      {place}");
    }
}

/// Parse all modules of a crate, or of the page.
fn read(name: &str) -> Outcome<Graph> {
    if name == PAGE {
        return page::read();
    }
    let folder = if name == XTASK { PathBuf::from(XTASK) } else { Path::new("crates").join(name) };
    let root = folder.join("src");
    let mut sources = Vec::new();
    for file in files::below(&root, &["rs"])? {
        let text = files::text(&file)?;
        sources.push(Source::parse(&module(&root, &file), &file.to_string_lossy(), &text)?);
    }
    Ok(Graph::new(&sources))
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`, `src/lib.rs` is the root.
fn module(root: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root).unwrap_or(file).with_extension("");
    let mut path: Vec<String> =
        inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] || path == ["main"] {
        path.pop();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of these files, as `(path, text)`.
    fn made(files: &[(&str, &str)]) -> Graph {
        let parsed = files.iter().map(|(file, text)| {
            Source::parse(&module(Path::new(""), Path::new(file)), file, text).unwrap()
        });
        Graph::new(&parsed.collect::<Vec<_>>())
    }

    fn uses(graph: &Graph) -> Vec<String> {
        let names = graph.names();
        graph.edges().map(|(from, to)| format!("{} {}", names[from], names[to])).collect()
    }

    #[test]
    fn neither_a_crate_nor_the_page_has_a_cycle_or_an_import_from_a_higher_layer() {
        let mut modules = 0;
        for name in all().unwrap() {
            let graph = read(&name).unwrap();
            modules += graph.names().len();
            assert_eq!(check(&name, &graph), "", "{name}");
        }
        assert!(modules > 1_000, "{modules} modules were read");
    }

    #[test]
    fn a_cycle_is_reported_with_its_files_and_lines() {
        let graph = made(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\n\npub struct A(B);\n"),
            ("b.rs", "pub struct B;\nfn f() {\n    crate::c::g();\n}\n"),
            ("c.rs", "pub fn g() { let _ = vec![super::a::A::new()]; }\n"),
        ]);
        let report = check("", &graph);
        assert!(report.starts_with("  cycle of 3 modules: a, b, c\n"), "{report}");
        for place in ["a uses b\n      a.rs:1\n", "b uses c\n      b.rs:3\n", "c uses a\n"] {
            assert!(report.contains(place), "{report}");
        }
    }

    #[test]
    fn re_exports_are_followed_to_the_definition() {
        let graph = made(&[
            ("lib.rs", "mod a;\nmod g;\npub use a::A;\n"),
            ("a.rs", "pub struct A;\n"),
            ("g/mod.rs", "mod x;\nmod y;\npub use self::x::*;\npub use y::Y as Z;\n"),
            ("g/x.rs", "pub struct X;\nuse crate::A;\n"),
            ("g/y.rs", "pub struct Y(super::X, crate::g::Z);\n"),
        ]);
        assert_eq!(uses(&graph), ["crate a", "g g::x", "g g::y", "g::x a", "g::y g::x"]);
        assert_eq!(check("", &graph), "");
    }

    #[test]
    fn what_a_parent_defines_makes_a_cycle_with_the_child_that_it_uses() {
        let graph = made(&[
            ("g/mod.rs", "mod x;\npub struct Shared;\npub fn all() { x::one() }\n"),
            ("g/x.rs", "use super::Shared;\npub fn one() {}\n"),
        ]);
        assert!(check("", &graph).contains("cycle of 2 modules: g, g::x"));
    }

    #[test]
    fn a_module_that_is_imported_counts_where_it_is_used() {
        let graph = made(&[
            ("g/mod.rs", "mod x;\nmod y;\npub fn own() {}\n"),
            ("g/x.rs", "pub fn one() {}\n"),
            (
                "g/y.rs",
                "use crate::g;\nuse super::x::{self, one as first};\nfn f() { g::x::one(); x::one() }\n",
            ),
        ]);
        assert_eq!(uses(&graph), ["g::y g::x"]);
    }

    #[test]
    fn tests_inside_a_file_do_not_count() {
        let graph = made(&[
            ("a.rs", "pub fn f() {}\n#[cfg(test)]\nmod tests { use crate::b::g; }\n"),
            ("b.rs", "use crate::a::f;\npub fn g() {}\n"),
        ]);
        assert_eq!(uses(&graph), ["b a"]);
    }

    #[test]
    fn imports_from_a_higher_layer_are_reported() {
        let graph = made(&[
            ("os/lock.rs", "use crate::sampling::rate;\npub fn f() { rate() }\n"),
            ("sampling.rs", "pub fn rate() {}\n"),
            ("start.rs", "use crate::sampling::rate;\nuse crate::os::lock::f;\n"),
        ]);
        let report = check("agent", &graph);
        assert!(report.contains("os::lock uses sampling\n      os/lock.rs:1"), "{report}");
        assert_eq!(report.matches("uses").count(), 1, "{report}");
    }
}
