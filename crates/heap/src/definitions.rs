//! Where functions of closures are defined, by what is known of the source beside the snapshot.

use crate::read::{Function, Snapshot};
use crate::redact::file_name;

/// Where a function is defined, by what its compiler wrote of the source into a `.cmt` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDefinition {
    /// The function, as a place among the snapshot's.
    pub function: u32,
    /// Its source file.
    pub file: Vec<u8>,
    /// The line, from 1.
    pub line: u32,
    /// The column in that line, from 0.
    pub column: u32,
}

impl Function {
    /// Gives it the line of its definition, unless it has as exact a line, or the program contradicts: its code is of
    /// another file, or has lines before that.
    pub(crate) fn define(&mut self, at: &FunctionDefinition) {
        let is_other_file = !self.file.is_empty() && file_name(&self.file) != file_name(&at.file);
        let is_outside = self.between.is_some_and(|between| {
            at.line < between.first || between.last.is_some_and(|last| last < at.line)
        });
        let is_behind = self.line > 0 && self.line < at.line;
        if self.is_start || is_other_file || is_outside || is_behind {
            return;
        }
        if self.file.is_empty() {
            self.file.clone_from(&at.file);
        }
        (self.line, self.column) = (at.line, at.column);
        (self.is_start, self.is_of_cmt, self.between) = (true, true, None);
        self.is_of_class = false;
    }
}

impl Snapshot<'_> {
    /// Gives functions the lines of their definitions, where these are more exact than what is known of them.
    pub fn define(&mut self, definitions: &[FunctionDefinition]) {
        for at in definitions {
            if let Some(function) = self.functions.get_mut(at.function as usize) {
                function.define(at);
            }
        }
    }

    /// The definitions that functions have lines of.
    pub fn definitions(&self) -> Vec<FunctionDefinition> {
        let functions = (0..).zip(&self.functions).filter(|(_, function)| function.is_of_cmt);
        let definition = |(number, function): (u32, &Function)| FunctionDefinition {
            function: number,
            file: function.file.clone(),
            line: function.line,
            column: function.column,
        };
        functions.map(definition).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function_lines::Between;
    use crate::units::Address;

    fn function(file: &str, line: u32, between: Option<Between>) -> Function {
        Function {
            code: Address(0),
            is_partial: false,
            symbol: b"camlShop__add_12".to_vec(),
            name: b"Shop.add".to_vec(),
            file: file.as_bytes().to_vec(),
            line,
            column: 3,
            is_start: false,
            is_of_cmt: false,
            between,
            is_of_class: false,
        }
    }

    #[test]
    fn a_definition_is_where_the_program_allows_it() {
        let at =
            FunctionDefinition { function: 0, file: b"src/shop.ml".to_vec(), line: 30, column: 4 };
        let line = |mut function: Function| {
            function.define(&at);
            (function.line, function.between, function.is_of_cmt)
        };
        let between = |first, last| Some(Between { first, last });
        let defined = (30, None, true);
        assert_eq!(line(function("", 0, None)), defined);
        assert_eq!(line(function("build/shop.ml", 0, None)), defined);
        assert_eq!(line(function("shop.ml", 0, between(29, Some(30)))), defined);
        assert_eq!(line(function("shop.ml", 31, None)), defined, "it calls in the next line");
        assert_eq!(line(function("shop.ml", 29, None)), (29, None, false));
        assert_eq!(line(function("shop.mll", 0, None)), (0, None, false));
        let other = between(31, None);
        assert_eq!(line(function("shop.ml", 0, other)), (0, other, false));
        let exact = Function { is_start: true, ..function("shop.ml", 31, None) };
        assert_eq!(line(exact), (31, None, false));
        let mut unknown = function("", 0, None);
        unknown.define(&at);
        assert_eq!(unknown.file, b"src/shop.ml");
    }
}
