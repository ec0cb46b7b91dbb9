//! The JSON form of conditions: `{"key": "live", "not": false, "values": [{"from": "end", "to": "end"}]}`.
//!
//! | of | values |
//! |---|---|
//! | `allocated`, `live`, `collected` | `{"from": moment or null, "to": …}`; `"never"` |
//! | a moment | `"start"`, `"peak"`, `"end"`, `{"us": 1500000}`, `{"ppm": 400000}` |
//! | `lifetime`, `size` | `{"from": microseconds or bytes or null, "to": …}` |
//! | `heap`, `died` | `"minor"`, `"major"`, `"external"`, `"never"` |
//! | `domain` | a number |
//! | names | `{"equals": …}`, `{"contains": …}`, `{"regex": …}` |

use serde::{Serialize, Serializer};

use super::condition::{Between, Clause, Collected, Condition, Moment, Name};

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = match &self.clause {
            Clause::Allocated(ranges) | Clause::Live(ranges) => all(ranges, range),
            Clause::Collected(values) => all(values, |value| match value {
                Collected::Never => Value::Word("never"),
                Collected::Within(within) => range(within),
            }),
            Clause::Lifetime(ranges) => all(ranges, |r| numbers(r, |time| time.0)),
            Clause::Size(ranges) => all(ranges, |r| numbers(r, |size| size.0)),
            Clause::Heap(heaps) => all(heaps, |heap| Value::Word(heap.name())),
            Clause::Died(died) => all(died, |died| Value::Word(died.name())),
            Clause::Domain(domains) => all(domains, |domain| Value::Number(domain.0.into())),
            Clause::Thread(names)
            | Clause::Process(names)
            | Clause::Frame(_, _, names)
            | Clause::Hide(names)
            | Clause::Collapse(names) => all(names, |name| Value::Name(name.into())),
        };
        Plain { key: self.clause.key(), not: self.not, values }.serialize(serializer)
    }
}

#[derive(Serialize)]
struct Plain<'a> {
    key: &'static str,
    not: bool,
    values: Vec<Value<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Word(&'static str),
    Number(u64),
    Range { from: Option<Box<Value<'a>>>, to: Option<Box<Value<'a>>> },
    Time { us: u64 },
    Part { ppm: u32 },
    Name(Wanted<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Wanted<'a> {
    Equals(&'a str),
    Contains(&'a str),
    Regex(&'a str),
}

impl<'a> From<&'a Name> for Wanted<'a> {
    fn from(name: &'a Name) -> Self {
        match name {
            Name::Equals(name) => Self::Equals(name),
            Name::Contains(part) => Self::Contains(part),
            Name::Matches(pattern) => Self::Regex(pattern),
        }
    }
}

fn all<'a, T>(values: &'a [T], each: impl Fn(&'a T) -> Value<'a>) -> Vec<Value<'a>> {
    values.iter().map(each).collect()
}

fn range<'a>(range: &Between<Moment>) -> Value<'a> {
    let moment = |moment| {
        Box::new(match moment {
            Moment::Start => Value::Word("start"),
            Moment::Peak => Value::Word("peak"),
            Moment::End => Value::Word("end"),
            Moment::At(time) => Value::Time { us: time.0 },
            Moment::Part(part) => Value::Part { ppm: part.0 },
        })
    };
    Value::Range { from: range.from.map(moment), to: range.to.map(moment) }
}

fn numbers<'a, T: Copy>(range: &Between<T>, number: impl Fn(T) -> u64) -> Value<'a> {
    let value = |value| Box::new(Value::Number(number(value)));
    Value::Range { from: range.from.map(value), to: range.to.map(value) }
}
