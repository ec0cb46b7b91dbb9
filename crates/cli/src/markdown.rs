//! Text for Markdown: names in it come from recordings, which may hold anything.

/// Text without markup, on one line.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text as code, on one line; a backtick in it becomes an apostrophe.
pub(crate) fn code(text: &str) -> String {
    let plain = |c: char| match c {
        '`' => '\'',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    format!("`{}`", text.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a|b `c` <d>\n"), r"a\|b \`c\` \<d\>".to_owned() + "\u{FFFD}");
        assert_eq!(escaped("@everyone"), r"\@everyone");
        assert_eq!(code("a`b`\n|"), "`a'b'\u{FFFD}|`");
    }
}
