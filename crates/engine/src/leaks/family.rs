//! Leak suspects of all processes of a family: those of each, ranked together.

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::{Conclusion, LeakVerdict, LeaksResponse, Suspect, UnreachableResponse, descriptions};
use crate::names::shown;

/// What leaks in any process of a family.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FamilyLeaksResponse {
    /// The verdict on all processes.
    pub conclusion: Conclusion,
    /// Of all processes, the largest growth first.
    pub suspects: Vec<ProcessSuspect>,
    /// What was found in each process in which leaks can be looked for.
    pub processes: Vec<ProcessLeaks>,
    /// The way to more evidence, if there is too little on one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub advice: Option<String>,
}

/// A suspect, and whose it is.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessSuspect {
    /// Number of the process's recording.
    pub rec: u32,
    /// What that is called.
    pub process: String,
    /// The suspect.
    #[serde(flatten)]
    pub suspect: Suspect,
}

/// What was found in a process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessLeaks {
    /// Number of its recording.
    pub rec: u32,
    /// What that is called.
    pub process: String,
    /// What was looked at, or why nothing was, in one line.
    pub description: String,
    /// All that is alive.
    pub alive: Bytes,
    /// How many suspects there are.
    pub suspects: usize,
    /// Of native programs whose references were looked for: the blocks to which none leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unreachable: Option<UnreachableResponse>,
}

/// A process, and what was found in it or why nothing was.
pub(crate) struct Member {
    pub(crate) rec: u32,
    pub(crate) name: String,
    pub(crate) leaks: Result<LeaksResponse, String>,
}

/// Puts the call sites of `malloc` that grow among the owners that do.
#[must_use]
pub fn with_sites(
    mut owners: LeaksResponse,
    sites: Option<LeaksResponse>,
    limit: usize,
) -> LeaksResponse {
    let Some(sites) = sites else { return owners };
    owners.suspects.extend(sites.suspects);
    let grown = |suspect: &Suspect| suspect.growth.grown;
    owners.suspects.sort_rows_by(|a, b| grown(b).total_cmp(&grown(a)));
    owners.left_out += sites.left_out;
    owners.cleared.extend(sites.cleared);
    let of_malloc = |line| format!("memory from malloc: {line}");
    owners.summary.extend(sites.summary.into_iter().map(of_malloc));
    owners.conclude(limit);
    owners
}

/// The suspects of all, ranked, so many at most.
pub(crate) fn ranked(members: Vec<Member>, limit: usize) -> FamilyLeaksResponse {
    let mut all = FamilyLeaksResponse::default();
    let verdict = |member: &Member| {
        // A leak cannot be ruled out in a process that could not be judged.
        member.leaks.as_ref().map_or(LeakVerdict::Undecided, |leaks| leaks.conclusion.verdict)
    };
    all.conclusion = Conclusion::of_processes(&members.iter().map(verdict).collect::<Vec<_>>());
    all.advice = descriptions::advice(members.iter().filter_map(|of| of.leaks.as_ref().ok()));
    for Member { rec, name, leaks } in members {
        let process = shown(name.strip_suffix(".memtrail").unwrap_or(&name));
        let failed = leaks.as_ref().err().cloned();
        let leaks = leaks.unwrap_or_default();
        all.processes.push(ProcessLeaks {
            rec,
            description: failed.unwrap_or_else(|| descriptions::of_process(&leaks)),
            alive: leaks.alive,
            suspects: leaks.suspects.len(),
            unreachable: leaks.unreachable,
            process: process.clone(),
        });
        let of = |suspect| ProcessSuspect { rec, process: process.clone(), suspect };
        all.suspects.extend(leaks.suspects.into_iter().map(of));
    }
    let grown = |of: &ProcessSuspect| of.suspect.growth.grown;
    all.suspects.sort_rows_by(|a, b| grown(b).total_cmp(&grown(a)));
    all.suspects.truncate(limit);
    all
}
