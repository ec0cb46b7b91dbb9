//! Numbers, sizes and times as people read them: three significant digits. The page has the same texts
//! (`web/src/text/units.ts`); `tests/rounded.json` holds both to it.
//!
//! No library writes these: `bytesize` has a fixed number of decimals, `jiff` exact durations.

/// Three significant digits, no exponent.
fn three(value: f64) -> usize {
    if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    }
}

/// The power of 1,024 that leaves less than a thousand.
fn scale(bytes: f64) -> (f64, &'static str) {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut factor, mut unit) = (1.0, 0);
    while bytes / factor >= 999.5 && unit + 1 < UNITS.len() {
        factor *= 1024.0;
        unit += 1;
    }
    (factor, UNITS[unit])
}

/// `13.2 MiB`.
pub fn bytes(bytes: f64) -> String {
    let (factor, unit) = scale(bytes);
    let value = bytes / factor;
    let digits = if unit == "B" { 0 } else { three(value) };
    format!("{value:.digits$} {unit}")
}

/// `13.2 ±0.6 MiB`: both in the unit and with as many decimals as the larger one. One more is shown if the error would read 0
/// without it; an error that is smaller still is left out, as is one of 0.
pub fn bytes_with_error(value: f64, stderr: f64) -> String {
    let (factor, unit) = scale(value.max(stderr));
    let (scaled, stderr) = (value / factor, stderr / factor);
    let digits = if unit == "B" { 0 } else { three(scaled.max(stderr)) };
    let shows = |digits: usize| stderr >= 0.5 / 10_f64.powi(digits as i32);
    if shows(digits) {
        format!("{scaled:.digits$} ±{stderr:.digits$} {unit}")
    } else if unit != "B" && digits < 2 && shows(digits + 1) {
        format!("{scaled:.*} ±{stderr:.*} {unit}", digits + 1, digits + 1)
    } else {
        bytes(value)
    }
}

/// `0.4–13.6 MiB`: both in the unit and with as many decimals as the larger one.
pub fn bytes_between(low: f64, high: f64) -> String {
    let (factor, unit) = scale(high);
    let (low, high) = (low / factor, high / factor);
    let digits = if unit == "B" { 0 } else { three(high) };
    format!("{low:.digits$}–{high:.digits$} {unit}")
}

/// A number of things: `1,234`, `99.1 k`, `4.61 M`.
pub fn count(number: f64) -> String {
    if number < 9_999.5 {
        return grouped(number.round() as u64);
    }
    let (mut value, mut units) = (number / 1e3, ["k", "M", "G", "T", "P", "E"].iter());
    let mut unit = units.next().copied().unwrap_or_default();
    while value >= 999.5
        && let Some(next) = units.next()
    {
        value /= 1e3;
        unit = next;
    }
    let digits = three(value);
    format!("{value:.digits$} {unit}")
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Part of a whole, 0 of nothing.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A share of 1, in percent: a digit after the point only where it tells something.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else if percent < 0.05 {
        "<0.1 %".into()
    } else {
        format!("{percent:.1} %")
    }
}

/// `0.31 s`, `42 s`, `3m05s`, `2h14m`, `9d03h`.
pub fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    if seconds == 0.0 {
        "0 s".into()
    } else if seconds < 0.000_999_5 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 0.099_95 {
        format!("{:.*} ms", usize::from(seconds < 0.009_95), seconds * 1e3)
    } else if seconds < 9.995 {
        format!("{seconds:.2} s")
    } else if seconds < 99.95 {
        format!("{seconds:.1} s")
    } else if whole < 3600 {
        format!("{}m{:02}s", whole / 60, whole % 60)
    } else if whole < 2 * 86_400 {
        format!("{}h{:02}m", whole / 3600, whole / 60 % 60)
    } else {
        format!("{}d{:02}h", whole / 86_400, whole / 3600 % 24)
    }
}
