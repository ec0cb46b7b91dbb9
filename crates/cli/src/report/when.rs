//! Moments of a recording as people write them.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::TimeZone;
use memtrail_profile::time::Elapsed;

/// A moment as it was typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum When {
    /// Since the start.
    Since(Elapsed),
    /// Part of the whole time, 0 to 1.
    Part(f64),
    /// A time of day, on the (first) day of the recording that has it.
    TimeOfDay(civil::Time),
    /// A date and time where the reader lives.
    Local(civil::DateTime),
    /// A moment that names its time zone.
    Instant(Timestamp),
}

/// What `--live-at` takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LiveAt {
    Peak,
    End,
    Time(When),
}

/// What `--allocated` takes: from, to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range(pub(super) Option<When>, pub(super) Option<When>);

/// Understands what `--live-at` takes.
pub(super) fn live_at(text: &str) -> Result<LiveAt, String> {
    match text {
        "peak" => Ok(LiveAt::Peak),
        "end" => Ok(LiveAt::End),
        _ => when(text).map(LiveAt::Time),
    }
}

/// Understands what `--allocated` takes.
pub(super) fn range(text: &str) -> Result<Range, String> {
    let (from, to) =
        text.split_once("..").ok_or("a range is written FROM..TO; either may be left out")?;
    let side = |text: &str| match text.trim() {
        "" => Ok(None),
        text => when(text).map(Some),
    };
    Ok(Range(side(from)?, side(to)?))
}

/// Understands `12.5`, `1m30s`, `50%`, `14:05:30`, `2026-11-21T14:05`.
fn when(text: &str) -> Result<When, String> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(When::Part(percent / 100.0)),
            _ => Err(format!("`{text}` is not between 0% and 100%")),
        };
    }
    if let Ok(time) = memtrail_text::duration(text) {
        return Ok(When::Since(Elapsed(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))));
    }
    if let Ok(time) = text.parse() {
        return Ok(When::Instant(time));
    }
    if text.contains('-')
        && let Ok(time) = text.parse()
    {
        return Ok(When::Local(time));
    }
    if text.contains(':')
        && let Ok(time) = text.parse()
    {
        return Ok(When::TimeOfDay(time));
    }
    Err(format!(
        "`{text}` is no time; seconds since the start (12.5), 1m30s, 50%, a time of day (14:05:30) \
         or a date (2026-11-21T14:05) are"
    ))
}

/// A recording's time, to place moments in.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// When it began.
    pub(super) start: Timestamp,
    /// Its length.
    pub(super) end: Elapsed,
    /// Where the reader lives.
    pub(super) zone: TimeZone,
}

impl Span {
    /// The span of a trace that began so many microseconds after the Unix epoch.
    pub(super) fn new(start_unix_us: u64, end: Elapsed, zone: TimeZone) -> Self {
        let start = i64::try_from(start_unix_us).ok();
        let start = start.and_then(|us| Timestamp::from_microsecond(us).ok()).unwrap_or_default();
        Self { start, end, zone }
    }

    /// Microseconds from the start, which may be before it.
    pub(super) fn place(&self, when: When) -> Result<i64, String> {
        let since = |time: Timestamp| time.as_microsecond() - self.start.as_microsecond();
        let local = |time: civil::DateTime| {
            let zoned = time.to_zoned(self.zone.clone()).map_err(|error| error.to_string())?;
            Ok(since(zoned.timestamp()))
        };
        match when {
            When::Since(time) => Ok(i64::try_from(time.0).unwrap_or(i64::MAX)),
            When::Part(part) => Ok((self.end.0 as f64 * part).round() as i64),
            When::Instant(time) => Ok(since(time)),
            When::Local(time) => local(time),
            When::TimeOfDay(time) => {
                let mut date = self.start.to_zoned(self.zone.clone()).date();
                let mut place = local(date.to_datetime(time))?;
                if place < 0 {
                    // Before the start: the next day, if the recording goes on until then.
                    date = date.tomorrow().map_err(|error| error.to_string())?;
                    let next = local(date.to_datetime(time))?;
                    if next <= i64::try_from(self.end.0).unwrap_or(i64::MAX) {
                        place = next;
                    }
                }
                Ok(place)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_understood() {
        let since = |seconds: f64| Ok(When::Since(Elapsed((seconds * 1e6) as u64)));
        for (text, expected) in [
            ("12.5", since(12.5)),
            ("0", since(0.0)),
            ("1m30s", since(90.0)),
            ("1h 2m 3.5s", since(3723.5)),
            ("250ms", since(0.25)),
            ("50%", Ok(When::Part(0.5))),
            ("14:05:30", Ok(When::TimeOfDay(civil::time(14, 5, 30, 0)))),
            ("14:05", Ok(When::TimeOfDay(civil::time(14, 5, 0, 0)))),
            ("2026-11-21T14:05", Ok(When::Local(civil::datetime(2026, 11, 21, 14, 5, 0, 0)))),
            ("2026-11-21 14:05:01", Ok(When::Local(civil::datetime(2026, 11, 21, 14, 5, 1, 0)))),
            ("1970-01-01T00:00:01Z", Ok(When::Instant(Timestamp::new(1, 0).unwrap()))),
        ] {
            assert_eq!(when(text), expected, "{text}");
        }
        for text in
            ["", "potato", "-1", "101%", "nan", "inf", "%", "1q", "25:00", "m", "s5", "1e300"]
        {
            assert!(when(text).is_err(), "{text}: {:?}", when(text));
        }
    }

    #[test]
    fn ranges_are_open_where_nothing_is_written() {
        let since = |us| Some(When::Since(Elapsed(us)));
        assert_eq!(range("1..2"), Ok(Range(since(1_000_000), since(2_000_000))));
        assert_eq!(range("1.5..2"), Ok(Range(since(1_500_000), since(2_000_000))));
        assert_eq!(range(".."), Ok(Range(None, None)));
        assert_eq!(range("10%.."), Ok(Range(Some(When::Part(0.1)), None)));
        assert!(range("5").is_err() && range("a..b").is_err());
    }

    #[test]
    fn times_of_day_may_be_tomorrow() {
        // From 23:59:00 to 00:01:00 UTC.
        let start = 86_340_000_000;
        let span = Span::new(start, Elapsed(120_000_000), TimeZone::UTC);
        let place = |text: &str| span.place(when(text).unwrap());
        assert_eq!(place("23:59:30"), Ok(30_000_000));
        assert_eq!(place("00:00:30"), Ok(90_000_000));
        assert_eq!(place("50%"), Ok(60_000_000));
        assert_eq!(place("1970-01-02T00:00:00Z"), Ok(60_000_000));
        assert!(place("12:00").unwrap() < 0);
    }
}
