//! Commands and options that pages name exist, also in blocks that are not run.

use std::collections::{BTreeMap, BTreeSet};

/// Options of each command, as the command reference lists them.
pub(super) struct Options(BTreeMap<String, BTreeSet<String>>);

impl Options {
    /// Reads the command reference.
    pub(super) fn read(reference: &str) -> Self {
        let mut commands: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut command = None;
        for line in reference.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                command = Some(commands.entry(name.to_owned()).or_default());
            } else if let Some(options) = &mut command {
                // An option begins its line; its description is indented further.
                let text = line.trim_start();
                if line.len() - text.len() <= 6 && text.starts_with('-') {
                    let words = text.split([' ', ',']).take_while(|word| !word.starts_with('<'));
                    // `--native[=<WHICH>]` has an optional value.
                    let names = words.filter_map(|word| word.split(['[', '=']).next());
                    options.extend(names.filter(|name| name.starts_with('-')).map(str::to_owned));
                }
            }
        }
        Self(commands)
    }

    /// Commands and options of `memtrail` in a line that do not exist.
    pub(super) fn unknown(&self, line: &str) -> Vec<String> {
        let mut unknown = Vec::new();
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let starts =
                at == 0 || ["$", "sudo", "&&", "-", "run:", "(run"].contains(&words[at - 1]);
            if *word == "memtrail" && starts {
                unknown.extend(self.unknown_in(&words[at + 1..]));
            }
        }
        unknown
    }

    fn unknown_in(&self, words: &[&str]) -> Vec<String> {
        let mut command = "memtrail".to_owned();
        let mut unknown = Vec::new();
        let mut is_command = true;
        for word in words {
            if is_command && self.0.contains_key(&format!("{command} {word}")) {
                command = format!("{command} {word}");
                continue;
            }
            if is_command && command == "memtrail" && !word.starts_with('-') && *word != "…" {
                unknown.push(format!("{command} {word}"));
                return unknown;
            }
            is_command = false;
            // The program's own options follow, or another command.
            if ["--", "|", "&&", "#", ">", ";"].contains(word) {
                break;
            }
            let option = word.split('=').next().unwrap_or(word);
            let option = option.trim_matches(['[', ']']);
            let is_option = option.starts_with('-') && option.len() > 1;
            if is_option && !self.0[&command].contains(option) {
                unknown.push(format!("{command} {option}"));
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    const REFERENCE: &str = "## memtrail\n```text\nOptions:\n  -h, --help  Help\n```\n\
        ## memtrail run\n      --rate <RATE>\n          Text, --fast\n  -o, --output <DIR>\n\
        ## memtrail heap\n## memtrail heap roots\n      --limit <N>\n";

    #[test]
    fn what_does_not_exist_is_found() {
        let options = Options::read(REFERENCE);
        for (line, unknown) in [
            ("$ memtrail run --rate 1e-3 -o x -- ./server --fast", vec![]),
            ("memtrail run --fast -- x", vec!["memtrail run --fast"]),
            ("$ memtrail heap roots x --limit=3 | memtrail", vec![]),
            ("$ memtrail heap root x", vec![]),
            ("sudo memtrail top 1", vec!["memtrail top"]),
            ("see memtrail heap roots --retained", vec![]),
            ("$ memtrail --version", vec!["memtrail --version"]),
        ] {
            assert_eq!(options.unknown(line), unknown, "{line}");
        }
    }
}
