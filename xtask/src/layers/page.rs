//! The page's modules: files of TypeScript, and their imports of each other. Imports of types count, too.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use super::files;
use super::graph::Graph;
use crate::command::Outcome;

/// Words before the path of an import.
const BEFORE_PATHS: [&str; 3] = ["from", "import", "import("];

/// Read all modules of the page.
pub(super) fn read() -> Outcome<Graph> {
    let root = Path::new("web/src");
    let mut sources = Vec::new();
    for file in files::below(root, &["ts", "tsx"])? {
        let text = files::text(&file)?;
        sources.push((file.strip_prefix(root).unwrap_or(&file).to_path_buf(), text));
    }
    Ok(graph(&sources))
}

/// The graph of modules, given as path and text.
fn graph(sources: &[(PathBuf, String)]) -> Graph {
    let numbers: HashMap<&Path, usize> =
        sources.iter().map(|(file, _)| file.as_path()).zip(0..).collect();
    let mut edges: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (from, (file, text)) in sources.iter().enumerate() {
        let folder = file.parent().unwrap_or(Path::new(""));
        for (line, number) in text.lines().zip(1..) {
            for path in imports(line) {
                if let Some(&to) = numbers.get(joined(folder, path).as_path()) {
                    let places = edges.entry((from, to)).or_default();
                    places.push(format!("web/src/{}:{number}", file.display()));
                }
            }
        }
    }
    let names = sources.iter().map(|(file, _)| file.display().to_string());
    Graph::of(names.collect(), edges)
}

/// Paths of other modules that a line imports; an import of several lines has its path on the last.
fn imports(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split(['"', '\'']).collect();
    let imports = parts.windows(2).filter(|pair| {
        let before = pair[0].trim_end();
        pair[1].starts_with('.') && BEFORE_PATHS.iter().any(|word| before.ends_with(word))
    });
    imports.map(|pair| pair[1]).collect()
}

/// A relative path from a folder, without dots.
fn joined(folder: &Path, relative: &str) -> PathBuf {
    let mut joined = folder.to_path_buf();
    for component in Path::new(relative).components() {
        match component {
            Component::ParentDir => {
                joined.pop();
            }
            Component::Normal(name) => joined.push(name),
            _ => {}
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_imports_are_followed() {
        let files = [
            ("main.tsx", "import \"./style.css\";\nimport {\n  a,\n} from \"./a/a.ts\";\n"),
            ("a/a.ts", "import type { B } from '../b.ts';\nconst from = \"./main.tsx\";\n"),
            ("b.ts", "export * from \"./c.ts\";\nimport { signal } from \"@preact/signals\";\n"),
            ("c.ts", "export const later = () => import(\"./a/a.ts\");\nimport \"./b.ts\";\n"),
        ];
        let sources = files.map(|(file, text)| (PathBuf::from(file), text.to_owned()));
        let graph = graph(&sources);
        let names = graph.names();
        let uses: Vec<String> =
            graph.edges().map(|(from, to)| format!("{} {}", names[from], names[to])).collect();
        let expected = ["main.tsx a/a.ts", "a/a.ts b.ts", "b.ts c.ts", "c.ts a/a.ts", "c.ts b.ts"];
        assert_eq!(uses, expected);
        assert_eq!(graph.places(0, 1), ["web/src/main.tsx:4"]);
        assert!(super::super::check("", &graph).starts_with("  cycle of 3 modules: a/a.ts, b.ts"));
    }
}
