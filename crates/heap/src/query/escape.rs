//! Strings as OCaml writes them.

use std::fmt::Write as _;

/// Bytes as they stand between the quotes of an OCaml string; letters beyond ASCII stay as they are.
/// Where `is_cut`, a letter whose bytes are not all there is left out at the end.
pub fn escaped(bytes: &[u8], is_cut: bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        for letter in chunk.valid().chars() {
            match letter {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\u{8}' => text.push_str("\\b"),
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                letter if letter.is_ascii_control() => decimal(&mut text, letter as u8),
                // Letters that cannot be seen, or turn the direction of others.
                letter if letter.is_control() || is_invisible(letter) => {
                    let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
                }
                letter => text.push(letter),
            }
        }
        let is_begun = chunks.peek().is_none() && is_cut && begins_a_letter(chunk.invalid());
        if !is_begun {
            chunk.invalid().iter().for_each(|byte| decimal(&mut text, *byte));
        }
    }
    text
}

fn decimal(text: &mut String, byte: u8) {
    let _ = write!(text, "\\{byte:03}");
}

const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether more bytes could make a letter of these.
fn begins_a_letter(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn bytes_are_written_as_ocaml_writes_them() {
        assert_eq!(escaped(b"a\0b\x7f\n\t\"\\", false), r#"a\000b\127\n\t\"\\"#);
        assert_eq!(escaped("naïve".as_bytes(), false), "naïve");
        assert_eq!(escaped(b"\xff\xc3", false), r"\255\195");
        assert_eq!(escaped(b"\xff\xc3", true), r"\255");
        assert_eq!(escaped("\u{202e}".as_bytes(), false), r"\u{202e}");
    }
}
