//! Arguments of `memtrail leaks`.

use super::suppressed::Suppressions;
use crate::answer::OutputArgs;
use crate::heap::joined::RecordingArgs;
use crate::limit::Limit;

/// List leak suspects: what grows, who allocated it, what owns it
///
/// A suspect is a variable, stack or other root that grows with the work of the program: bytes allocated, not seconds. It
/// is judged by its exact sizes in all snapshots. With fewer than five, birth dates decide. The blocks that a leak keeps are
/// from all parts of the work; those of a warm-up are early, those of a cache late. A cache that was filled at the start is
/// no suspect, nor is memory that comes and goes. If there is no suspect, the largest owners are listed with the reason.
///
/// In C, C++ and Rust (`memtrail run --native`) a suspect is a call site that allocates ever more than is
/// freed. With `--snapshot exit`, blocks to which nothing refers are listed before, by a conservative scan. For an OCaml
/// program with its memory from malloc (`memtrail run --native=also`) both are judged.
///
/// For a folder of several processes, all suspects are listed, the largest growth first.
///
/// Functions that are named are the program's own: the nearest on the stack to the allocation in a library.
/// Variables have names and types as far as the compiler's files are found (`memtrail types REC` shows how far).
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail run -- ./server                     record it, and end it by Ctrl-C
  memtrail leaks server-4711.memtrail          what leaks
  memtrail why server-4711.memtrail NAME       what retains what a function allocated
  memtrail snapshot PID                        one more heap snapshot, of a server that runs")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: RecordingArgs,
    /// Maximum number of suspects; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    pub(super) limit: Limit,
    #[command(flatten)]
    pub(super) known: Suppressions,
    #[command(flatten)]
    pub(super) form: OutputArgs,
    /// Print the suspects as Markdown, for a bug report
    #[arg(long, conflicts_with_all = ["json", "width", "evidence"])]
    pub(super) markdown: bool,
    /// Print the evidence that was judged, as one JSON object: sizes by snapshot and dates of samples
    #[arg(long, conflicts_with_all = ["json"])]
    pub(super) evidence: bool,
}
