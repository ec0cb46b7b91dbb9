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
    /// sampled; --snapshot exit, --snapshot request and --every then show what refers to them. --native=also records an
    /// OCaml program with its heap, and its calls of malloc, too: bigarrays and what C code allocates, with callstacks
    /// of C and OCaml functions
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true,
          default_missing_value = "only", hide_possible_values = true)]
    native: Option<Native>,

    /// With --native, record what the program maps itself, too: memory and files from mmap, as external blocks
    #[arg(long)]
    mmap: bool,
}

impl Args {
    /// Which memory is recorded.
    pub(crate) fn which(&self) -> Native {
        self.native.unwrap_or_default()
    }

    /// Whether mappings are recorded, too.
    pub(crate) fn records_mappings(&self) -> bool {
        self.mmap
    }

    /// Whether the options agree: programs that are not OCaml's have no collections, and no heap that could be above a
    /// size.
    pub(crate) fn check(&self, snapshots: &SnapshotArgs) -> Result<(), Failure> {
        if self.mmap && self.which() != Native::Only {
            let message = match self.which() {
                Native::Also => {
                    "--mmap is not for OCaml programs: --native=also records calls of malloc alone"
                }
                Native::None | Native::Only => "--mmap is for native programs",
            };
            return Err(
                Failure::new(Kind::Usage, message).hint("memtrail run --native --mmap -- PROGRAM")
            );
        }
        match self.which() {
            Native::Only => snapshots.check_native(
                "--snapshot exit, --snapshot request, --every 10s, or several of them",
            ),
            Native::None | Native::Also => Ok(()),
        }
    }
}
