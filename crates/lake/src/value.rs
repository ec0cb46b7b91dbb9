//! Values of rows.

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Nothing is known.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(&'a str),
    /// A list.
    Ints(&'a [i64]),
    /// A map.
    Texts(&'a [(String, String)]),
}

impl From<Option<i64>> for Value<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(Self::Null, Self::Text)
    }
}

/// A number without a sign. None of them reaches 2^63.
pub(crate) fn int(number: u64) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number that may be unknown.
pub(crate) fn maybe(number: Option<u64>) -> Value<'static> {
    number.map_or(Value::Null, int)
}
