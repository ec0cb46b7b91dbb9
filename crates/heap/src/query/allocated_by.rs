//! Who allocated blocks, as rows show it: derived from samples.

use serde::Serialize;

use super::sampled_sites::Precision;
use crate::units::Bytes;

/// What allocated most blocks of a place, as far as the sampled ones tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AllocatedBy {
    /// What the name is of.
    pub precision: Precision,
    /// The call site's function, the function, or the module.
    pub name: String,
    /// The source file.
    pub file: Option<String>,
    /// From 1; 0 if unknown.
    pub line: Option<u32>,
    /// How many sampled blocks it allocated.
    pub samples: u64,
    /// Of how many.
    pub of: u64,
}

/// Blocks of a kind that have one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AllocatedPart {
    /// How many.
    pub blocks: u64,
    /// Their own size, headers counted.
    pub bytes: Bytes,
    /// What allocated most of them.
    #[serde(flatten)]
    pub by: AllocatedBy,
}

impl AllocatedBy {
    /// `allocated by Ast.expr ast.ml:12 in 41 of 43 samples`.
    pub fn text(&self) -> String {
        let Self { precision, name, samples, of, .. } = self;
        let whose = if *precision == Precision::Module { "in module" } else { "by" };
        let place = match (precision, &self.file, self.line) {
            (Precision::Site, Some(file), Some(line)) if line > 0 && !file.is_empty() => {
                format!(" {file}:{line}")
            }
            _ => String::new(),
        };
        format!("allocated {whose} {name}{place} in {samples} of {of} samples")
    }

    /// The name that more than half of some blocks have, with the counts of the place that most of these are in.
    pub(super) fn most(mut names: Vec<Self>, blocks: usize) -> Option<Self> {
        names.sort_unstable();
        let by_name = names.chunk_by(Self::is_same_name).max_by_key(|names| names.len())?;
        let is_most = 2 * by_name.len() > blocks;
        let mut places = by_name.chunk_by(|a, b| a == b).filter(|_| is_most);
        let first = places.next()?;
        // The first of several that are equal: `max_by_key` has the last.
        let most =
            places.fold(first, |most, place| if place.len() > most.len() { place } else { most });
        most.first().cloned()
    }

    fn is_same_name(&self, other: &Self) -> bool {
        let name = |by: &Self| (by.precision, by.line);
        name(self) == name(other) && self.name == other.name && self.file == other.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_most_blocks() {
        let by = |name: &str, samples, of| AllocatedBy {
            precision: Precision::Function,
            name: name.into(),
            file: None,
            line: None,
            samples,
            of,
        };
        let names = || vec![by("A.f", 8, 9), by("B.f", 7, 7), by("A.f", 9, 9), by("A.f", 9, 9)];
        assert_eq!(AllocatedBy::most(names(), 5), Some(by("A.f", 9, 9)));
        assert_eq!(AllocatedBy::most(names(), 6), None, "half of them is not most");
        assert_eq!(AllocatedBy::most(Vec::new(), 0), None);
        let other_line = AllocatedBy { line: Some(2), ..by("A.f", 9, 9) };
        assert_eq!(AllocatedBy::most(vec![by("A.f", 9, 9), other_line], 2), None);
    }

    #[test]
    fn a_text_for_each_precision() {
        let site = AllocatedBy {
            precision: Precision::Site,
            name: "Ast.expr".into(),
            file: Some("ast.ml".into()),
            line: Some(12),
            samples: 41,
            of: 43,
        };
        assert_eq!(site.text(), "allocated by Ast.expr ast.ml:12 in 41 of 43 samples");
        let unknown = AllocatedBy { line: Some(0), ..site.clone() };
        assert_eq!(unknown.text(), "allocated by Ast.expr in 41 of 43 samples");
        let function = AllocatedBy { precision: Precision::Function, ..site.clone() };
        assert_eq!(function.text(), "allocated by Ast.expr in 41 of 43 samples");
        let module = AllocatedBy { precision: Precision::Module, name: "Ast".into(), ..site };
        assert_eq!(module.text(), "allocated in module Ast in 41 of 43 samples");
    }
}
