//! Folded stacks: a line a call path, functions separated by `;`, outermost first, then a space and
//! bytes. What Brendan Gregg's `flamegraph.pl`, inferno and many other tools read.
//!
//! Of a function that occurs several times on a path, only the outermost occurrence is written, as on
//! the page: each line is a whole path, and there would be gigabytes of some programs. A `;` or a line
//! end within a name becomes `:`, as the format has no way to say it.

use std::fmt::Display;
use std::io::{self, Write};

use crate::naming::UNKNOWN;
use crate::paths::{Paths, Step};
use crate::selection::Selection;
use crate::weight::Rounding;

/// The bytes allocated on each call path.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    let paths = Paths::of_functions(selection);
    let names: Vec<_> =
        paths.frames.iter().map(|site| selection.naming.function(site.function)).collect();
    let bytes_per_sample = selection.profile.estimator.bytes_per_sample();
    let mut rounding = Rounding::default();
    let mut bytes = |samples: u64| rounding.next(samples as f64 * bytes_per_sample);
    let mut lines = Lines::new(Vec::new());
    let mut write = |lines: &mut Lines<Vec<u8>>, samples: u64| match bytes(samples) {
        0 => {}
        bytes => lines.end(bytes).expect("writing into memory does not fail"),
    };
    lines.enter(UNKNOWN.as_bytes());
    write(&mut lines, paths.own(0).samples);
    lines.leave();
    for step in paths.walk() {
        match step {
            Step::Enter(node) => {
                lines.enter(names[paths.frame(node)].as_bytes());
                write(&mut lines, paths.own(node).samples);
            }
            Step::Leave(_) => lines.leave(),
        }
    }
    lines.out
}

/// Writes lines of folded stacks: a line is the functions that were entered and not left.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    line: Vec<u8>,
    /// How long the line was before each function.
    lengths: Vec<usize>,
}

impl<W: Write> Lines<W> {
    /// What was written.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// No function has been entered.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new(), lengths: Vec::new() }
    }

    /// Adds a function at the inner end. Names that programs give may hold anything.
    pub fn enter(&mut self, name: &[u8]) {
        self.lengths.push(self.line.len());
        if self.lengths.len() > 1 {
            self.line.push(b';');
        }
        if name.iter().any(|&byte| is_separator(byte)) {
            self.line.extend(name.iter().map(|&b| if is_separator(b) { b':' } else { b }));
        } else {
            self.line.extend_from_slice(name);
        }
    }

    /// Removes the innermost function.
    pub fn leave(&mut self) {
        self.line.truncate(self.lengths.pop().unwrap_or(0));
    }

    /// Removes all functions.
    pub fn clear(&mut self) {
        self.line.clear();
        self.lengths.clear();
    }

    /// Writes the line, with its number.
    pub fn end(&mut self, number: impl Display) -> io::Result<()> {
        self.out.write_all(&self.line)?;
        writeln!(self.out, " {number}")
    }
}

/// Whether a byte ends a name, or a line.
const fn is_separator(byte: u8) -> bool {
    matches!(byte, b';' | b'\n' | b'\r')
}
