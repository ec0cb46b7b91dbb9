//! Durations.

use std::time::Duration;

use crate::number::{Number, Wrong, spaces, unit};

/// What durations look like, for messages.
pub const DURATIONS: &str = "durations are like 12.5s, 1m30s, 250ms";

/// What moments of a recording look like, for messages; a duration may be one.
pub const TIMES: &str = "times are like 12.5s, 1m30s, 40%, peak, end";

/// The longest duration: 48 bits of microseconds, as long as a recording can take.
pub const MAX_DURATION: Duration = Duration::from_micros((1 << 48) - 1);

pub(crate) fn read(text: &str, at: usize) -> Result<(Duration, usize), Wrong> {
    let mut total = Some(0_u64);
    let mut end = at;
    loop {
        let (number, behind) = Number::read(text, end, "a time", TIMES)?;
        let unit = unit(text, behind, microseconds);
        if unit.is_none() && end > at {
            let hint = Some("units are d, h, m, s, ms, us");
            return Err(Wrong { at: behind, message: "a unit is missing".to_owned(), hint });
        }
        let (factor, behind) = unit.unwrap_or((1_000_000, behind));
        let part = number.times(factor);
        total = total.zip(part).and_then(|(total, part)| total.checked_add(part));
        end = behind;
        let next = end + spaces(&text[end..]);
        if unit.is_none() || !text[next..].starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        end = next;
    }
    match total.map(Duration::from_micros) {
        Some(time) if time <= MAX_DURATION => Ok((time, end)),
        _ => {
            let message = "longer than the nine years that a recording can take".to_owned();
            Err(Wrong { at, message, hint: None })
        }
    }
}

fn microseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "us" | "\u{b5}s" | "\u{3bc}s" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    })
}
