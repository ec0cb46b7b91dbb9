//! Known leaks: suspects and unreachable blocks that are not to be listed, nor to fail a check.

use super::Place;
use super::response::{LeaksResponse, Suspect};

/// Patterns of known leaks, as a file has them: one a line, comments after `#`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownLeaks {
    patterns: Vec<Pattern>,
}

/// A pattern, and its line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    line: usize,
    text: String,
}

impl KnownLeaks {
    /// Reads a file's text. Every line that is not empty is a pattern, in which `*` stands for any text.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let patterns = (1..).zip(text.lines()).filter_map(|(line, text)| {
            // Names of functions have a `#` in them: a comment begins a line, or comes after a space.
            let comment = text.starts_with('#').then_some(0).or_else(|| text.find(" #"));
            let text = text[..comment.unwrap_or(text.len())].trim().to_owned();
            (!text.is_empty()).then_some(Pattern { line, text })
        });
        Self { patterns: patterns.collect() }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Takes known leaks out of a response, and adds to its summary how many there were and which patterns matched nothing.
    pub fn suppress(&self, leaks: &mut LeaksResponse) {
        if self.is_empty() {
            return;
        }
        let mut used = vec![false; self.patterns.len()];
        let mut is_known = |names: &[String]| {
            let mut is_known = false;
            for (pattern, used) in self.patterns.iter().zip(&mut used) {
                let matches = names.iter().any(|name| is_like(&pattern.text, name));
                *used |= matches;
                is_known |= matches;
            }
            is_known
        };
        let before = leaks.suspects.len();
        leaks.suspects.retain(|suspect| !is_known(&names(suspect)));
        let count = before - leaks.suspects.len();
        if count > 0 {
            let plural = if count == 1 { "suspect is" } else { "suspects are" };
            leaks.summary.push(format!("{count} {plural} not listed, as --suppress has them"));
        }
        let unreachable = leaks.unreachable.as_mut();
        let sites =
            unreachable.map_or(0, |found| found.forget(|site| is_known(&sites(&site.allocated))));
        if sites > 0 {
            let plural = if sites == 1 { "call site" } else { "call sites" };
            leaks.summary.push(format!(
                "blocks to which nothing refers of {sites} {plural} are not listed, as --suppress has them"
            ));
        }
        let unused = self.patterns.iter().zip(used).filter(|(_, used)| !used);
        leaks.summary.extend(unused.map(|(Pattern { line, text }, _)| {
            format!("line {line} of the file of --suppress matched nothing: {text}")
        }));
        leaks.conclude(usize::MAX);
    }
}

/// What a pattern may be like: the owner, its type, and the calls that allocated what it owns.
fn names(suspect: &Suspect) -> Vec<String> {
    let names = [Some(suspect.owner.clone()), suspect.r#type.clone()].into_iter().flatten();
    names.chain(sites(&suspect.allocated)).collect()
}

/// Functions and lines of calls.
fn sites(calls: &[Place]) -> Vec<String> {
    let names = calls.iter().flat_map(|place| {
        let line = place.file.as_ref().zip(place.line).map(|(file, line)| format!("{file}:{line}"));
        [Some(place.function.clone()), line].into_iter().flatten()
    });
    names.collect()
}

/// Whether a text is like a pattern in which `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    let mut text = text;
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("Cache.table", "Cache.table"),
            ("Cache.*", "Cache.table"),
            ("*", ""),
            ("*.table", "Cache.table"),
            ("C*t*e", "Cache.table"),
            ("*a*a*", "banana"),
        ] {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("Cache", "Cache.table"),
            ("Cache.*x", "Cache.table"),
            ("ab*ba", "aba"),
            ("a*b*c", "acb"),
        ] {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_no_patterns() {
        let known =
            KnownLeaks::parse("# all\n\nCache.table  # filled on purpose\n  Foo.bar#1 \r\n");
        let texts: Vec<_> = known.patterns.iter().map(|p| (p.line, p.text.as_str())).collect();
        assert_eq!(texts, [(3, "Cache.table"), (4, "Foo.bar#1")]);
        assert!(KnownLeaks::parse("#\n \n").is_empty());
    }
}
