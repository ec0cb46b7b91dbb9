//! Sizes as people read them, for pictures.

/// `13.2 MiB`: three significant digits.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 || value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn three_digits_of_any_size() {
        let sizes = [0.0, 999.0, 1000.0, 1536.0, 10_240.0, 1e6, 1e9, 1e300];
        let texts = sizes.map(bytes);
        assert_eq!(texts[..6], ["0 B", "999 B", "0.98 KiB", "1.50 KiB", "10.0 KiB", "977 KiB"]);
        assert_eq!(texts[6], "954 MiB");
        assert!(texts[7].ends_with(" EiB"));
    }
}
