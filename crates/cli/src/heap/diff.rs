//! `memtrail heap diff`: what changed between snapshots.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::question::Member;

use super::compared::{Heaps, Sums};
use super::input::{choose, snapshots};
use super::named::By;
use super::read::Read;
use crate::answer::{OutputArgs, put};
use crate::error::{Failure, Kind};
use crate::limit::Limit;
use crate::problems::Problems;
use crate::recording_source::{FamilyMember, Need, Process, Subject};
use crate::snapshot_file::MemoryArgs;

/// Compare two snapshots of a program
///
/// Owners by what is attributed to them (see `heap roots`), kinds of blocks by their own size; the largest
/// change comes first. Sizes include off-heap memory: `off-heap` is its part of `after`. Of programs with their children, sums over all processes are compared.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The earlier: a snapshot (NNNN.heap), or a recording, of which it is the last snapshot, or the
    /// first if nothing else is named
    before: PathBuf,
    /// The later: a snapshot, or a recording, of which it is the last; without it, the last of the
    /// same recording
    after: Option<PathBuf>,
    #[command(flatten)]
    process: Process,
    /// Snapshot of the earlier recording, by number or label (Memtrail.dump); of several with the label, the last
    #[arg(long, value_name = "N|LABEL")]
    from: Option<String>,
    /// Snapshot of the later recording, or of the only one, by number or label
    #[arg(long, value_name = "N|LABEL")]
    to: Option<String>,
    /// Roots by what they own, or by what each retains alone
    #[arg(long, value_enum, default_value_t = By::Owner)]
    by: By,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    form: OutputArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let subject = |path: &PathBuf| args.process.subject(path, Need::Snapshots);
    let before = subject(&args.before)?;
    let after = args.after.as_ref().map(subject).transpose()?;
    let mut read = Read::default();
    let heaps = match (&before, &after) {
        (Subject::One(before), None) => of_recordings(args, [before, before])?,
        (Subject::One(before), Some(Subject::One(after))) => of_recordings(args, [before, after])?,
        (Subject::Family(members), None) => within(args, members, &mut read)?,
        (_, Some(after)) => {
            let wanted = [args.from.as_deref(), args.to.as_deref()];
            between([&before, after], wanted, args.memory, &mut read)?
        }
    };
    let Limit(limit) = args.limit;
    let heaps = heaps.limited(limit);
    let code = put(&args.form, heaps.damage.clone(), &heaps.answer, |canvas| {
        heaps.draw(canvas, args.by);
    });
    Ok(read.finish().unwrap_or(code?))
}

/// Compares two recordings or snapshots of one process each.
fn of_recordings(args: &Args, [before, after]: [&Path; 2]) -> Result<Heaps, Failure> {
    let earlier = snapshots(before)?;
    let first = match (&args.from, &args.after, earlier.first()) {
        (None, None, Some(first)) => first.clone(),
        (from, ..) => choose(before, from.as_deref())?,
    };
    let last = choose(after, args.to.as_deref())?;
    if first == last {
        let path = args.before.display();
        let message = if earlier.len() == 1 {
            format!("{path} has one snapshot only")
        } else {
            format!("both are the same snapshot, {}", last.display())
        };
        return Err(Failure::new(Kind::Usage, message).hint("name a second one to compare it with"));
    }
    of_snapshots([&first, &last], args.memory)
}

/// Compares two snapshots. Each has the names of its own program; one without names has those of the other.
pub(crate) fn of_snapshots(files: [&Path; 2], memory: MemoryArgs) -> Result<Heaps, Failure> {
    let mut sums = Sums::new(memory);
    for (side, file) in files.into_iter().enumerate() {
        sums.add(side, Member::default(), file)?;
    }
    Ok(sums.compare_snapshots(files))
}

/// Compares snapshots of all processes of two families, or of a family and a recording: those that are wanted or the last.
fn between(
    sides: [&Subject; 2],
    wanted: [Option<&str>; 2],
    memory: MemoryArgs,
    read: &mut Read,
) -> Result<Heaps, Failure> {
    let mut sums = Sums::new(memory);
    for (side, (subject, wanted)) in sides.into_iter().zip(wanted).enumerate() {
        read.each(&subject.members(), |member, _| {
            sums.add(side, member.member(), &choose(&member.path, wanted)?)
        })?;
    }
    Ok(sums.compare_families(Vec::new()))
}

/// Compares the last snapshots of all processes of two families, or of a family and a recording.
pub(crate) fn of_families(
    sides: [&Subject; 2],
    memory: MemoryArgs,
) -> Result<(Heaps, Problems), Failure> {
    let mut read = Read::default();
    let heaps = between(sides, [None, None], memory, &mut read)?;
    Ok((heaps, read.into_problems()))
}

/// Compares an earlier and a later snapshot of each process.
fn within(args: &Args, members: &[FamilyMember], read: &mut Read) -> Result<Heaps, Failure> {
    let mut sums = Sums::new(args.memory);
    let mut too_few = Vec::new();
    read.each(members, |member, _| {
        let files = snapshots(&member.path)?;
        let first = match (&args.from, files.first()) {
            (None, Some(first)) => first.clone(),
            (from, _) => choose(&member.path, from.as_deref())?,
        };
        let last = choose(&member.path, args.to.as_deref())?;
        if first == last {
            too_few.push(member.path.display().to_string());
            return Ok(());
        }
        sums.add(0, member.member(), &first)?;
        sums.add(1, member.member(), &last)
    })?;
    if sums.lacks_a_side() {
        let path = args.before.display();
        let message = format_args!("no process in {path} has two snapshots to compare");
        return Err(Failure::new(Kind::Usage, message)
            .hint("name a second recording to compare all processes with"));
    }
    Ok(sums.compare_families(too_few))
}
