//! Credentials: from a file or the environment, never from arguments, which all users can see.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Failure, Kind};

/// The value of the header `Authorization`, which is never printed.
pub(super) struct Credentials {
    header: String,
    parts: Vec<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    fn bearer(token: &str) -> Self {
        Self { header: format!("Bearer {token}"), parts: vec![token.to_owned()] }
    }

    fn basic(user: &str, password: &str) -> Self {
        let encoded = STANDARD.encode(format!("{user}:{password}"));
        Self { header: format!("Basic {encoded}"), parts: vec![encoded, password.to_owned()] }
    }

    /// The header's value.
    pub(super) fn header(&self) -> &str {
        &self.header
    }

    /// A text without secrets, should a server repeat them.
    pub(super) fn scrub(&self, text: &str) -> String {
        let secrets = self.parts.iter().filter(|part| !part.is_empty());
        secrets.fold(text.to_owned(), |text, part| text.replace(part, "[secret]"))
    }
}

/// Credentials from a file, or else from the environment, or none.
pub(super) fn find(file: Option<&Path>) -> Result<Option<Credentials>, Failure> {
    if let Some(file) = file {
        return read(file).map(Some);
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(token) = variable("MEMTRAIL_SHIP_TOKEN") {
        return check(Credentials::bearer(token.trim()), "MEMTRAIL_SHIP_TOKEN").map(Some);
    }
    match (variable("MEMTRAIL_SHIP_USER"), variable("MEMTRAIL_SHIP_PASSWORD")) {
        (None, None) => Ok(None),
        (Some(user), Some(password)) => Ok(Some(Credentials::basic(&user, &password))),
        _ => Err(Failure::new(
            Kind::Usage,
            "of MEMTRAIL_SHIP_USER and MEMTRAIL_SHIP_PASSWORD one is missing",
        )
        .hint("a token alone is in MEMTRAIL_SHIP_TOKEN")),
    }
}

fn read(path: &Path) -> Result<Credentials, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::unreadable(path, &error)
            .or_hint("--auth-file names a file with a token, or with `basic USER:PASSWORD`")
    };
    let mode = fs::metadata(path).map_err(cannot)?.permissions().mode();
    if mode & 0o007 != 0 {
        let message =
            format_args!("{} is open to all users (mode {:03o})", path.display(), mode & 0o777);
        return Err(Failure::new(Kind::Input, message)
            .hint(format_args!("chmod 600 {}", crate::shell_quote::path(path))));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    let name = path.display().to_string();
    parse(text.trim()).ok_or_else(|| no_credentials(&name)).and_then(|found| check(found, &name))
}

fn parse(text: &str) -> Option<Credentials> {
    let words: Vec<&str> = text.splitn(2, char::is_whitespace).map(str::trim).collect();
    match words.as_slice() {
        [kind, pair] if kind.eq_ignore_ascii_case("basic") => {
            let (user, password) = pair.split_once(':')?;
            Some(Credentials::basic(user, password))
        }
        [kind, token] if kind.eq_ignore_ascii_case("bearer") => Some(Credentials::bearer(token)),
        [token] if !token.is_empty() => Some(Credentials::bearer(token)),
        _ => None,
    }
}

/// Refuses what cannot be a header.
fn check(found: Credentials, name: &str) -> Result<Credentials, Failure> {
    let is_header = found.header.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_header { Ok(found) } else { Err(no_credentials(name)) }
}

fn no_credentials(name: &str) -> Failure {
    Failure::new(Kind::Input, format_args!("{name} has no credentials"))
        .hint("one line: a token, or `basic USER:PASSWORD`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_token_or_a_user() {
        let header = |text| parse(text).map(|found| found.header);
        assert_eq!(header("sesame").as_deref(), Some("Bearer sesame"));
        assert_eq!(header("Bearer sesame").as_deref(), Some("Bearer sesame"));
        assert_eq!(header("basic ali:sesame").as_deref(), Some("Basic YWxpOnNlc2FtZQ=="));
        assert_eq!(header(""), None);
        assert_eq!(header("open sesame now"), None);
        let found = Credentials::basic("ali", "sesame");
        assert_eq!(found.scrub("no sesame YWxpOnNlc2FtZQ=="), "no [secret] [secret]");
    }
}
