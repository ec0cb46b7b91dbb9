//! What a check found as Markdown, for summaries of builds.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use memtrail_engine::gate::Verdict;

use super::answer::{self, Checked};
use crate::markdown::escaped;

pub(super) struct Summary<'c> {
    pub(super) checked: &'c Checked,
    /// Where it is written to.
    pub(super) file: &'c Path,
}

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let checked = self.checked;
        writeln!(f, "## Memory of {}: {}", escaped(&checked.program), checked.words())?;
        if let Some(reason) = &checked.reason {
            writeln!(f, "\n{}", escaped(reason))?;
        }
        if !checked.gates.is_empty() {
            writeln!(f, "\n| gate | verdict | why |\n|---|---|---|")?;
        }
        for judged in checked.named() {
            let gate = &judged.result;
            let verdict = answer::words(gate.verdict);
            let verdict = match gate.verdict {
                Verdict::Passed => verdict.to_owned(),
                _ => format!("**{verdict}**"),
            };
            writeln!(f, "| {} | {verdict} | {} |", escaped(&judged.name()), escaped(&gate.reason))?;
        }
        if let Some((gate, reason)) = checked.counted() {
            let verdict = answer::words(Verdict::Passed);
            writeln!(f, "| {} | {verdict} | {} |", escaped(gate), escaped(&reason))?;
        }
        for judged in checked.gates.iter().filter(|one| one.result.verdict != Verdict::Passed) {
            if !judged.result.details.is_empty() {
                writeln!(f, "\n{}:\n", escaped(&judged.name()))?;
            }
            for detail in &judged.result.details {
                writeln!(f, "- {}", escaped(detail.trim_start()))?;
            }
        }
        if let Some(page) = &checked.page {
            let page = relative(page, self.file);
            writeln!(f, "\n[The recording in the viewer](<{}>)", escaped(&page))?;
        }
        Ok(())
    }
}

/// A file as another one beside it names it.
pub(super) fn relative(file: &Path, from: &Path) -> String {
    let folder = from.parent().unwrap_or(Path::new(""));
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_the_same_folder_are_named_alone() {
        let name = |file: &str, from: &str| relative(Path::new(file), Path::new(from));
        assert_eq!(name("out/a.html", "out/a.md"), "a.html");
        assert_eq!(name("a.html", "a.md"), "a.html");
        assert_eq!(name("/x/a.html", "out/a.md"), "/x/a.html");
    }
}
