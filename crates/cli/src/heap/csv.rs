//! Tables for spreadsheets, as RFC 4180 has them.

use std::io::{BufWriter, Write as _};

use crate::error::Failure;

/// Prints a table on standard output.
pub(super) fn print(
    titles: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    write!(out, "{}", line(titles))?;
    for row in rows {
        write!(out, "{}", line(&row))?;
    }
    out.flush()?;
    Ok(())
}

fn line(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text.as_ref())).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    // A spreadsheet computes what begins with these, also where a program's data gave the name.
    let computed = match text.as_bytes() {
        [b'=' | b'@' | b'\t' | b'\r', ..] | [b'+' | b'-'] => true,
        [b'+' | b'-', next, ..] => !next.is_ascii_digit() && *next != b'.',
        _ => false,
    };
    let text = if computed { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_nothing_is_computed() {
        let cells = ["a \"b\", c", "x\ny", "-3.5", "=1+1", "-f"];
        assert_eq!(line(&cells), "\"a \"\"b\"\", c\",\"x\ny\",-3.5,'=1+1,'-f\r\n");
    }
}
