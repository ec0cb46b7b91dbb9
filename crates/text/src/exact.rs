//! Sizes and durations without rounding: as users type them, and in words.

use std::time::Duration;

use crate::Size;

/// As users type it: `12.5s`.
pub fn typed_duration(time: Duration) -> String {
    decimal(time.as_micros() as u64, 6) + "s"
}

/// As users type it: `4K`, `1500`.
pub fn typed_size(Size(bytes): Size) -> String {
    for (unit, shift) in [('T', 40), ('G', 30), ('M', 20), ('K', 10)] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// `number / 10^places`, without zeros at its end: `12.5`.
pub fn decimal(number: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let whole = number / unit;
    if number.is_multiple_of(unit) {
        return whole.to_string();
    }
    let fraction = format!("{:0places$}", number % unit, places = places as usize);
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// With its units: `1 h 2 min 3.5 s`, `250 ms`.
pub fn duration_in_words(time: Duration) -> String {
    let us = time.as_micros() as u64;
    match us {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{us} µs"),
        1_000..1_000_000 => return format!("{} ms", decimal(us, 3)),
        1_000_000..60_000_000 => return format!("{} s", decimal(us, 6)),
        _ => {}
    }
    let (hours, minutes, seconds) = (us / 3_600_000_000, us / 60_000_000 % 60, us % 60_000_000);
    let parts = [(hours, 0, "h"), (minutes, 0, "min"), (seconds, 6, "s")];
    let parts = parts.iter().filter(|(number, ..)| *number > 0);
    let words = parts.map(|(number, places, unit)| format!("{} {unit}", decimal(*number, *places)));
    words.collect::<Vec<_>>().join(" ")
}

/// With its unit, to two decimal places: `1.5 MiB`.
pub fn size_in_words(Size(bytes): Size) -> String {
    for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        let number = bytes as f64 / (1_u64 << shift) as f64;
        if number >= 1.0 {
            return format!("{} {unit}", (number * 100.0).round() / 100.0);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{duration, size};

    #[test]
    fn what_is_typed_reads_back() {
        for (us, typed, words) in [
            (0, "0s", "0 s"),
            (20, "0.00002s", "20 µs"),
            (1_500, "0.0015s", "1.5 ms"),
            (12_500_000, "12.5s", "12.5 s"),
            (60_000_000, "60s", "1 min"),
            (3_723_500_000, "3723.5s", "1 h 2 min 3.5 s"),
        ] {
            let time = Duration::from_micros(us);
            assert_eq!(typed_duration(time), typed);
            assert_eq!(duration(typed), Ok(time));
            assert_eq!(duration_in_words(time), words);
        }
        for (bytes, typed, words) in [
            (0, "0", "0 B"),
            (1_500, "1500", "1.46 KiB"),
            (4 << 10, "4K", "4 KiB"),
            (3 << 19, "1536K", "1.5 MiB"),
            (2 << 30, "2G", "2 GiB"),
        ] {
            assert_eq!(typed_size(Size(bytes)), typed);
            assert_eq!(size(typed), Ok(Size(bytes)));
            assert_eq!(size_in_words(Size(bytes)), words);
        }
    }
}
