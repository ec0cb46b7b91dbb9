//! The secret part of the page's address.

use std::fmt::Write as _;

use subtle::ConstantTimeEq as _;

/// 128 random bits in hexadecimal: whoever knows them may see the recordings.
///
/// Other users of the machine can reach a loopback port, and so can every web page that is open
/// in the user's browser. None of them can guess this.
pub(crate) struct Token(String);

impl Token {
    /// A fresh one, from the system's randomness.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// Whether `candidate` is the token, in time that tells nothing about where they differ.
    pub(crate) fn is(&self, candidate: &str) -> bool {
        self.0.as_bytes().ct_eq(candidate.as_bytes()).into()
    }

    /// As it is in an address.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_128_bits_and_differ() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 32);
        assert!(one.text().bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(one.is(one.text()) && !one.is(other.text()));
        assert!(!one.is("") && !one.is(&one.text()[..31]) && !one.is(&format!("{}0", one.text())));
    }
}
