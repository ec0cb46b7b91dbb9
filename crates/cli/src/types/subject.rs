//! The program whose variables are named: of a recording, or by itself.

use std::fs;
use std::path::{Path, PathBuf};

use memtrail_heap::read::Snapshot;
use memtrail_heap::{LabelRole, RootKind};
use memtrail_map::MappedFile;
use memtrail_ocaml::inspect::{Verdict, inspect};
use memtrail_recording::{Recording, number_of_snapshot};
use memtrail_types::Types;
use memtrail_types::program::Program;

use super::plugins::{self, Names};
use crate::error::{Failure, Kind};
use crate::output::Output;
use crate::snapshot_file::stored;

pub(super) struct Subject {
    /// The executable.
    pub(super) program: PathBuf,
    /// The runtime's version, e.g. `4.13`; empty if unknown.
    pub(super) version: String,
    /// The folder that gets the result.
    pub(super) recording: Option<PathBuf>,
    /// The program's build id when it was recorded.
    pub(super) build_id: Option<String>,
}

impl Subject {
    pub(super) fn of(path: &Path, program: Option<&Path>) -> Result<Self, Failure> {
        if !path.is_dir() {
            let program = program.unwrap_or(path).to_path_buf();
            let version = version(&program);
            return Ok(Self { program, version, recording: None, build_id: None });
        }
        let recording = Recording::open(path)?;
        let Some(description) = recording.description else {
            let why = recording.problem.unwrap_or_else(|| "it has no recording.json".into());
            let message = format_args!("{}: the program is not known: {why}", path.display());
            return Err(Failure::new(Kind::Input, message).hint("name it with --program FILE"));
        };
        Ok(Self {
            program: program.map_or_else(|| description.program.into(), Path::to_path_buf),
            version: description.runtime.version,
            recording: Some(path.to_path_buf()),
            build_id: description.build_id,
        })
    }

    pub(super) fn open(&self) -> Result<MappedFile, Failure> {
        MappedFile::open(&self.program).map_err(|error| {
            Failure::unreadable(&self.program, &error).or_hint(if self.recording.is_some() {
                "name the program's file with --program FILE"
            } else {
                "name a recording, or an OCaml program in native code"
            })
        })
    }

    /// Whether this is the program that was recorded.
    pub(super) fn check(&self, program: &Program<'_>) -> Result<(), Failure> {
        if self.build_id.is_some() && self.build_id != program.build_id {
            let program = self.program.display();
            let message =
                format!("{program} is not the program that was recorded: its build id differs");
            return Err(Failure::new(Kind::Input, message)
                .hint("name the file that was recorded with --program FILE"));
        }
        Ok(())
    }

    /// Units that the recording's last snapshot has and the program's file has not: those of plugins.
    pub(super) fn loaded(&self, program: &Program<'_>) -> Result<Names, Failure> {
        let Some(folder) = &self.recording else { return Ok(Names::new()) };
        let linked: Names = program.units.iter().map(|unit| plugins::shown(&unit.name)).collect();
        let units = Self::units(folder)?.unwrap_or_default();
        Ok(units.into_iter().filter(|name| !linked.contains(name)).collect())
    }

    /// Units that the last snapshot of a recording has; `None` if there is no snapshot.
    pub(super) fn units(folder: &Path) -> Result<Option<Names>, Failure> {
        let mut snapshots: Vec<(u64, PathBuf)> = fs::read_dir(folder)?
            .flatten()
            .filter_map(|entry| {
                Some((number_of_snapshot(entry.file_name().to_str()?)?, entry.path()))
            })
            .collect();
        snapshots.sort();
        for (_, path) in snapshots.iter().rev() {
            let Ok(map) = MappedFile::open(path) else { continue };
            let Ok(snapshot) = Snapshot::read(&map) else { continue };
            let labels = &snapshot.labels;
            let units = labels.iter().filter(|(_, label)| {
                label.kind == RootKind::Global && label.part == LabelRole::Unit
            });
            return Ok(Some(units.map(|(_, label)| labels.name(label).to_vec()).collect()));
        }
        Ok(None)
    }

    /// What was stored in the recording earlier, and the file's name.
    pub(super) fn stored(&self) -> Result<Option<(Types, PathBuf)>, Failure> {
        let Some(folder) = &self.recording else { return Ok(None) };
        Ok(stored::stored_earlier(folder)?
            .map(|stored| (stored.types, folder.join(memtrail_types::FILE))))
    }

    /// Stores the result in the recording, and gives the file's name.
    pub(super) fn store(&self, types: &Types) -> Result<Option<PathBuf>, Failure> {
        let Some(folder) = &self.recording else { return Ok(None) };
        let path = folder.join(memtrail_types::FILE);
        let output = Output::create(&path)?;
        std::io::Write::write_all(&mut &output.file, &types.to_bytes())
            .map_err(|error| output.failure(&error))?;
        output.keep()?;
        Ok(Some(path))
    }
}

fn version(program: &Path) -> String {
    let bytes = fs::read(program).unwrap_or_default();
    match inspect(&bytes) {
        Verdict::Ocaml(program) => program.version.to_string(),
        Verdict::Refused(_) | Verdict::NotOcaml(_) => String::new(),
    }
}
