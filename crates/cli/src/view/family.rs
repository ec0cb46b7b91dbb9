//! Families that grow: all processes together are read anew when there is more, and processes that begin later are shown,
//! too.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memtrail_engine::RecordingId;
use memtrail_engine::describe::State;
use memtrail_recording::Recording;
use memtrail_recording::family::{Family, Member};

use super::Sources;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::recording_facts;
use crate::recording_source::Process;

/// Between two looks at the folder.
const PAUSE: Duration = Duration::from_secs(1);
/// To read a large family takes long: it may take this part of the time.
const SHARE: u32 = 10;

/// Shows all processes of a family together and each alone, and goes on reading what comes.
pub(crate) fn follow(sources: &Sources, path: &Path) -> Result<(), Failure> {
    let whole = sources.engine.add_growing(memtrail_engine::Description::default(), None);
    let mut growing = Growing {
        sources: sources.clone(),
        path: path.to_path_buf(),
        whole,
        known: HashSet::new(),
        members: Vec::new(),
        last: Vec::new(),
    };
    growing.look()?;
    std::thread::Builder::new().name("family".into()).spawn(move || growing.for_ever()).map_err(
        |error| Failure::new(Kind::Work, format_args!("cannot start a thread: {error}")),
    )?;
    Ok(())
}

/// Whether processes of a family run.
pub(super) fn grows(family: &Family) -> bool {
    family.members.iter().any(is_growing)
}

fn is_growing(member: &Member) -> bool {
    member.recording.as_ref().is_ok_and(recording_facts::grows)
}

struct Growing {
    sources: Sources,
    path: PathBuf,
    /// All processes together.
    whole: RecordingId,
    /// Members that are shown alone.
    known: HashSet<String>,
    members: Vec<RecordingId>,
    /// What the members were when they were read together.
    last: Vec<Seen>,
}

/// By what it is seen that there is more of a member: its name, the size of its trace, whether it grows.
type Seen = (String, u64, bool);

impl Growing {
    /// More processes may begin as long as a program runs that is not recorded, which is not seen from here.
    fn for_ever(&mut self) {
        loop {
            let started = Instant::now();
            // What cannot be read now may be the next time; its own page says what is wrong.
            let _ = self.look();
            std::thread::sleep(PAUSE.max(started.elapsed() * SHARE));
        }
    }

    fn look(&mut self) -> Result<(), Failure> {
        let Some(family) = Family::open(&self.path)? else { return Ok(()) };
        for member in &family.members {
            if let Err(failure) = self.show(member) {
                failure.report();
            }
        }
        let seen: Vec<Seen> = family.members.iter().map(seen).collect();
        if seen != self.last {
            self.read_whole(grows(&family))?;
            self.last = seen;
        }
        Ok(())
    }

    /// Shows a process that has begun. Its agent may be just about to describe it: then the next look finds it.
    fn show(&mut self, member: &Member) -> Result<(), Failure> {
        if member.description().is_none() || member.did_nothing() {
            return Ok(());
        }
        if self.known.insert(member.name.clone()) {
            let id = self.sources.add(Recording::open(&self.path.join(&member.name))?)?;
            self.members.push(id);
            self.sources.recording_events.added(id);
        }
        Ok(())
    }

    fn read_whole(&self, grows: bool) -> Result<(), Failure> {
        let source = Process::default().open(&self.path)?;
        if let Some(problem) = source.problem.as_ref().filter(|_| self.last.is_empty()) {
            Failure::new(Kind::Input, problem).hint("the other processes were used").report();
        }
        let mut description = loading::describe(&source);
        description.name = recording_facts::name(&self.path);
        description.state = if grows { State::Growing } else { State::Ended };
        // Not mapped: that of a process alone may be cut short by it.
        let trace = std::fs::read(&source.trace);
        let trace = trace.map_err(|error| Failure::unreadable(&source.trace, &error))?;
        let engine = &self.sources.engine;
        let grown = engine.replace(self.whole, &trace, description);
        let grown = grown.map_err(|error| loading::no_trace(&source.trace, &error))?;
        engine.set_members(self.whole, &self.members);
        self.sources.recording_events.grown(self.whole, grown);
        Ok(())
    }
}

fn seen(member: &Member) -> Seen {
    let trace = member.recording.as_ref().ok().map(|recording| &recording.trace);
    let size = trace.and_then(|trace| std::fs::metadata(trace).ok()).map_or(0, |file| file.len());
    (member.name.clone(), size, is_growing(member))
}
