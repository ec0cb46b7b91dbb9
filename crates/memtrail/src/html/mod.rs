//! `memtrail html`: recordings and the page in one file.

mod fit;
mod page;
mod size;
mod snapshots;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_recording::Recording;

use crate::damage;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::output::{Output, is_standard};
use crate::units::{bytes, grouped};
use crate::view::{check_filter, fragment};
use fit::Packed;
use size::Size;

/// Put recordings and the page that shows them into one file
///
/// The file opens from disk in any browser, without memtrail and without a network, with all views
/// and filters of `memtrail view`. It can be sent to others; who has it has the recordings.
///
/// Recordings that are too large for it are thinned out, as if they had been recorded at a lower
/// rate: all figures stay right, only less precise. The page and this command say so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail html server-4711.memtrail
  memtrail html server-4711.memtrail -o leak.html --filter live:end
  memtrail html before.memtrail after.memtrail -o compared.html --max-size 5M

Function and file names are in the file. `memtrail trace strip` takes them out of a trace.")]
pub(crate) struct Args {
    /// Recordings (folders NAME.memtrail) or trace files, ours or memtrace's
    #[arg(value_name = "REC|TRACE", required = true)]
    recordings: Vec<PathBuf>,

    /// The file to write, replaced if it exists; the first recording's name with .html, in the
    /// current folder, if not given; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The most that the file may have: 20M, 500K
    #[arg(long, value_name = "SIZE", default_value = "20M")]
    max_size: Size,

    /// Begin with this filter, as of `memtrail view`; may be given several times
    #[arg(long = "filter", value_name = "CHIP", allow_hyphen_values = true)]
    filters: Vec<String>,

    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_filter(&args.filters)?;
    if args.json && args.output.as_deref().is_some_and(is_standard) {
        return Err(Failure::new(Kind::Usage, "--json and -o - both write to standard output")
            .hint("give the file a name, or leave --json out"));
    }
    let recordings =
        args.recordings.iter().map(|path| Recording::open(path)).collect::<Result<Vec<_>, _>>()?;
    let packed = fit::pack(&recordings, args.max_size.0)?;
    let path = args.output.clone().unwrap_or_else(|| default_name(&args.recordings[0]));
    let output = Output::create(&path)?;
    let text = page::assemble(&packed, &fragment(&args.filters));
    (&output.file).write_all(text.as_bytes()).map_err(|error| output.failure(&error))?;
    output.keep()?;
    tell(args, &path, text.len(), &packed)?;
    let mut code = ExitCode::SUCCESS;
    for (recording, packed) in recordings.iter().zip(&packed) {
        if let Err(failure) = damage::verdict(recording, &packed.damage) {
            code = failure.report();
        }
    }
    Ok(code)
}

/// `server-4711.html` of `server-4711.memtrail`.
fn default_name(recording: &Path) -> PathBuf {
    let name = loading::name(recording);
    let stem = [".memtrail", ".ctf"].iter().find_map(|end| name.strip_suffix(end));
    PathBuf::from(format!("{}.html", stem.filter(|stem| !stem.is_empty()).unwrap_or(&name)))
}

fn tell(args: &Args, path: &Path, size: usize, packed: &[Packed]) -> Result<(), Failure> {
    if args.json {
        let recordings: Vec<_> = packed
            .iter()
            .map(|packed| {
                let thinned = packed.description.thinned;
                let mut told =
                    serde_json::json!({ "name": packed.description.name, "thinned": thinned });
                if !packed.snapshots.is_empty() {
                    let included = packed.snapshots.iter().filter(|one| one.is_included());
                    told["snapshots"] = serde_json::json!({
                        "of": packed.snapshots.len(),
                        "included": included.map(|one| one.facts.number).collect::<Vec<_>>(),
                    });
                }
                told
            })
            .collect();
        let told = serde_json::json!({ "output": path, "bytes": size, "recordings": recordings });
        writeln!(std::io::stdout(), "{told}")?;
        return Ok(());
    }
    for packed in packed {
        if let Some(thinned) = packed.description.thinned {
            eprintln!(
                "memtrail: {}: thinned out to {} of {} recorded blocks, to fit into {}; figures \
                 are less precise",
                packed.description.name,
                grouped(thinned.kept),
                grouped(thinned.of),
                bytes(args.max_size.0 as f64)
            );
        }
    }
    for packed in packed {
        let left_out = packed.snapshots.iter().filter(|one| !one.is_included()).count();
        if left_out > 0 {
            eprintln!(
                "memtrail: {}: {left_out} of {} heap snapshots are not in the file, for the lack of \
                 room; what was alive over time is there of all",
                packed.description.name,
                packed.snapshots.len(),
            );
        }
    }
    eprintln!("memtrail: {}: {}", path.display(), bytes(size as f64));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_first_recording() {
        for (recording, file) in [
            ("dir/server-4711.memtrail/", "server-4711.html"),
            ("/x/cache.ctf", "cache.html"),
            ("plain", "plain.html"),
            (".memtrail", ".memtrail.html"),
        ] {
            assert_eq!(default_name(Path::new(recording)), Path::new(file));
        }
    }
}
