//! Whether calls of `malloc` are recorded.

use crate::error::{Failure, Kind};
use crate::run::SnapshotArgs;

/// Which memory is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Native {
    /// OCaml's.
    #[default]
    #[value(skip)]
    None,
    /// Memory from `malloc` alone.
    Only,
    /// OCaml's, and besides it memory from `malloc`.
    Also,
}

/// The option.
#[derive(Clone, clap::Args)]
#[group(id = "memory-recorded")]
pub(crate) struct Args {
    /// Record a program of another language than OCaml: C, C++, Rust, or an interpreter. Its calls of malloc are
    /// sampled; there are no heap snapshots. --native=also records an OCaml program with its heap, and its calls of
    /// malloc, too: bigarrays and what C code allocates, with callstacks of C and OCaml functions
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true,
          default_missing_value = "only", hide_possible_values = true)]
    native: Option<Native>,
}

impl Args {
    /// Which memory is recorded.
    pub(crate) fn which(&self) -> Native {
        self.native.unwrap_or_default()
    }

    /// Whether the options agree: there are no heap snapshots of programs that are not OCaml's.
    pub(crate) fn check(&self, snapshots: &SnapshotArgs) -> Result<(), Failure> {
        if self.which() == Native::Only && snapshots.is_asked_for() {
            return Err(Failure::new(
                Kind::Usage,
                "there are no heap snapshots of native programs: --native cannot be used with them",
            )
            .hint(
                "--native=also records an OCaml program with its heap and its memory from malloc",
            ));
        }
        Ok(())
    }
}
