//! Read nextest's report: counts and times.

use super::tally::{Tally, TestTime};

/// Results of nextest's tests.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    pub(crate) times: Vec<TestTime>,
}

/// Reads a `JUnit` report as nextest writes it: one `<testcase>` a test, with `<failure>` or `<error>` inside if it failed.
pub(crate) fn read(text: &str) -> Report {
    let mut report = Report::default();
    for case in text.split("<testcase ").skip(1) {
        let (head, rest) = case.split_once('>').unwrap_or((case, ""));
        let own = rest.split_once("</testcase>").map_or(rest, |(own, _)| own);
        // A test without output has no content: `<testcase … />`.
        let own = if head.ends_with('/') { "" } else { own };
        if own.contains("<failure") || own.contains("<error") {
            report.tally.failed += 1;
        } else {
            report.tally.passed += 1;
        }
        let name = format!("{} {}", attribute(head, "classname"), attribute(head, "name"));
        let seconds = attribute(head, "time").parse().unwrap_or(0.0);
        report.times.push(TestTime { name, seconds });
    }
    report
}

/// The value of an attribute; other attributes may end with its name.
fn attribute<'a>(head: &'a str, name: &str) -> &'a str {
    let found = head.match_indices(&format!("{name}=\"")).find_map(|(at, key)| {
        let before = head[..at].chars().next_back();
        before.is_none_or(char::is_whitespace).then(|| &head[at + key.len()..])
    });
    found.and_then(|value| value.split('"').next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_are_those_of_the_report() {
        let text = r#"<?xml version="1.0"?><testsuites name="nextest-run" tests="2" failures="1">
            <testsuite name="memtrail::agent" tests="2">
            <testcase name="endings::quick::system" classname="memtrail::agent" timestamp="x" time="0.250"/>
            <testcase name="rates::halves" classname="memtrail::agent" timestamp="x" time="2.5">
                <failure type="test failure">said &lt;testcase nothing</failure>
            </testcase></testsuite></testsuites>"#;
        let time = |name: &str, seconds| TestTime { name: name.to_owned(), seconds };
        let report = read(text);
        assert_eq!(report.tally, Tally { passed: 1, failed: 1 });
        assert_eq!(
            report.times,
            [
                time("memtrail::agent endings::quick::system", 0.25),
                time("memtrail::agent rates::halves", 2.5)
            ]
        );
    }

    #[test]
    fn no_report_has_no_tests() {
        assert_eq!(read(""), Report::default());
    }
}
