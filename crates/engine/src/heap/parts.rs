//! Parts of rows: figures in each process of a family, whose rows are summed.

use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use super::join::AliveEstimate;

/// The figures of a row in a process.
#[derive(Clone, Debug, Serialize)]
pub struct Part<F> {
    /// The folder of its recording.
    pub recording: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: F,
}

/// Blocks of a site.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SitePart {
    /// Bytes that are alive, an estimate.
    pub alive: Estimate,
}

/// Blocks that are alive.
#[derive(Clone, Debug, Serialize)]
pub struct AlivePart {
    /// An estimate.
    pub alive: AliveEstimate,
}

/// Blocks of a site in two snapshots.
#[derive(Clone, Debug, Serialize)]
pub struct SurvivorPart {
    /// Alive in both.
    pub survived: AliveEstimate,
    /// Alive in the earlier one alone.
    pub freed: AliveEstimate,
    /// Alive in the later one alone.
    pub added: AliveEstimate,
}

/// Adds the figures of another value, field by field.
macro_rules! add_fields {
    ($type:ty: $($field:ident),*) => {
        impl std::ops::AddAssign for $type {
            fn add_assign(&mut self, more: Self) {
                $(self.$field += more.$field;)*
            }
        }
    };
}

pub(crate) use add_fields;

add_fields!(SitePart: alive);
add_fields!(AlivePart: alive);
add_fields!(SurvivorPart: survived, freed, added);
