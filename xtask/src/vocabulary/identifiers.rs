//! All identifiers of a source file, each with its line.

use proc_macro2::{TokenStream, TokenTree};

/// Identifiers of Rust, those inside macros too.
pub(super) fn of_rust(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    collect(text.parse().expect("Rust"), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(ident) => found.push((ident.span().start().line, ident.to_string())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Identifiers of TypeScript. Words of JSX text are among them; comments and strings are not, but the
/// expressions inside template literals are.
pub(super) fn of_typescript(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(first) = rest.chars().next() {
        let token = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' && is_string(rest) {
            string(rest, first)
        } else if first == '`' {
            let end = string(rest, first);
            for (before, inside) in expressions(&rest[..end]) {
                let at = line + before.matches('\n').count();
                let inner = of_typescript(inside);
                found.extend(inner.into_iter().map(|(inner, name)| (at + inner - 1, name)));
            }
            end
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            let end = end.unwrap_or(rest.len());
            found.push((line, rest[..end].to_owned()));
            end
        } else {
            first.len_utf8()
        };
        line += rest[..token].matches('\n').count();
        rest = &rest[token..];
    }
    found
}

/// An apostrophe in JSX text begins no string: a string ends on its line.
fn is_string(text: &str) -> bool {
    text[1..].split('\n').next().is_some_and(|line| line.contains('\''))
}

/// The length of a string in these quotes.
fn string(text: &str, quote: char) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The parts of a template literal inside `${}`, each with what is before it.
fn expressions(literal: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = literal[from..].find("${").map(|at| from + at + 2) {
        let end = literal[start..].find('}').map_or(literal.len(), |at| start + at);
        found.push((&literal[..start], &literal[start..end]));
        from = end;
    }
    found
}

#[test]
fn comments_and_strings_have_no_identifiers() {
    let names = |all: Vec<(usize, String)>| {
        all.into_iter().map(|(line, name)| format!("{line}{name}")).collect::<Vec<_>>()
    };
    let rust = "/// A doc.\nfn f() { g!(\"x\", y) } // z\n";
    assert_eq!(names(of_rust(rust)), ["1doc", "2fn", "2f", "2g", "2y"]);
    let typescript =
        "// a\nlet b = \"c\\\"d\"; /* e\n */ f(`g\n${h.i} j`, 'k');\n<p>don't</p>;\nlast";
    let all = ["2let", "2b", "3f", "4h", "4i", "5p", "5don", "5t", "5p", "6last"];
    assert_eq!(names(of_typescript(typescript)), all);
}
