//! Phrases in running text, also where a line ends inside one.

use std::path::Path;

use regex::Regex;

use super::terms::Phrase;

/// Phrases with their patterns, ready to be searched.
pub(super) fn compiled(phrases: &'static [Phrase]) -> Vec<(Regex, &'static Phrase)> {
    let pattern = |phrase: &Phrase| Regex::new(&format!("(?i){}", phrase.pattern));
    phrases.iter().map(|phrase| (pattern(phrase).expect(phrase.pattern), phrase)).collect()
}

/// Every place where a phrase is, as `file:line: …`.
pub(super) fn wrong(file: &Path, text: &str, phrases: &[(Regex, &Phrase)]) -> Vec<String> {
    let (text, lines) = joined(text);
    let mut found = Vec::new();
    for (pattern, phrase) in phrases {
        for hit in pattern.find_iter(&text) {
            let around = around(&text, hit.start(), hit.end());
            if phrase.allowed.iter().any(|(allowed, _)| around.contains(allowed)) {
                continue;
            }
            let line = lines.partition_point(|(start, _)| *start <= hit.start());
            let line = lines[line.saturating_sub(1)].1;
            let (hit, new) = (hit.as_str(), phrase.new);
            found.push(format!("{}:{line}: not \"{hit}\", but {new}", file.display()));
        }
    }
    found
}

/// All lines as one, without what begins comments, and where each begins.
fn joined(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut all, mut lines) = (String::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        lines.push((all.len(), number));
        let line = line.trim().trim_start_matches("//").trim_start_matches(['/', '!', '*']);
        all.push_str(line.trim());
        all.push(' ');
    }
    (all, lines)
}

/// A hit with so much of the text before and behind that a sentence about it can be recognised.
fn around(text: &str, start: usize, end: usize) -> &str {
    let from = (0..=start.saturating_sub(60)).rev().find(|at| text.is_char_boundary(*at));
    let to = (end + 60..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or(0)..to.unwrap_or(text.len())]
}

#[test]
fn phrases_are_found_across_lines() {
    const PHRASES: &[Phrase] =
        &[Phrase { pattern: r"\bheap down\b", new: "\"snapshot\"", allowed: &[] }];
    let text = "//! One.\n/// Writes the heap\n/// down.\nfn f() {}\n";
    let found = wrong(Path::new("a.rs"), text, &compiled(PHRASES));
    assert_eq!(found, ["a.rs:2: not \"heap down\", but \"snapshot\""]);
}
