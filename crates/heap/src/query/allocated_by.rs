//! Who allocated blocks, as rows show it: derived from samples.

use serde::Serialize;

use super::sampled_sites::Precision;
use crate::units::Bytes;

/// What allocated most blocks of a place, as far as the sampled ones tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
