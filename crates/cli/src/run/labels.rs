//! The option `--label`.

/// Reads `KEY=VALUE`.
pub(crate) fn parse(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("a label is KEY=VALUE, such as service.name=shop".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_key_and_a_value() {
        let label = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(parse("service.name=shop"), label("service.name", "shop"));
        assert_eq!(parse("url=a=b"), label("url", "a=b"));
        assert_eq!(parse("empty="), label("empty", ""));
        assert!(parse("shop").is_err() && parse("=shop").is_err());
    }
}
