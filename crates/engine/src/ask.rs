//! What can be asked. `{"ask": "flame", "rec": 0, "filter": ["live:end"], "cutoff": 0.001}`
//!
//! Everything but `ask` may be left out. Fields that do not exist are refused, and so are values
//! beyond what a page could show.

use serde::Deserialize;

use crate::refusal::Refusal;

/// Bytes that an ask may have.
const LONGEST: usize = 1 << 18;

/// An ask.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub enum Ask {
    /// What recordings there are.
    About(About),
}

/// What recordings there are, and what is recorded of each run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {}

impl Ask {
    /// Reads an ask.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > LONGEST {
            let message = format_args!("an ask of {} bytes, more than {LONGEST}", bytes.len());
            return Err(Refusal::bad(message));
        }
        serde_json::from_slice(bytes)
            .map_err(|error| Refusal::bad(format_args!("malformed ask: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_are_read() {
        assert_eq!(Ask::parse(br#"{"ask":"about"}"#), Ok(Ask::About(About {})));
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for ask in ["", "{}", "[]", r#"{"ask":"nothing"}"#, r#"{"ask":"about","reck":0}"#] {
            let refusal = Ask::parse(ask.as_bytes()).unwrap_err();
            assert!(refusal.message.starts_with("malformed ask: "), "{ask}: {refusal}");
        }
        assert!(Ask::parse(&vec![b'['; LONGEST]).is_err());
        assert!(Ask::parse(&vec![b' '; LONGEST + 1]).is_err());
    }
}
