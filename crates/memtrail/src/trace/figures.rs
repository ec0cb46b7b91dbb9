//! Numbers as people read them.

/// Bytes with a unit and three digits; units are powers of 1,024.
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if !bytes.is_finite() {
        return "n/a".into();
    }
    let mut value = bytes;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Part of a whole, in percent with one digit.
pub(super) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}%", 100.0 * part / whole) } else { "n/a".into() }
}

/// A count with its thousands set apart.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_no_thousand() {
        let cases = [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1000.0, "0.98 KiB"),
            (1024.0 * 9.999, "10.0 KiB"),
            (1024.0 * 99.96, "100 KiB"),
            (1024.0 * 999.7, "0.98 MiB"),
            (1e30, "867362 EiB"),
            (f64::NAN, "n/a"),
        ];
        for (value, text) in cases {
            assert_eq!(bytes(value), text);
        }
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(percent(1.0, 0.0), "n/a");
        assert_eq!(percent(1.0, 3.0), "33.3%");
    }
}
