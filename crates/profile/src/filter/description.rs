//! Conditions in plain words, as parts of a sentence about blocks: "allocated after 10 s",
//! "not inside a call to List.map".

use std::time::Duration;

use memtrail_text::{Size, exact};
use memtrail_trace::Bytes;

use super::condition::{
    Between, Clause, Collected, Condition, Died, FrameName, FrameScope, Moment, Name,
};
use crate::time::Elapsed;

impl Condition {
    /// The condition in words.
    pub fn description(&self) -> String {
        let not = if self.not { "not " } else { "" };
        match &self.clause {
            Clause::Allocated(ranges) => {
                format!("{not}allocated {}", or(ranges, |range| when(range, "at")))
            }
            Clause::Live(ranges) => format!("{not}live {}", or(ranges, |range| when(range, "at"))),
            Clause::Collected(values) => match (values.as_slice(), self.not) {
                ([Collected::Never], true) => "collected".to_owned(),
                _ => format!("{not}{}", or(values, collected)),
            },
            Clause::Lifetime(ranges) => format!("{not}living {}", or(ranges, |r| amount(r, time))),
            Clause::Size(ranges) => format!("{not}of {}", or(ranges, |range| amount(range, size))),
            Clause::Heap(heaps) => format!("{not}on the {} heap", or(heaps, |h| h.name().into())),
            Clause::Died(values) => match (values.as_slice(), self.not) {
                ([Died::Never], true) => "collected".to_owned(),
                _ => format!("{not}{}", or(values, |&value| died(value))),
            },
            Clause::Domain(domains) => {
                format!("{not}allocated by domain {}", or(domains, |domain| domain.0.to_string()))
            }
            Clause::Thread(names) => format!("{not}allocated by thread {}", or(names, named)),
            Clause::Process(names) => format!("{not}allocated by process {}", or(names, named)),
            Clause::Frame(which, what, names) => {
                let place = match (which, what) {
                    (FrameScope::Any, FrameName::Function) => "inside a call to",
                    (FrameScope::Any, FrameName::Module) => "inside a call into module",
                    (FrameScope::Any, FrameName::File) => "inside a call into file",
                    (FrameScope::Innermost, FrameName::Function) => "allocated by",
                    (FrameScope::Innermost, FrameName::Module) => "allocated by module",
                    (FrameScope::Innermost, FrameName::File) => "allocated in file",
                };
                format!("{not}{place} {}", or(names, named))
            }
            Clause::Hide(names) => format!("hiding {}", or(names, named)),
            Clause::Collapse(names) => format!("collapsing module {}", or(names, named)),
        }
    }
}

fn or<T>(values: &[T], words: impl Fn(&T) -> String) -> String {
    let words: Vec<String> = values.iter().map(words).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

fn when(range: &Between<Moment>, at: &str) -> String {
    let words = match (range.from, range.to) {
        (Some(from), Some(to)) if from == to => format!("{at} {}", moment(from)),
        (Some(from), Some(to)) => format!("between {} and {}", moment(from), moment(to)),
        (Some(from), None) => format!("{at} or after {}", moment(from)),
        (None, Some(to)) => format!("{at} or before {}", moment(to)),
        (None, None) => "at any time".to_owned(),
    };
    match range.to.or(range.from) {
        Some(Moment::Part(_)) => format!("{words} of the time"),
        _ => words,
    }
}

fn moment(moment: Moment) -> String {
    match moment {
        Moment::Start => "the start".to_owned(),
        Moment::Peak => "the peak".to_owned(),
        Moment::End => "the end".to_owned(),
        Moment::At(at) => time(at),
        Moment::Part(part) => format!("{} %", f64::from(part.0) / 1e4),
    }
}

fn collected(collected: &Collected) -> String {
    match collected {
        Collected::Never => "never collected".to_owned(),
        Collected::Within(range) => format!("collected {}", when(range, "at")),
    }
}

fn died(died: Died) -> String {
    match died {
        Died::Never => "never collected".to_owned(),
        Died::In(heap) => format!("collected in the {} heap", heap.name()),
    }
}

fn amount<T: Copy + PartialEq>(range: &Between<T>, words: impl Fn(T) -> String) -> String {
    match (range.from, range.to) {
        (Some(from), Some(to)) if from == to => format!("exactly {}", words(from)),
        (Some(from), Some(to)) => format!("{} to {}", words(from), words(to)),
        (Some(from), None) => format!("at least {}", words(from)),
        (None, Some(to)) => format!("at most {}", words(to)),
        (None, None) => "any".to_owned(),
    }
}

/// A time with its units.
pub(crate) fn time(time: Elapsed) -> String {
    exact::duration_in_words(Duration::from_micros(time.0))
}

fn size(size: Bytes) -> String {
    exact::size_in_words(Size(size.0))
}

fn named(name: &Name) -> String {
    match name {
        Name::Equals(name) if name.is_empty() => "\"\"".to_owned(),
        Name::Equals(name) => name.clone(),
        Name::Contains(part) => format!("…{part}…"),
        Name::Matches(pattern) => format!("/{pattern}/"),
    }
}
