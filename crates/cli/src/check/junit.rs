//! What a check found as XML, in the form of `JUnit`: a test case for each gate.
//!
//! There is no standard; this is what Jenkins, GitLab and GitHub's actions read. The page is attached in the way that
//! Jenkins and GitLab know, `[[ATTACHMENT|file]]` in what a test case printed.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use memtrail_engine::gate::Verdict;
use memtrail_text::markup::escaped;

use super::answer::{self, Checked, Judged};
use super::markdown::relative;

pub(super) struct Suite<'c> {
    pub(super) checked: &'c Checked,
    /// Where it is written to.
    pub(super) file: &'c Path,
}

impl Display for Suite<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let checked = self.checked;
        let is = |judged: &Judged, verdict| judged.result.verdict == verdict;
        let count = |verdict| checked.gates.iter().filter(|judged| is(judged, verdict)).count();
        let errors = count(Verdict::Unknown) + usize::from(checked.reason.is_some());
        let counts = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"0\"",
            checked.gates.len() + usize::from(checked.reason.is_some()),
            count(Verdict::Failed),
        );
        let program = escaped(&checked.program);
        writeln!(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(f, "<testsuites name=\"memtrail check\" {counts}>")?;
        writeln!(f, "  <testsuite name=\"memtrail check {program}\" {counts}>")?;
        if let Some(reason) = &checked.reason {
            writeln!(f, "    <testcase classname=\"{program}\" name=\"run\">")?;
            writeln!(f, "      <error message=\"{}\"/>", escaped(reason))?;
            writeln!(f, "    </testcase>")?;
        }
        for judged in &checked.gates {
            self.case(f, &program, judged)?;
        }
        writeln!(f, "  </testsuite>")?;
        writeln!(f, "</testsuites>")
    }
}

impl Suite<'_> {
    fn case(&self, f: &mut Formatter<'_>, program: &str, judged: &Judged) -> fmt::Result {
        let (name, gate) = (escaped(&judged.name()), &judged.result);
        writeln!(f, "    <testcase classname=\"{program}\" name=\"{name}\">")?;
        let element = match gate.verdict {
            Verdict::Failed => Some("failure"),
            Verdict::Unknown => Some("error"),
            Verdict::Passed | Verdict::Undecided => None,
        };
        let (reason, details) = (escaped(&gate.reason), escaped(&gate.details.join("\n")));
        if let Some(element) = element {
            writeln!(f, "      <{element} message=\"{reason}\">{details}</{element}>")?;
        }
        write!(f, "      <system-out>{}: {reason}", answer::words(gate.verdict))?;
        if let Some(page) = &self.checked.page {
            write!(f, "\n[[ATTACHMENT|{}]]", escaped(&relative(page, self.file)))?;
        }
        writeln!(f, "</system-out>")?;
        writeln!(f, "    </testcase>")
    }
}
