//! The address that opens a source file in an editor.

use crate::error::{Failure, Kind};

/// Names the editor where no option does.
const VARIABLE: &str = "MEMTRAIL_EDITOR";
/// Visual Studio Code; others that are made of it have a scheme of their own.
const DEFAULT: &str = "vscode://file{path}:{line}:{column}";

/// Schemes whose addresses a browser runs or shows by itself.
const REFUSED: [&str; 5] = ["javascript", "data", "vbscript", "blob", "file"];

/// An address with `{path}` in it, and `{line}` and `{column}` where an editor takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Editor(pub(super) String);

/// Reads such an address.
pub(super) fn parse(text: &str) -> Result<Editor, String> {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return Err(format!("no address of an editor; expected for example {DEFAULT}"));
    }
    if REFUSED.iter().any(|refused| scheme.eq_ignore_ascii_case(refused)) {
        return Err(format!("{scheme}: is no editor's address"));
    }
    if !text.contains("{path}") {
        return Err("{path} is missing, which stands for the file".to_owned());
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("an address has no spaces and no control characters".to_owned());
    }
    Ok(Editor(text.to_owned()))
}

/// That of the environment, or the usual one.
pub(super) fn of_environment() -> Result<Editor, Failure> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(Editor(DEFAULT.to_owned()));
    };
    parse(&text.to_string_lossy())
        .map_err(|error| Failure::new(Kind::Usage, format_args!("{VARIABLE}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_have_addresses() {
        for good in
            [DEFAULT, "idea://open?file={path}&line={line}", "http://localhost:8091/?{path}"]
        {
            assert_eq!(parse(good), Ok(Editor(good.to_owned())));
        }
        for bad in [
            "",
            "vim {path}",
            "{path}",
            "vscode://file/",
            "javascript:alert('{path}')",
            "JavaScript:{path}",
            "data:text/html,{path}",
            "file://{path}",
            "vscode://file/{path}:\n{line}",
            "1x://{path}",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
