//! Debian's ocsigenserver: what it answers is the same, to each request.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

use memtrail_test_support::site::{PAGES, Site, free_port};

use crate::subject::{WAYS, readable};

/// How often each page is asked for.
const ROUNDS: usize = 5;

/// Answers by page and round, but for their dates.
type Answers = BTreeMap<(String, usize), Option<String>>;

/// Asks for all pages and two that are not there, then tells the server to end.
fn visit(site: &Site) -> Answers {
    site.wait();
    let mut answers = Answers::new();
    for round in 0..ROUNDS {
        let pages = (0..PAGES).map(|page| format!("/{page}.html"));
        for page in pages.chain(["/absent.html".into(), "/..%2fsecret".into()]) {
            answers.insert((page.clone(), round), site.get(&page));
        }
    }
    site.shut_down();
    answers
}

#[test]
fn ocsigenserver() {
    let site = Site::new(free_port());
    let mut case = site.case();
    let visited = |seen: &dyn Fn()| {
        thread::scope(|scope| {
            let visitor = scope.spawn(|| visit(&site));
            seen();
            visitor.join().expect("answers")
        })
    };
    let alone = std::cell::OnceCell::new();
    let answers = visited(&|| drop(alone.set(case.plain())));
    let alone = alone.into_inner().expect("it ended");
    assert!(alone.status.success(), "{alone:?}");
    let found = |answer: &&Option<String>| {
        answer.as_ref().is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
    };
    assert_eq!(answers.values().filter(found).count(), PAGES as usize * ROUNDS, "{answers:?}");
    for way in WAYS {
        let options = [way, &["--snapshot", "every-major,exit", "--at-most", "3"]].concat();
        case = case.options(&options);
        let recorded = std::cell::OnceCell::new();
        let same = visited(&|| drop(recorded.set(case.recorded())));
        let recorded = recorded.into_inner().expect("it ended");
        assert_eq!(recorded.seen, alone, "with {way:?}");
        assert!(same == answers, "its answers differ with {way:?}");
        readable(&recorded);
        fs::remove_dir_all(&recorded.recording).expect("a recording");
    }
}
