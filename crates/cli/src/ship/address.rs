//! The address of a destination.

use std::fmt;
use std::str::FromStr;

use ureq::http::Uri;

/// Scheme, host, port and path. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Without a slash at its end.
    text: String,
    pub(super) is_encrypted: bool,
    pub(super) is_loopback: bool,
}

impl Address {
    /// The address of something below it.
    pub(super) fn below(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Address {
    type Err = String;

    /// Errors do not repeat the text: it may have a password in it.
    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error| format!("no address: {error}"))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("an address begins with http:// or https://".to_owned()),
        };
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') {
            return Err("credentials in an address are visible to all users of the machine; use --auth-file, \
                        or MEMTRAIL_SHIP_USER and MEMTRAIL_SHIP_PASSWORD"
                .to_owned());
        }
        if uri.query().is_some() {
            return Err("an address has no query; credentials come from --auth-file".to_owned());
        }
        let Some(host) = uri.host().filter(|host| !host.is_empty()) else {
            return Err("an address names a host".to_owned());
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        let scheme = if is_encrypted { "https" } else { "http" };
        let path = uri.path().trim_end_matches('/');
        Ok(Self { text: format!("{scheme}://{authority}{path}"), is_encrypted, is_loopback })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_secrets_are_taken() {
        let address: Address = "http://[::1]:4040/".parse().unwrap();
        assert_eq!(address.below("/x"), "http://[::1]:4040/x");
        assert!(address.is_loopback && !address.is_encrypted);
        let address: Address = "https://profiles.example/base/".parse().unwrap();
        assert_eq!(address.to_string(), "https://profiles.example/base");
        assert!(!address.is_loopback && address.is_encrypted);
    }

    #[test]
    fn secrets_in_an_address_are_refused_and_not_repeated() {
        for text in
            ["http://user:sesame@host", "https://host/?token=sesame", "sesame", "ftp://sesame"]
        {
            let error = text.parse::<Address>().unwrap_err();
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
