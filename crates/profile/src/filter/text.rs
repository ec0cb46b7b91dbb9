//! The text form of conditions, one spelling each. [`parse`](super::parse) reads it.

use std::fmt::{self, Display, Formatter, Write};
use std::time::Duration;

use memtrail_text::{Size, exact};
use memtrail_trace::Bytes;

use super::condition::{Between, Clause, Collected, Condition, Millionths, Moment, Name};
use crate::time::Elapsed;

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.not {
            f.write_char('-')?;
        }
        write!(f, "{}:", self.clause.key())?;
        match &self.clause {
            Clause::Allocated(ranges) | Clause::Live(ranges) => list(f, ranges, range),
            Clause::Collected(values) => list(f, values, |f, value| match value {
                Collected::Never => f.write_str("never"),
                Collected::Within(within) => range(f, within),
            }),
            Clause::Lifetime(ranges) => list(f, ranges, range),
            Clause::Size(ranges) => list(f, ranges, range),
            Clause::Heap(heaps) => list(f, heaps, |f, heap| f.write_str(heap.name())),
            Clause::Died(died) => list(f, died, |f, died| f.write_str(died.name())),
            Clause::Domain(domains) => list(f, domains, |f, domain| write!(f, "{}", domain.0)),
            Clause::Thread(names)
            | Clause::Process(names)
            | Clause::Frame(_, _, names)
            | Clause::Hide(names)
            | Clause::Collapse(names) => list(f, names, |f, name| name.spell(f)),
        }
    }
}

fn list<T>(
    f: &mut Formatter<'_>,
    values: &[T],
    each: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            f.write_char(',')?;
        }
        each(f, value)?;
    }
    Ok(())
}

/// A value that ranges are made of.
pub(super) trait Spell {
    fn spell(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

fn range<T: Spell + PartialEq>(f: &mut Formatter<'_>, range: &Between<T>) -> fmt::Result {
    if let (Some(from), Some(to)) = (&range.from, &range.to)
        && from == to
    {
        return from.spell(f);
    }
    if let Some(from) = &range.from {
        from.spell(f)?;
    }
    f.write_str("..")?;
    range.to.as_ref().map_or(Ok(()), |to| to.spell(f))
}

impl Spell for Moment {
    fn spell(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Peak => f.write_str("peak"),
            Self::End => f.write_str("end"),
            Self::At(time) => time.spell(f),
            Self::Part(Millionths(part)) => {
                f.write_str(&exact::decimal((*part).into(), 4))?;
                f.write_char('%')
            }
        }
    }
}

impl Spell for Elapsed {
    fn spell(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&exact::typed_duration(Duration::from_micros(self.0)))
    }
}

impl Spell for Bytes {
    fn spell(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&exact::typed_size(Size(self.0)))
    }
}

impl Name {
    fn spell(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(name) => word(f, name),
            Self::Contains(part) => {
                f.write_char('~')?;
                word(f, part)
            }
            Self::Matches(pattern) => {
                f.write_char('/')?;
                let mut chars = pattern.chars();
                while let Some(c) = chars.next() {
                    match c {
                        '/' => f.write_str("\\/")?,
                        '\\' => {
                            f.write_char('\\')?;
                            chars.next().map_or(Ok(()), |escaped| f.write_char(escaped))?;
                        }
                        _ => f.write_char(c)?,
                    }
                }
                f.write_char('/')
            }
        }
    }
}

/// A name, quoted if it could be taken for something else.
fn word(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let plain = !name.is_empty()
        && !name.starts_with(['~', '/'])
        && !name.contains([',', '"'])
        && !name.contains("..");
    if plain {
        return f.write_str(name);
    }
    f.write_char('"')?;
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}
