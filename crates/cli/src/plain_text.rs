//! Text on standard output that is not drawn on a [`Canvas`](crate::canvas::Canvas): names in it cannot control the terminal.

use std::io::{self, BufWriter, Write};

use crate::canvas;

/// Standard output for JSON, which escapes by itself, or for text.
pub(crate) fn standard_output(is_json: bool) -> BufWriter<Box<dyn Write>> {
    let out = io::stdout().lock();
    let out: Box<dyn Write> = if is_json { Box::new(out) } else { Box::new(PlainText::new(out)) };
    BufWriter::with_capacity(1 << 16, out)
}

/// Writes whole lines, without control characters and what is not UTF-8. The end of a text is written when it is flushed.
pub(crate) struct PlainText<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> PlainText<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }

    fn put_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.out.write_all(canvas::clean(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl<W: Write> Write for PlainText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        self.line.extend_from_slice(lines.next().unwrap_or_default());
        for next in lines {
            self.put_line()?;
            self.out.write_all(b"\n")?;
            self.line.extend_from_slice(next);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put_line()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_wherever_a_text_is_cut() {
        let text = "caf\u{e9} \u{1b}]0;evil\u{7}\n\u{9b}2J\u{202E}\n\nend".as_bytes();
        for cut in 0..=text.len() {
            let mut out = PlainText::new(Vec::new());
            out.write_all(&text[..cut]).unwrap();
            out.write_all(&text[cut..]).unwrap();
            out.flush().unwrap();
            let expected = "caf\u{e9} \u{FFFD}]0;evil\u{FFFD}\n\u{FFFD}2J\u{FFFD}\n\nend";
            assert_eq!(String::from_utf8(out.out).unwrap(), expected, "{cut}");
        }
    }
}
