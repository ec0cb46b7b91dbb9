//! Decimal numbers, exact, and the units behind them.

/// Error in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Wrong {
    /// Its byte in the text.
    pub at: usize,
    /// The fault, without the place.
    pub message: String,
    /// Text that could be written in its place.
    pub hint: Option<&'static str>,
}

/// A number with nine places after the point.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    whole: u64,
    billionths: u64,
}

impl Number {
    /// The number that begins at a byte of the text, and where it ends. `what` and `hint` are for
    /// the message if none does.
    pub fn read(
        text: &str,
        at: usize,
        what: &str,
        hint: &'static str,
    ) -> Result<(Self, usize), Wrong> {
        let rest = &text[at..];
        let whole = digits(rest);
        if whole.is_empty() {
            // Lists have commas between their values.
            let found = rest.split(',').next().unwrap_or_default();
            let message = if found.is_empty() {
                format!("{what} is missing")
            } else {
                format!("{found:?} is not {what}")
            };
            return Err(Wrong { at, message, hint: Some(hint) });
        }
        let Ok(number) = whole.parse() else {
            return Err(Wrong { at, message: "too large a number".to_owned(), hint: None });
        };
        let mut end = at + whole.len();
        let mut billionths = 0;
        // Two dots belong to a range.
        if let Some(rest) = text[end..].strip_prefix('.')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            let fraction = digits(rest);
            for place in 0..9 {
                let digit = fraction.as_bytes().get(place).map_or(0, |digit| digit - b'0');
                billionths = billionths * 10 + u64::from(digit);
            }
            end += 1 + fraction.len();
        }
        Ok((Self { whole: number, billionths }, end))
    }

    /// As a number of units, the remainder cut off.
    pub fn times(self, unit: u64) -> Option<u64> {
        let unit = u128::from(unit);
        let fraction = u128::from(self.billionths) * unit / 1_000_000_000;
        u64::try_from(u128::from(self.whole) * unit + fraction).ok()
    }
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// The unit at a byte of the text, spaces before it left out, and where it ends: all letters that
/// stand there have to be one.
pub(crate) fn unit<T>(
    text: &str,
    at: usize,
    meaning: impl Fn(&str) -> Option<T>,
) -> Option<(T, usize)> {
    let start = at + spaces(&text[at..]);
    let rest = &text[start..];
    let end = rest.find(|c| !is_unit(c)).unwrap_or(rest.len());
    meaning(&rest[..end]).map(|meaning| (meaning, start + end))
}

/// How many bytes of space the text begins with.
pub(crate) fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

pub(crate) fn begins_unit(text: &str) -> bool {
    text.trim_start_matches(' ').starts_with(is_unit)
}

/// Letters of units; the sign for micro is there twice.
fn is_unit(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{b5}' | '\u{3bc}')
}
