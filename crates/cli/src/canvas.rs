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
    known_width(asked).unwrap_or(COLUMNS)
}

fn known_width(asked: Option<u16>) -> Option<usize> {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&n: &u16| n >= 40);
    let terminal = || {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
        Some(width)
    };
    let width = asked.or_else(variable).or_else(terminal)?;
    Some(usize::from(width).clamp(40, MAX_COLUMNS))
}

/// Between columns of a table.
const GAP: &str = "  ";
/// Columns by which further lines are indented more than the first.
const INDENT: usize = 4;

/// A text that grows line by line.
pub(crate) struct Canvas {
    width: usize,
    /// Columns of a line that is not broken.
    limit: usize,
    text: String,
}

impl Canvas {
    /// Nothing yet; lines have at most `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, limit: width, text: String::new() }
    }

    /// Nothing yet. Only paragraphs are broken if no width is asked for and the output is no terminal.
    pub(crate) fn of_output(asked: Option<u16>) -> Self {
        let known = known_width(asked);
        Self {
            width: known.unwrap_or(COLUMNS),
            limit: known.unwrap_or(usize::MAX),
            text: String::new(),
        }
    }

    /// Columns of a paragraph.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Columns of a line that is not broken.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Adds a line of several spans. What does not fit is on further lines, which are indented: no figure is cut.
    pub(crate) fn line(&mut self, spans: &[(Style, &str)]) {
        let mut left = self.limit;
        let mut indent = None;
        for &(style, text) in spans {
            let text = clean(text);
            let blanks = || text.len() - text.trim_start_matches(' ').len();
            let indent = *indent.get_or_insert_with(|| (blanks() + INDENT).min(self.limit / 2));
            let room = self.limit.saturating_sub(indent);
            let mut rest = text.as_ref();
            if columns(rest) > left && columns(rest.trim_end()) <= left {
                // The blanks fill the line.
                (rest, left) = (rest.trim_end(), columns(rest.trim_end()));
            }
            let first_word = blanks() + columns(rest.trim_start().split(' ').next().unwrap_or(""));
            // A column of a table goes as a whole.
            let is_column = rest.starts_with(' ') && columns(rest.trim_start()) <= room;
            if columns(rest) > left && (first_word > left || is_column) && left < room {
                (rest, left) = (rest.trim_start(), room);
                self.break_line(indent);
            }
            for (place, part) in wrapped(rest, left, room).iter().enumerate() {
                if place > 0 {
                    self.break_line(indent);
                    left = room;
                }
                left -= columns(part).min(left);
                if style == PLAIN {
                    self.text += part;
                } else {
                    // Writing to a string cannot fail.
                    let _ = write!(self.text, "{style}{part}{style:#}");
                }
            }
        }
        self.end_line();
    }

    fn break_line(&mut self, indent: usize) {
        self.end_line();
        self.text += &" ".repeat(indent);
    }

    /// No blanks at the end of a line, as far as they are not inside a style.
    fn end_line(&mut self) {
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

/// Breaks a text into lines: the first of at most `first` columns, others of at most `next`. It breaks between columns of a table,
/// else after a space, or in longer words after a sign between names. Nothing is lost.
pub(crate) fn wrapped(text: &str, first: usize, next: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut rest, mut room) = (text, first);
    while columns(rest) > room {
        let part = head(rest, room.max(1));
        let ends_in_space = rest[part.len()..].starts_with(' ') && !part.trim().contains(GAP)
            || rest[part.len()..].starts_with(GAP);
        let after = |is_break: fn(char) -> bool| part.rfind(is_break).map(|at| at + 1);
        let at = if ends_in_space {
            part.len()
        } else {
            let is_inside = |at: &usize| !part[..*at].trim().is_empty();
            let gap = part.rfind(GAP).map(|at| at + GAP.len()).filter(is_inside);
            let word = after(|c| c == ' ').filter(is_inside);
            gap.or(word)
                .or_else(|| after(|c| matches!(c, '.' | '/' | ',' | '-' | '_')))
                .unwrap_or(part.len())
        };
        let (line, after) = rest.split_at(at.max(1));
        lines.push(line.trim_end().to_owned());
        (rest, room) = (after.trim_start(), next);
    }
    lines.push(rest.to_owned());
    lines
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
    fn lines_break_between_words_and_names() {
        let lines = |text: &str, first: usize, next: usize| wrapped(text, first, next).join("|");
        assert_eq!(lines("Shop.Handler.try_bind", 40, 38), "Shop.Handler.try_bind");
        assert_eq!(lines("Shop.Handler.try_bind", 14, 12), "Shop.Handler.|try_bind");
        assert_eq!(lines("a → Cache.table → page", 16, 12), "a → Cache.table|→ page");
        assert_eq!(lines("abcdefghij", 4, 3), "abcd|efg|hij");
        assert_eq!(lines("1 MiB  85 to 800 KiB", 13, 20), "1 MiB|85 to 800 KiB");
        assert_eq!(lines("1 MiB  2 MiB  page", 12, 20), "1 MiB  2 MiB|page");
        assert_eq!(lines("宽宽宽", 4, 4), "宽宽|宽");
    }

    #[test]
    fn lines_go_on_in_the_next_one_where_the_width_ends() {
        let text = |spans: &[(Style, &str)]| {
            let mut canvas = Canvas::new(10);
            canvas.line(spans);
            canvas.finish()
        };
        assert_eq!(text(&[(PLAIN, "12345"), (PLAIN, "67890")]), "1234567890\n");
        assert_eq!(text(&[(PLAIN, "12345"), (PLAIN, "678901")]), "12345\n    678901\n");
        assert_eq!(text(&[(PLAIN, "1234567890"), (PLAIN, "1")]), "1234567890\n    1\n");
        assert_eq!(text(&[(PLAIN, "12345       "), (PLAIN, "1")]), "12345\n    1\n");
        assert_eq!(text(&[(PLAIN, "1 % of the peak")]), "1 % of the\n    peak\n");
        assert_eq!(text(&[(PLAIN, "1 KiB"), (PLAIN, "  7.8 M")]), "1 KiB\n    7.8 M\n");
        assert_eq!(text(&[(PLAIN, "a\u{1b}[2J\nb")]), "a\u{FFFD}[2J\u{FFFD}b\n");
    }

    #[test]
    fn paragraphs_break_between_words() {
        let mut canvas = Canvas::new(10);
        canvas.paragraph(PLAIN, 2, "one two three four");
        assert_eq!(canvas.finish(), "one two\n  three\n  four\n");
    }
}
