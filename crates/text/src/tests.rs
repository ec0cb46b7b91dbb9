use std::time::Duration;

use super::{Size, duration, size, some_size};

/// Each place had a grammar of its own: `--min 1TiB` and `size:4KiB` were refused, and `--above
/// 'every 2GiB'` accepted.
#[test]
fn sizes_have_one_grammar() {
    for (text, bytes) in [
        ("0", 0),
        ("512", 512),
        ("500b", 500),
        ("100k", 100 << 10),
        ("4KB", 4 << 10),
        ("4KiB", 4 << 10),
        ("1 kib", 1 << 10),
        ("20M", 20 << 20),
        ("1.5g", 3 << 29),
        ("2GiB", 2 << 30),
        ("1TiB", 1 << 40),
        (" 1T ", 1 << 40),
        ("8192T", 1 << 53),
        ("1.9B", 1),
    ] {
        assert_eq!(size(text), Ok(Size(bytes)), "{text}");
    }
    for text in [
        "",
        "M",
        "-1M",
        "+1",
        "20X",
        "1kk",
        "1e3",
        "1e999",
        "nan",
        "inf",
        "é",
        ".5K",
        "1.K",
        "ki",
        "1 2",
        "every 2GiB",
        "8193T",
        "99999999999999999999",
        "1K,2K",
        "1_000",
        "4KiBé",
    ] {
        assert!(size(text).is_err(), "{text}");
    }
    assert_eq!(size("4X").unwrap_err(), "\"X\" is not a unit; sizes are like 512, 4K, 1.5M, 2GiB");
    assert_eq!(some_size("1"), Ok(Size(1)));
    assert!(some_size("0").is_err() && some_size("0.5B").is_err());
}

#[test]
fn durations_have_one_grammar() {
    for (text, us) in [
        ("0", 0),
        ("12.5", 12_500_000),
        ("10s", 10_000_000),
        ("1.5m", 90_000_000),
        ("5min", 300_000_000),
        ("250ms", 250_000),
        ("3 us", 3),
        ("3\u{b5}s", 3),
        ("3\u{3bc}s", 3),
        ("1h2m3.5s", 3_723_500_000),
        (" 1h 2m 3.5s ", 3_723_500_000),
        ("2d", 172_800_000_000),
    ] {
        assert_eq!(duration(text), Ok(Duration::from_micros(us)), "{text}");
    }
    for text in [
        "",
        "x",
        "m",
        "s5",
        "-1s",
        "10 parsecs",
        "1e3",
        "inf",
        "nan",
        "0s30",
        "1m30",
        "1s,2s",
        "1s..",
        "10S",
        "40%",
        "999999999h",
        "1 2",
    ] {
        assert!(duration(text).is_err(), "{text}: {:?}", duration(text));
    }
}
