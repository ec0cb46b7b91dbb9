//! A condition as the fields of a form hold it: `{"key": "live", "not": false, "values": [{"mode": "at", "a": "end", …}]}`.
//! The page has no parser and no printer of conditions: it shows these fields, and writes their contents.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::condition::{Between, Clause, Collected, Condition, Moment, Name};
use super::text::Spell;

/// A condition and its values.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ConditionForm {
    /// [`Clause::key`].
    key: &'static str,
    /// True for blocks that do not fit it.
    not: bool,
    values: Vec<ValueForm>,
}

/// One of the values of which any will do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueForm {
    mode: Mode,
    /// The name, the word, or the end of the range that is given, in its text form; of a range, the lower one.
    a: String,
    /// The upper end of a range with two.
    b: String,
    /// The range's ends, where it has them.
    from: Option<End>,
    to: Option<End>,
}

/// The kind of a value: which fields it has.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ValueMode"))]
enum Mode {
    /// By one end, which is the other, too.
    At,
    Between,
    From,
    To,
    Never,
    Equals,
    Contains,
    Regex,
    /// By a word of a few, or a number.
    Word,
}

/// An end of a range.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "RangeEnd"))]
enum End {
    /// `start`, `peak` or `end`.
    Word(&'static str),
    /// Microseconds or bytes.
    Number(#[cfg_attr(feature = "typescript", ts(type = "number"))] u64),
    /// Microseconds since the start.
    At {
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        us: u64,
    },
    /// Millionths of the recording's duration.
    Part { ppm: u32 },
}

impl Condition {
    /// The condition as the fields of a form.
    pub fn form(&self) -> ConditionForm {
        let values = match &self.clause {
            Clause::Allocated(ranges) | Clause::Live(ranges) => all(ranges, times),
            Clause::Collected(values) => all(values, |value| match value {
                Collected::Never => single(Mode::Never, String::new()),
                Collected::Within(within) => times(within),
            }),
            Clause::Lifetime(ranges) => all(ranges, |r| range(r, |time| End::Number(time.0))),
            Clause::Size(ranges) => all(ranges, |r| range(r, |size| End::Number(size.0))),
            Clause::Heap(heaps) => all(heaps, |heap| single(Mode::Word, heap.name().to_owned())),
            Clause::Died(died) => all(died, |died| single(Mode::Word, died.name().to_owned())),
            Clause::Domain(domains) => all(domains, |id| single(Mode::Word, id.0.to_string())),
            Clause::Thread(names)
            | Clause::Process(names)
            | Clause::Frame(_, _, names)
            | Clause::Hide(names)
            | Clause::Collapse(names) => all(names, name),
        };
        ConditionForm { key: self.clause.key(), not: self.not, values }
    }
}

fn all<T>(values: &[T], each: impl Fn(&T) -> ValueForm) -> Vec<ValueForm> {
    values.iter().map(each).collect()
}

fn single(mode: Mode, a: String) -> ValueForm {
    ValueForm { mode, a, b: String::new(), from: None, to: None }
}

fn name(name: &Name) -> ValueForm {
    match name {
        Name::Equals(name) => single(Mode::Equals, name.clone()),
        Name::Contains(part) => single(Mode::Contains, part.clone()),
        Name::Matches(pattern) => single(Mode::Regex, pattern.clone()),
    }
}

fn times(of: &Between<Moment>) -> ValueForm {
    range(of, |moment| match moment {
        Moment::Start => End::Word("start"),
        Moment::Peak => End::Word("peak"),
        Moment::End => End::Word("end"),
        Moment::At(time) => End::At { us: time.0 },
        Moment::Part(part) => End::Part { ppm: part.0 },
    })
}

fn range<T: Spell + Copy + PartialEq>(of: &Between<T>, end: impl Fn(T) -> End) -> ValueForm {
    let text = |of: Option<T>| of.map_or(String::new(), |of| Spelled(of).to_string());
    let (mode, a, b) = match (of.from, of.to) {
        (Some(from), Some(to)) if from == to => (Mode::At, Some(from), None),
        (Some(from), Some(to)) => (Mode::Between, Some(from), Some(to)),
        (Some(from), None) => (Mode::From, Some(from), None),
        (None, to) => (Mode::To, to, None),
    };
    ValueForm { mode, a: text(a), b: text(b), from: of.from.map(&end), to: of.to.map(end) }
}

/// A value in its text form.
struct Spelled<T>(T);

impl<T: Spell> Display for Spelled<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.spell(f)
    }
}
