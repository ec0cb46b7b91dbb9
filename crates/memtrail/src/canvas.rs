//! Lines of text that never exceed their width, whatever they contain.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
pub(crate) use memtrail_text::names::clean;
use unicode_width::UnicodeWidthChar;

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const CURVE: Style = AnsiColor::Cyan.on_default();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// Columns where no terminal says how many.
const COLUMNS: usize = 80;
/// More columns than that are not used: lines would be hard to follow.
pub(crate) const MAX_COLUMNS: usize = 240;

/// The columns to use: as asked for, as `COLUMNS` says, as the terminal has.
pub(crate) fn width(asked: Option<u16>) -> usize {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&n: &u16| n >= 40);
    let terminal = || {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
        Some(width)
    };
    let width = asked.or_else(variable).or_else(terminal);
    width.map_or(COLUMNS, usize::from).clamp(40, MAX_COLUMNS)
}

/// A text that grows line by line.
pub(crate) struct Canvas {
    width: usize,
    text: String,
}

impl Canvas {
    /// Nothing yet; lines have at most `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, text: String::new() }
    }

    /// Columns of a line.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Adds a line of several spans. What does not fit is cut off, with an ellipsis.
    pub(crate) fn line(&mut self, spans: &[(Style, &str)]) {
        let mut left = self.width;
        for (index, &(style, text)) in spans.iter().enumerate() {
            let text = clean(text);
            let rest: usize = spans[index + 1..].iter().map(|(_, text)| columns(text)).sum();
            // The ellipsis needs a column even where this span would just fit.
            let cut = columns(&text) + rest > left && columns(&text) + usize::from(rest > 0) > left;
            let shown =
                if cut { head(&text, left.saturating_sub(1)) + "…" } else { text.into_owned() };
            left -= columns(&shown).min(left);
            if style == PLAIN {
                self.text += &shown;
            } else {
                // Writing to a string cannot fail.
                let _ = write!(self.text, "{style}{shown}{style:#}");
            }
            if cut {
                break;
            }
        }
        // No blanks at the end of a line, as far as they are not inside a style.
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }

    /// Adds an empty line.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Adds a paragraph, broken between words; lines after the first are indented.
    pub(crate) fn paragraph(&mut self, style: Style, indent: usize, text: &str) {
        self.item(style, "", indent, text);
    }

    /// The same after a number or spaces.
    pub(crate) fn item(&mut self, style: Style, number: &str, indent: usize, text: &str) {
        let mut line = number.to_owned();
        let mut is_first = true;
        for word in clean(text).split(' ') {
            if columns(&line) + 1 + columns(word) > self.width && !line.trim().is_empty() {
                self.line(&[(style, &line)]);
                line = " ".repeat(indent);
            } else if !is_first && !line.is_empty() {
                line.push(' ');
            }
            line += word;
            is_first = false;
        }
        self.line(&[(style, &line)]);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(1)).sum()
}

/// A text without its beginning, if it is too long: for paths.
pub(crate) fn elide_start(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.into();
    }
    match width.checked_sub(1) {
        Some(room) => format!("…{}", tail(text, room)),
        None => String::new(),
    }
}

/// A text without its end, if it is too long: for types.
pub(crate) fn elide_end(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.into();
    }
    match width.checked_sub(1) {
        Some(room) => format!("{}…", head(text, room)),
        None => String::new(),
    }
}

/// A text without its middle, if it is too long: for names, whose ends say most.
pub(crate) fn elide_middle(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.into();
    }
    match width.checked_sub(1) {
        Some(room) => format!("{}…{}", head(text, room / 2), tail(text, room - room / 2)),
        None => String::new(),
    }
}

fn head(text: &str, width: usize) -> String {
    let mut left = width;
    let fits = |c: &char| {
        let width = c.width().unwrap_or(1);
        let fits = width <= left;
        left = if fits { left - width } else { 0 };
        fits
    };
    text.chars().take_while(fits).collect()
}

fn tail(text: &str, width: usize) -> String {
    let reversed: String = text.chars().rev().collect();
    head(&reversed, width).chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interesting_end_is_kept() {
        assert_eq!(elide_middle("Camlinternal.Make.reduce", 12), "Camli…reduce");
        assert_eq!(elide_start("/home/me/src/deep/file.ml", 10), "…p/file.ml");
        assert_eq!(elide_middle("abc", 0), "");
        assert_eq!(elide_middle("abcd", 4), "abcd");
        assert_eq!(elide_middle("宽宽宽", 4), "…宽");
    }

    #[test]
    fn lines_are_cut_where_the_width_ends() {
        let text = |spans: &[(Style, &str)]| {
            let mut canvas = Canvas::new(10);
            canvas.line(spans);
            canvas.finish()
        };
        assert_eq!(text(&[(PLAIN, "12345"), (PLAIN, "67890")]), "1234567890\n");
        assert_eq!(text(&[(PLAIN, "12345"), (PLAIN, "678901")]), "123456789…\n");
        assert_eq!(text(&[(PLAIN, "1234567890"), (PLAIN, "1")]), "123456789…\n");
        assert_eq!(text(&[(PLAIN, "a\u{1b}[2J\nb")]), "a\u{FFFD}[2J\u{FFFD}b\n");
    }

    #[test]
    fn paragraphs_break_between_words() {
        let mut canvas = Canvas::new(10);
        canvas.paragraph(PLAIN, 2, "one two three four");
        assert_eq!(canvas.finish(), "one two\n  three\n  four\n");
    }
}
