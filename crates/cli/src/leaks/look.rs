//! Looks for leaks in a recording: among the owners of its snapshots, and, of programs that call `malloc`, among
//! the call sites.

use std::path::Path;
use std::process::ExitCode;

use memtrail_engine::heap::OfSnapshot;
use memtrail_engine::leaks::{LeaksResponse, with_sites};
use memtrail_engine::query::HeapLeaks;
use memtrail_profile::Caveats;
use memtrail_recording::Recording;

use super::args::Args;
use super::unnamed::Unnamed;
use crate::error::{Failure, Kind};
use crate::heap::joined::{Joined, RecordingArgs};
use crate::recording_facts;
use crate::snapshot_file;
use crate::{caveats, damage, loading, outcome};

/// Of a snapshot of OCaml's heap alone.
const NO_REFERENCES: &str =
    "memory from malloc: what refers to it is not known, as the snapshot is of OCaml's heap alone";

/// What was found in a recording.
pub(super) struct Found {
    pub(super) leaks: LeaksResponse,
    /// What is wrong with the snapshot, if the answer is about a part of it.
    pub(super) partial: Option<String>,
    /// What must be known of how many blocks were sampled.
    pub(super) caveats: Caveats,
    /// Variables that are listed, and have no names and types as the program's own have none.
    pub(super) unnamed: Unnamed,
    /// The exit code, which says if the trace is damaged.
    pub(super) verdict: Result<ExitCode, Failure>,
}

/// Looks for leaks in one recording.
pub(super) fn look(args: &Args, path: &Path) -> Result<Found, Failure> {
    let known = args.known.read()?;
    // Known ones are not to take the places of others.
    let limit = if known.is_empty() { args.limit.0 } else { usize::MAX };
    let mut found = look_at(&args.which, path, limit)?;
    known.suppress(&mut found.leaks);
    found.leaks.conclude(args.limit.0);
    Ok(found)
}

/// All suspects up to a limit, the known ones too.
pub(super) fn look_at(which: &RecordingArgs, path: &Path, limit: usize) -> Result<Found, Failure> {
    let recording = Recording::open(path)?;
    let has_snapshots = !snapshot_file::of_recording(path).is_empty();
    let mut found = if !has_snapshots
        && (recording_facts::has_malloc(&recording) || recording_facts::is_native(&recording))
    {
        among_sites(which, &recording, limit)?
    } else {
        among_owners(which, path, limit)?
    };
    // The work of a program that became a daemon is elsewhere.
    let elsewhere = recording.description.as_ref().and_then(outcome::unrecorded_forks);
    found.leaks.summary.extend(elsewhere.map(ToOwned::to_owned));
    Ok(found)
}

fn among_sites(
    which: &RecordingArgs,
    recording: &Recording,
    limit: usize,
) -> Result<Found, Failure> {
    let traced = which.open_trace(recording)?;
    let (engine, id) = (&traced.engine, traced.id);
    let unreadable = which.give_references(engine, id, recording)?;
    let leaks = engine.site_leaks(id, limit).map_err(|error| loading::refused(&error))?;
    Ok(Found {
        leaks: leaks.unwrap_or_default(),
        partial: None,
        caveats: caveats::reported(recording).of_allocation(),
        unnamed: Unnamed::default(),
        verdict: damage::beside(
            unreadable,
            damage::verdict(recording, &engine.damage(id).unwrap_or_default()),
        ),
    })
}

fn among_owners(which: &RecordingArgs, path: &Path, limit: usize) -> Result<Found, Failure> {
    let joined = which.open_one(path)?;
    let unreadable = joined.give_references()?;
    let OfSnapshot { response, partial } = ask(&joined, limit)?;
    let sites = joined.site_leaks(limit)?;
    let has_malloc = sites.is_some();
    let damaged = response.damaged.first().map(|damaged| {
        Failure::new(Kind::Input, format_args!("{}: {damaged}", path.display()))
            .hint("the other snapshots were used")
    });
    let mut response = with_sites(response, sites, limit);
    if has_malloc && !joined.has_references() {
        response.summary.push(NO_REFERENCES.to_owned());
    }
    let answer = OfSnapshot { response: (), partial };
    let unnamed =
        if joined.has_names() { Unnamed::default() } else { Unnamed::listed_in(&response) };
    Ok(Found {
        leaks: response,
        partial: joined.damage(&answer),
        caveats: joined.caveats(),
        unnamed,
        verdict: damage::beside(unreadable.or(damaged), joined.verdict()),
    })
}

fn ask(joined: &Joined, limit: usize) -> Result<OfSnapshot<LeaksResponse>, Failure> {
    let (rec, snapshot) = joined.ids();
    let query = HeapLeaks { rec, snapshot, limit };
    joined.query_all(|engine| engine.heap_leaks(&query))
}
