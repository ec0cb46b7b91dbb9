//! How declarations are laid out: a line for each field, so that changes are seen as such.

/// A declaration as lines.
pub(super) fn lines(declaration: &str) -> String {
    let mut lines = Lines::default();
    let mut rest = declaration;
    while let Some(first) = rest.chars().next() {
        let end = if rest.starts_with("/**") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            lines.comment(&rest[..end]);
            end
        } else if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
            lines.text.push_str(&rest[..end]);
            end
        } else {
            lines.character(first);
            first.len_utf8()
        };
        rest = &rest[end..];
    }
    lines.text.truncate(lines.text.trim_end().len());
    lines.text + "\n"
}

#[derive(Default)]
struct Lines {
    text: String,
    /// Braces that are open.
    depth: usize,
    /// Brackets within these, whose contents stay on a line.
    nested: usize,
}

impl Lines {
    /// Begins a line, unless nothing is on the present one.
    fn begin(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&"  ".repeat(self.depth));
    }

    fn is_at_begin(&self) -> bool {
        let text = self.text.trim_end_matches(' ');
        text.is_empty() || text.ends_with('\n')
    }

    fn comment(&mut self, comment: &str) {
        let lines: Vec<&str> = comment.lines().map(str::trim).collect();
        self.begin();
        if let ["/**", line, "*/"] = lines[..] {
            self.text.push_str(&line.replacen('*', "/**", 1));
            self.text.push_str(" */");
        } else {
            for (index, line) in lines.into_iter().enumerate() {
                if index > 0 {
                    self.begin();
                    self.text.push(' ');
                }
                self.text.push_str(line);
            }
        }
        self.begin();
    }

    fn character(&mut self, c: char) {
        match c {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.begin();
            }
            '<' | '[' => self.nested += 1,
            '>' | ']' => self.nested = self.nested.saturating_sub(1),
            _ if c.is_whitespace() => {
                if !self.is_at_begin() {
                    self.text.push(' ');
                }
                return;
            }
            _ => {}
        }
        self.text.push(c);
        if c == '{' || (c == ',' && self.nested == 0 && self.depth > 0) {
            self.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn each_field_has_a_line() {
        let declaration = "/**\n * A side.\n */\nexport type Side = { \n/**\n * Which\n * one.\n */\n\
                           rec: number, pair: [number, \"a, b\"], more: { a: string, }, };";
        let expected = "\
/** A side. */
export type Side = {
  /**
   * Which
   * one.
   */
  rec: number,
  pair: [number, \"a, b\"],
  more: {
    a: string,
  },
};
";
        assert_eq!(lines(declaration), expected);
    }
}
