//! Judges a program and its children: limits of sizes hold for all together, leaks are looked for in each.

use std::collections::HashMap;

use memtrail_engine::SnapshotFacts;
use memtrail_engine::gate::{Gate, Limit};
use memtrail_recording::Recording;
use memtrail_recording::family::Family;

use super::answer::Judged;
use super::gates::Resolved;
use super::judge::{ask, check_whole, unjudged};
use crate::error::Failure;
use crate::recording_facts;
use crate::snapshot_file::{self, MemoryArgs, SnapshotFiles};

/// Judges all processes of a family; `whole` is all of them together.
pub(super) fn judge(
    whole: &Recording,
    family: &Family,
    gates: &Resolved,
    memory: MemoryArgs,
) -> Result<Vec<Judged>, Failure> {
    for member in family.members.iter().filter(|member| !member.did_nothing()) {
        let path = family.path.join(&member.name);
        let recording = member.recording.as_ref();
        check_whole(recording.map_err(|error| unjudged(&path, &error.to_string()))?)?;
    }
    let (of_each, of_all): (Vec<Gate>, Vec<Gate>) =
        gates.gates.iter().cloned().partition(|gate| matches!(gate.limit, Limit::NoLeak(_)));
    let processes = with_leaks(family);
    let is_exact = of_all.iter().any(|gate| matches!(gate.limit, Limit::MaxLive(_)));
    let largest = if is_exact { largest_snapshots(&processes, memory) } else { Vec::new() };
    let baseline = gates.baseline.as_deref();
    if of_each.is_empty() || processes.is_empty() {
        return Ok(Judged::of_all(ask(whole, memory, &gates.gates, baseline, largest, 0)?));
    }
    let mut judged = Vec::new();
    if !of_all.is_empty() {
        let answer = ask(whole, memory, &of_all, baseline, largest, processes.len())?;
        judged = Judged::of_all(answer);
    }
    let beside = judged.len() + processes.len() - 1;
    // One after the other: the memory of one analysis is freed before the next.
    for (name, recording) in processes {
        let answer = ask(recording, memory, &of_each, None, Vec::new(), beside)?;
        judged.extend(Judged::of_process(answer, &name));
    }
    Ok(judged)
}

/// Of each process the snapshot with the largest heap, without its kinds and roots. They are numbered anew, as several
/// processes have a first one. What cannot be read proves nothing.
fn largest_snapshots(processes: &[(String, &Recording)], memory: MemoryArgs) -> Vec<SnapshotFacts> {
    let largest = processes.iter().filter_map(|(_, recording)| {
        let snapshots = snapshot_file::of_recording(&recording.path).into_iter();
        let files = SnapshotFiles::alone(memory);
        let sizes = snapshots.filter_map(|(number, path)| {
            let (mut facts, file) = files.open(&path, Some(number));
            let mut summary = memtrail_engine::summary(&*file, &facts).ok()?;
            summary.truncate(0);
            let size = summary.in_heap.0;
            facts.summary = Some(summary);
            Some((size, facts))
        });
        sizes.max_by_key(|(size, _)| *size)
    });
    (1..).zip(largest).map(|(number, (_, facts))| SnapshotFacts { number, ..facts }).collect()
}

/// The processes in which leaks are found, as they have heap snapshots or free their memory themselves, by their
/// programs: several of one are numbered in the order in which they began, so that they have the same names in the
/// next run.
fn with_leaks(family: &Family) -> Vec<(String, &Recording)> {
    let with = family.members.iter().filter_map(|member| {
        let recording = member.recording.as_ref().ok()?;
        let has_snapshots = !snapshot_file::of_recording(&recording.path).is_empty();
        (has_snapshots || recording_facts::is_native(recording))
            .then_some((member.program(), recording))
    });
    let with: Vec<(&str, &Recording)> = with.collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (program, _) in &with {
        *counts.entry(program).or_default() += 1;
    }
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let named = with.into_iter().map(|(program, recording)| {
        let number = numbers.entry(program).or_default();
        *number += 1;
        let is_only = counts.get(program) == Some(&1);
        let name = if is_only { program.to_owned() } else { format!("{program} {number}") };
        (name, recording)
    });
    named.collect()
}
