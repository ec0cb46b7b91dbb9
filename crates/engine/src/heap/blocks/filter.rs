//! Which blocks are wanted, as text: conditions in the syntax of those of traces, with spaces between them.
//!
//! ```text
//! filter      := condition {" " condition}
//! condition   := ["-"] key ":" value {"," value}
//! value       := name | range | (">" | ">=" | "<" | "<=") number
//! ```
//!
//! What follows a space and is no `key:` belongs to the value before: `owner:Cache / field 2`. `kind`, `type` and `owner` have names, `size`, `retained` and `age` ranges: both are read as those of
//! [`Condition`].

use memtrail_profile::filter::{Between, Clause, Condition, ConditionError, Name};
use memtrail_profile::time::Elapsed;
use memtrail_trace::Bytes;

/// The keys that conditions can have, for the hint.
const KEYS: &str = "kind, type, owner, size, retained, age";

/// Conditions that all must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockFilter {
    pub(super) conditions: Vec<BlockCondition>,
}

/// A clause, or its opposite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockCondition {
    pub(super) not: bool,
    pub(super) clause: BlockClause,
}

/// A condition that holds if it does for any of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockClause {
    /// The kind, as the histogram names it.
    Kind(Vec<Name>),
    /// The type, if it is known.
    Type(Vec<Name>),
    /// The root that owns it.
    Owner(Vec<Name>),
    /// Its size, header included.
    Size(Vec<Between<Bytes>>),
    /// What would be freed without it.
    Retained(Vec<Between<Bytes>>),
    /// The time since its allocation, if it was sampled.
    Age(Vec<Between<Elapsed>>),
}

impl BlockFilter {
    /// Reads one.
    pub(super) fn parse(text: &str) -> Result<Self, ConditionError> {
        let conditions = words(text).into_iter().map(|(at, word)| {
            condition(word).map_err(|error| ConditionError { at: at + error.at, ..error })
        });
        Ok(Self { conditions: conditions.collect::<Result<_, _>>()? })
    }
}

/// The parts between spaces that are in no quotes and no regular expression, with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let (mut start, mut inside, mut before, mut escaped) = (0, None, ' ', false);
    for (at, c) in text.char_indices() {
        match inside {
            Some(end) => {
                if c == end && !escaped {
                    inside = None;
                }
                escaped = c == '\\' && !escaped;
            }
            None if c == '"' || (c == '/' && matches!(before, ':' | ',')) => inside = Some(c),
            None if c.is_whitespace() => {
                words.push((start, &text[start..at]));
                start = at + c.len_utf8();
            }
            None => {}
        }
        before = c;
    }
    words.push((start, &text[start..]));
    words.retain(|(_, word)| !word.is_empty());
    let mut whole: Vec<(usize, &str)> = Vec::with_capacity(words.len());
    for (at, word) in words {
        match whole.last_mut() {
            Some((start, before)) if !has_key(word) && has_key(before) => {
                *before = &text[*start..at + word.len()];
            }
            _ => whole.push((at, word)),
        }
    }
    whole
}

/// Whether it begins as a condition does.
fn has_key(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let key = word.split_once(':').map_or("", |(key, _)| key);
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn condition(word: &str) -> Result<BlockCondition, ConditionError> {
    let hint = || Some(format!("a condition is written key:value; keys are {KEYS}"));
    let not = word.starts_with('-');
    let start = usize::from(not);
    let Some(colon) = word.find(':') else {
        let message = format!("no colon in {word:?}");
        return Err(ConditionError { at: word.len(), message, hint: hint() });
    };
    let (key, values) = (&word[start..colon], &word[colon + 1..]);
    let unknown = || ConditionError {
        at: start,
        message: format!("unknown condition {key:?}"),
        hint: hint(),
    };
    let read = |of: &str, values: &str| {
        format!("{of}:{values}").parse::<Condition>().map(|read| read.clause).map_err(|error| {
            // The place in the word, as far as what was read has the same length.
            let at = (error.at.saturating_sub(of.len() + 1) + colon + 1).min(word.len());
            ConditionError { at, ..error }
        })
    };
    let clause = match key {
        "kind" | "type" | "owner" => {
            let Clause::Frame(.., names) = read("in", values)? else { return Err(unknown()) };
            match key {
                "kind" => BlockClause::Kind(names),
                "type" => BlockClause::Type(names),
                _ => BlockClause::Owner(names),
            }
        }
        "size" | "retained" => {
            let mut ranges = Vec::new();
            for value in values.split(',') {
                let (text, strict) = as_range(value);
                let Clause::Size(read) = read("size", &text)? else { return Err(unknown()) };
                ranges.extend(read.into_iter().map(|range| strict.narrow(range, step_bytes)));
            }
            match key {
                "size" => BlockClause::Size(ranges),
                _ => BlockClause::Retained(ranges),
            }
        }
        "age" => {
            let mut ranges = Vec::new();
            for value in values.split(',') {
                let (text, strict) = as_range(value);
                let Clause::Lifetime(read) = read("lifetime", &text)? else {
                    return Err(unknown());
                };
                ranges.extend(read.into_iter().map(|range| strict.narrow(range, step_time)));
            }
            BlockClause::Age(ranges)
        }
        _ => return Err(unknown()),
    };
    Ok(BlockCondition { not, clause })
}

/// Which ends of a range are not in it.
#[derive(Clone, Copy)]
enum Strict {
    Neither,
    From,
    To,
}

/// `>1k` as a range.
fn as_range(value: &str) -> (String, Strict) {
    for (sign, strict, is_from) in [
        (">=", Strict::Neither, true),
        ("<=", Strict::Neither, false),
        (">", Strict::From, true),
        ("<", Strict::To, false),
    ] {
        if let Some(number) = value.strip_prefix(sign) {
            let text = if is_from { format!("{number}..") } else { format!("..{number}") };
            return (text, strict);
        }
    }
    (value.to_owned(), Strict::Neither)
}

impl Strict {
    fn narrow<T: Copy>(self, range: Between<T>, step: impl Fn(T, bool) -> Option<T>) -> Between<T> {
        match self {
            Self::Neither => range,
            Self::From => Between { from: range.from.and_then(|at| step(at, true)), ..range },
            Self::To => match range.to.map(|at| (at, step(at, false))) {
                Some((_, Some(to))) => Between { to: Some(to), ..range },
                // Nothing is less than nothing: a range that ends before it begins.
                Some((least, None)) => Between { from: step(least, true), to: Some(least) },
                None => range,
            },
        }
    }
}

fn step_bytes(at: Bytes, up: bool) -> Option<Bytes> {
    (if up { at.0.checked_add(1) } else { at.0.checked_sub(1) }).map(Bytes)
}

fn step_time(at: Elapsed, up: bool) -> Option<Elapsed> {
    (if up { at.0.checked_add(1) } else { at.0.checked_sub(1) }).map(Elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(text: &str) -> Vec<(bool, BlockClause)> {
        let filter = BlockFilter::parse(text).unwrap();
        filter.conditions.into_iter().map(|one| (one.not, one.clause)).collect()
    }

    #[test]
    fn filters_are_read() {
        assert_eq!(clauses("  "), []);
        assert_eq!(
            clauses(
                r#"type:page,"a b" -kind:/a b:/ owner:~Cache size:>1k,..8 retained:<=2M age:>10s"#
            ),
            [
                (
                    false,
                    BlockClause::Type(vec![
                        Name::Equals("page".into()),
                        Name::Equals("a b".into())
                    ])
                ),
                (true, BlockClause::Kind(vec![Name::Matches("a b:".into())])),
                (false, BlockClause::Owner(vec![Name::Contains("Cache".into())])),
                (
                    false,
                    BlockClause::Size(vec![
                        Between { from: Some(Bytes(1025)), to: None },
                        Between { from: None, to: Some(Bytes(8)) },
                    ])
                ),
                (
                    false,
                    BlockClause::Retained(vec![Between { from: None, to: Some(Bytes(2 << 20)) }])
                ),
                (
                    false,
                    BlockClause::Age(vec![Between { from: Some(Elapsed(10_000_001)), to: None }])
                ),
            ]
        );
        let names = |name: &str| vec![Name::Equals(name.to_owned())];
        assert_eq!(
            clauses("owner:Cache / field 2  size:8 kind:tag 0"),
            [
                (false, BlockClause::Owner(names("Cache / field 2"))),
                (false, BlockClause::Size(vec![Between::only(Bytes(8))])),
                (false, BlockClause::Kind(names("tag 0"))),
            ]
        );
        let [(_, BlockClause::Size(none))] = &clauses("size:<0")[..] else { panic!("a size") };
        assert!(!none[0].holds(Bytes(0)) && !none[0].holds(Bytes(1)));
    }

    #[test]
    fn errors_have_places_and_hints() {
        for (text, at, message) in [
            ("size:1k colour:red", 8, "unknown condition \"colour\""),
            ("type", 4, "no colon in \"type\""),
            ("kind:", 5, "a name is missing"),
            ("size:1k  owner:\"a", 15, "the quoted name does not end"),
            ("age:9..3", 4, "the range \"9..3\" ends before it begins"),
        ] {
            let error = BlockFilter::parse(text).unwrap_err();
            assert_eq!((error.at, &*error.message), (at, message), "{text}");
        }
    }
}
