//! Where the function of closures is in the source, and how that is known.

use serde::Serialize;

use crate::read::Function;

/// A place in the source, as exact as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FunctionPlace {
    /// The source file.
    pub file: String,
    /// The line, or the first one where the function may begin.
    pub line: Option<u32>,
    /// The column in that line, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub column: Option<u32>,
    /// Of several lines where the function may begin, the last one; without it, that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub last_line: Option<u32>,
    /// How it is known: `cmt`, of the file that the compiler wrote of the unit, and `start`, of debug information, are
    /// exact; `first call` is the first line in the function that calls or allocates; `neighbours` are lines between which
    /// the function begins, by those before and behind it in the program's code; `class` are lines of methods of the class
    /// that the compiler made the function for; `unit` is the file of its unit.
    pub derivation: &'static str,
}

impl FunctionPlace {
    /// That of a function; none if not even its file is known.
    pub(super) fn of(function: &Function) -> Option<Self> {
        let file = String::from_utf8_lossy(&function.file).into_owned();
        if file.is_empty() {
            return None;
        }
        let (line, column, last_line, derivation) = match (function.line, function.between) {
            (0, None) => (None, None, None, "unit"),
            (0, Some(between)) => {
                let derivation = if function.is_of_class { "class" } else { "neighbours" };
                (Some(between.first), None, between.last, derivation)
            }
            (line, _) => {
                let derivation = match (function.is_of_cmt, function.is_start) {
                    (true, _) => "cmt",
                    (false, true) => "start",
                    (false, false) => "first call",
                };
                (Some(line), Some(function.column), None, derivation)
            }
        };
        Some(Self { file, line, column, last_line, derivation })
    }
}
