//! Sampling rates as people write them.

use memtrail_text::Size;

/// Bytes in a word of the programs we record.
const WORD: f64 = 8.0;

/// Understands `1e-4` (samples per word), `512KiB` and `one sample per 512 KiB`.
pub(crate) fn parse(text: &str) -> Result<f64, String> {
    let rate = match text.trim().parse::<f64>() {
        Ok(rate) => rate,
        Err(_) => WORD / distance(text)?,
    };
    if rate > 0.0 && rate <= 1.0 {
        Ok(rate)
    } else {
        Err("a rate is above 0 and at most 1 sample per word; usual are 1e-5 to 1e-3, \
             or a distance such as 512KiB"
            .into())
    }
}

/// Understands `512KiB` and `one sample per 512 KiB`.
fn distance(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let rest = text.strip_prefix("one sample").unwrap_or(text).trim_start();
    let rest = ["per", "every", "1/"].iter().find_map(|p| rest.strip_prefix(p)).unwrap_or(rest);
    let Size(bytes) = memtrail_text::some_size(rest).map_err(|_| {
        format!("`{text}` is neither a number of samples per word (1e-4) nor a distance (512KiB)")
    })?;
    Ok(bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rates_and_distances_mean_the_same() {
        let per_word = 8.0 / (512.0 * 1024.0);
        for text in ["512KiB", "512 kib", "512k", "524288b", "one sample per 512 KiB", "1/512KiB"] {
            assert_eq!(parse(text), Ok(per_word), "{text}");
        }
        assert_eq!(parse("1e-4"), Ok(1e-4));
        assert_eq!(parse("1"), Ok(1.0));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["0", "-1", "1.5", "nan", "inf", "", "potato", "1e-3x", "4b", "KiB", "512 pints"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
