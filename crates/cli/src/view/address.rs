//! The page's address with the filter that it begins with.

use std::fmt::Write as _;

use memtrail_profile::filter::Filter;

use crate::error::{Failure, Kind};

/// Says what is wrong with a filter before anything is read.
pub(crate) fn check_filter(filters: &[String]) -> Result<(), Failure> {
    Filter::parse(filters).map(|_| ()).map_err(|error| {
        let condition = filters.get(error.condition).map_or("", String::as_str);
        let failure = Failure::new(Kind::Usage, format_args!("{condition}: {error}"));
        match &error.hint {
            Some(hint) => failure.hint(hint),
            None => failure.hint("`memtrail view --help` shows what filters look like"),
        }
    })
}

/// What stands behind `#` in the address, as the page writes it itself.
pub(crate) fn fragment(filters: &[String]) -> String {
    let mut text = String::new();
    for filter in filters {
        text.push_str(if text.is_empty() { "f=" } else { "&f=" });
        for byte in filter.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~:,/".contains(&byte) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_filter_ends_it_early() {
        let filters = ["live:10%..90%".into(), "in:a&b=c#d+e é".into()];
        assert_eq!(fragment(&filters), "f=live:10%25..90%25&f=in:a%26b%3Dc%23d%2Be%20%C3%A9");
        assert_eq!(fragment(&[]), "");
    }

    #[test]
    fn what_is_no_filter_is_named() {
        let error = check_filter(&["live:end".into(), "nothing:1".into()]).unwrap_err();
        assert!(format!("{error:?}").contains("nothing:1"), "{error:?}");
        assert!(check_filter(&["live:end".into(), "-in:~x".into()]).is_ok());
    }
}
