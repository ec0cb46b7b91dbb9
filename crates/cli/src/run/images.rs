//! Recordings of one process that was several programs, put into the one folder that `-o` names: launchers such as
//! pyenv's become the program that does the work, and that is the one which users mean.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_recording::session::{State, Status};
use memtrail_recording::{PREDECESSORS, folder_name};

use super::ending::{Finalized, Recorded};
use crate::shell_quote;

/// What was done with the recordings of the programs that a process was.
pub(super) struct Gathered {
    /// The folder that `-o` names.
    folder: PathBuf,
    program: String,
    pid: u32,
    /// Programs in all.
    programs: usize,
    /// Recordings without samples and snapshots, which were removed.
    removed: usize,
    /// Recordings that are in the folder of predecessors.
    kept: usize,
}

/// Gives the folder `named` to the last program of its process that has samples or snapshots. Recordings of the others
/// are put into it; those without samples and snapshots are removed.
pub(super) fn gather(
    finalized: &mut Finalized,
    session: &Path,
    named: &Path,
) -> io::Result<Option<Gathered>> {
    let all = &finalized.recordings;
    let Some(pid) = all.iter().find(|one| one.folder == named).map(|one| one.description.pid)
    else {
        return Ok(None);
    };
    let images: Vec<usize> =
        (0..all.len()).filter(|&index| all[index].description.pid == pid).collect();
    let is_alive = images.iter().any(|&index| all[index].alive);
    let Some(&last) = images.last().filter(|_| images.len() > 1 && !is_alive) else {
        return Ok(None);
    };
    let is_nothing = |index: usize| all[index].description.did_nothing();
    let chosen = images.iter().rev().copied().find(|&index| !is_nothing(index)).unwrap_or(last);
    let is_removed: Vec<bool> =
        (0..all.len()).map(|i| i != chosen && images.contains(&i) && is_nothing(i)).collect();

    let folder_of_chosen = all[chosen].folder.clone();
    let predecessors = folder_of_chosen.join(PREDECESSORS);
    let mut moved: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    for (number, &index) in images.iter().enumerate().filter(|(_, index)| **index != chosen) {
        let from = all[index].folder.clone();
        if is_removed[index] {
            fs::remove_dir_all(&from)?;
            moved.push((from, None));
            continue;
        }
        fs::create_dir_all(&predecessors)?;
        let name = folder_name(&program_of(&all[index]), pid, number as u32);
        fs::rename(&from, predecessors.join(&name))?;
        moved.push((from, Some(named.join(PREDECESSORS).join(name))));
    }
    if folder_of_chosen != named {
        fs::rename(&folder_of_chosen, named)?;
        moved.push((folder_of_chosen, Some(named.to_path_buf())));
    }
    let gathered = Gathered {
        folder: named.to_path_buf(),
        program: program_of(&all[chosen]),
        pid,
        programs: images.len(),
        removed: is_removed.iter().filter(|is_removed| **is_removed).count(),
        kept: moved.iter().filter(|(_, to)| to.is_some()).count()
            - usize::from(all[chosen].folder != named),
    };
    follow(finalized, session, pid, &moved);
    Ok(Some(gathered))
}

fn program_of(recorded: &Recorded) -> String {
    let program = recorded.description.program.as_str();
    program.rsplit('/').next().unwrap_or(program).to_owned()
}

/// Notes where recordings are now, also for whoever keeps the session for other processes.
fn follow(
    finalized: &mut Finalized,
    session: &Path,
    pid: u32,
    moved: &[(PathBuf, Option<PathBuf>)],
) {
    let to = |from: &PathBuf| moved.iter().find(|(known, _)| known == from).map(|(_, to)| to);
    finalized.statuses.retain_mut(|status| {
        let State::Recording { folder, .. } = &mut status.state else { return true };
        match to(folder) {
            _ if status.pid != pid => true,
            None => true,
            Some(Some(now)) => {
                folder.clone_from(now);
                let _ = status.save(session);
                true
            }
            Some(None) => {
                let _ = Status::remove(session, status.pid, status.image);
                false
            }
        }
    });
    finalized.recordings.retain_mut(|recorded| match to(&recorded.folder) {
        None => true,
        Some(Some(now)) => {
            recorded.is_predecessor = now.parent().is_some_and(|at| at.ends_with(PREDECESSORS));
            recorded.folder.clone_from(now);
            true
        }
        Some(None) => false,
    });
}

impl Gathered {
    /// Says it in a line.
    pub(super) fn text(&self) -> String {
        let Self { folder, program, pid, programs, removed, kept } = self;
        let shown = shell_quote::path(folder);
        let mut text = format!("{shown} is of {program}; process {pid} was {programs} programs");
        if *kept > 0 {
            let recordings = if *kept == 1 { "one recording" } else { "recordings" };
            let number = if *kept == 1 { String::new() } else { format!("{kept} ") };
            let inside = shell_quote::path(&folder.join(PREDECESSORS));
            let _ = write!(text, ", {inside} has {number}{recordings} of others");
        }
        if *removed > 0 {
            let recordings = if *removed == 1 { "recording" } else { "recordings" };
            let _ = write!(text, ", {removed} {recordings} without samples removed");
        }
        text
    }
}
