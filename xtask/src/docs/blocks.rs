//! Code blocks of a page: their language, how they are checked, and their lines.
//!
//! ````text
//! ```console                         commands after `$ `, each with its output, which is generated
//! ```console lines=1-8,12-14         only these lines of the output, and `…` for the others
//! ```console exit=4                  a command that ends with this exit code
//! ```sh norun the server is yours    not run, and the reason
//! ````

use std::ops::RangeInclusive;

/// Languages of blocks whose commands are run.
const RUN: &str = "console";
/// Marks a block that is not run; the reason follows.
const NOT_RUN: &str = "norun";

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
pub(super) struct Block<'a> {
    /// Number of the fence's line, from 1.
    pub(super) line: usize,
    pub(super) check: Check,
    /// Lines between the fences.
    pub(super) lines: Vec<&'a str>,
}

/// How a block is checked.
#[derive(Debug, PartialEq)]
pub(super) enum Check {
    /// Its commands are run, and their output is compared.
    Run(Expected),
    /// It is not run, for a reason.
    NotRun,
}

/// The output of a block's commands.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expected {
    /// Lines that are shown; all if empty.
    pub(super) shown: Vec<RangeInclusive<usize>>,
    pub(super) exit: i32,
}

/// The blocks of a page, or the line and cause of the first one that has no valid mark.
pub(super) fn read(page: &str) -> Result<Vec<Block<'_>>, String> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut is_after_blank = true;
    for (number, line) in (1..).zip(page.lines()) {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if ticks.len() >= open.len() && line.trim_end() == ticks => fence = None,
            Some(_) => blocks.last_mut().expect("it was begun").lines.push(line),
            None if ticks.len() >= 3 => {
                fence = Some(ticks);
                let check = check(&line[ticks.len()..]).map_err(|e| format!("{number}: {e}"))?;
                blocks.push(Block { line: number, check, lines: Vec::new() });
            }
            // Inside a list this is a paragraph of the list.
            None if line.starts_with("    ") && is_after_blank => {
                return Err(format!("{number}: an indented code block, which has no mark"));
            }
            None => is_after_blank = line.is_empty(),
        }
    }
    Ok(blocks)
}

fn check(info: &str) -> Result<Check, String> {
    let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
    let (mark, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    if mark == NOT_RUN {
        return if reason.is_empty() {
            Err("a block that is not run has no reason".into())
        } else {
            Ok(Check::NotRun)
        };
    }
    if language != RUN {
        return Err(format!("a block `{language}` is not run: add `{NOT_RUN}` and the reason"));
    }
    let mut expected = Expected::default();
    for option in rest.split_whitespace() {
        let wrong = || format!("unknown option `{option}` of a block");
        match option.split_once('=').ok_or_else(wrong)? {
            ("exit", code) => expected.exit = code.parse().map_err(|_| wrong())?,
            ("lines", ranges) => {
                for range in ranges.split(',') {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let number = |text: &str| text.parse().map_err(|_| wrong());
                    expected.shown.push(number(first)?..=number(last)?);
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(Check::Run(expected))
}

impl Expected {
    /// The lines of an output that the page shows, with `…` where it leaves some out.
    pub(super) fn excerpt(&self, output: &str) -> Vec<String> {
        let lines: Vec<&str> = output.lines().collect();
        if self.shown.is_empty() {
            return lines.into_iter().map(str::to_owned).collect();
        }
        let is_shown = |number: usize| self.shown.iter().any(|range| range.contains(&number));
        let mut excerpt: Vec<String> = Vec::new();
        for (number, line) in (1..).zip(lines) {
            if is_shown(number) {
                excerpt.push(line.to_owned());
            } else if excerpt.last().is_none_or(|last| last != "…") {
                excerpt.push("…".into());
            }
        }
        excerpt
    }
}

/// The commands of a block, continued lines joined.
pub(super) fn commands<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        let continues = commands.last().and_then(|last| last.last());
        if continues.is_some_and(|last: &&str| last.ends_with('\\')) {
            commands.last_mut().expect("there is one").push(line);
        } else if line.starts_with("$ ") {
            commands.push(vec![line]);
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_marks() {
        let page =
            "a\n```console lines=1-2,4 exit=3\n$ x\ny\n```\n\n```sh norun your server\nz\n```\n";
        let blocks = read(page).unwrap();
        let expected = Expected { shown: vec![1..=2, 4..=4], exit: 3 };
        assert_eq!(blocks[0].check, Check::Run(expected));
        assert_eq!(blocks[0].lines, ["$ x", "y"]);
        assert_eq!((blocks[1].line, &blocks[1].check), (7, &Check::NotRun));
    }

    #[test]
    fn blocks_without_a_valid_mark_are_refused() {
        for page in [
            "```sh\nls\n```\n",
            "```sh norun\nls\n```\n",
            "```console lines=a\n$ ls\n```\n",
            "```console quiet\n$ ls\n```\n",
            "text\n\n    ls\n",
        ] {
            assert!(read(page).is_err(), "{page}");
        }
        assert!(read("- item\n    continued\n").is_ok());
    }

    #[test]
    fn lines_that_are_left_out_become_an_ellipsis() {
        let expected = Expected { shown: vec![2..=2, 5..=5], exit: 0 };
        assert_eq!(expected.excerpt("1\n2\n3\n4\n5\n"), ["…", "2", "…", "5"]);
        assert_eq!(Expected::default().excerpt("1\n2\n"), ["1", "2"]);
    }

    #[test]
    fn commands_may_have_several_lines() {
        let lines = ["$ a \\", "    b", "out", "$ c"];
        assert_eq!(commands(&lines), [vec!["$ a \\", "    b"], vec!["$ c"]]);
    }
}
