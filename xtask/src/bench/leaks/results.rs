//! Results of runs, kept in a file so that an interrupted benchmark goes on where it was.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use super::outcome::Outcome as Judged;
use crate::command::Outcome;

/// The results of one version of memtrail: a line each, `key TAB outcome TAB what it said`.
pub(super) struct Results {
    file: PathBuf,
    known: HashMap<String, (Judged, String)>,
}

impl Results {
    /// Open the file; lines that are not whole are left out.
    pub(super) fn open(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let known = text.lines().filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            let (key, outcome, said) = (parts.next()?, parts.next()?, parts.next()?);
            Some((key.to_owned(), (Judged::named(outcome)?, said.to_owned())))
        });
        Self { known: known.collect(), file }
    }

    /// The result of a run, from the file or by running it.
    pub(super) fn of(
        &mut self,
        key: &str,
        judge: impl FnOnce() -> Outcome<(Judged, String)>,
    ) -> Outcome<(Judged, String)> {
        if let Some(known) = self.known.get(key) {
            return Ok(known.clone());
        }
        let (outcome, said) = judge()?;
        let line = format!("{key}\t{}\t{said}\n", outcome.name());
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|e| format!("cannot write {}: {e}", self.file.display()))?;
        self.known.insert(key.to_owned(), (outcome, said.clone()));
        Ok((outcome, said))
    }
}
