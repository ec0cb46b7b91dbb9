//! Words as one would type them into a shell.

use std::path::Path;

/// A path: relative if it is below the current folder, quoted where it has to be.
pub(crate) fn path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.as_deref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    shell_quote(&short.display().to_string())
}

/// A word, quoted where it has to be.
pub(crate) fn shell_quote(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        for (text, typed) in [
            ("live:10%..90%", "live:10%..90%"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$x;y", "'$x;y'"),
            ("", "''"),
        ] {
            assert_eq!(shell_quote(text), typed);
        }
    }
}
