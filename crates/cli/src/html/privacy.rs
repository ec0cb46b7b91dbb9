//! What of a recording goes into a file that others may get.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use memtrail_engine::heap::MemoryLimit;
use memtrail_engine::{Bytes, Description, SnapshotFacts, SnapshotFile};
use memtrail_heap::graph::{Failed, Place};
use memtrail_heap::query::Heap;
use memtrail_heap::read::Error;
use memtrail_heap::redact::{Removed, file_name, function_name, redact};
use memtrail_heap::{TypesSource, Variable};
use memtrail_references::{Place as RootPlace, References, Thread};
use memtrail_trace::redact::Replaced;
use memtrail_trace::{Reader, TraceInfo};

/// Replaces what is left out.
const REMOVED: &str = "removed";

/// How much is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Privacy {
    /// The contents of strings, where snapshots have them.
    pub(super) contents: bool,
    /// Nothing that shows whose machine it was.
    pub(super) redact: bool,
}

impl Privacy {
    fn removed(self) -> Removed {
        Removed { contents: !self.contents, identity: self.redact }
    }

    /// A trace as it is given away.
    pub(super) fn trace(
        self,
        trace: Box<dyn Deref<Target = [u8]>>,
    ) -> Box<dyn Deref<Target = [u8]>> {
        // What is no trace is refused later.
        let Some(info) = Reader::new(&trace).ok().filter(|_| self.redact) else { return trace };
        let info = info.info();
        let replaced = Replaced {
            info: TraceInfo {
                executable: file_name_of(&info.executable),
                host: REMOVED.into(),
                pid: 0,
                context: None,
                ..info.clone()
            },
            file: file_name,
            function: function_name,
        };
        Box::new(memtrail_trace::redact::redact(&trace, info.pid, &replaced))
    }

    /// What is said of the recording with this number.
    pub(super) fn description(self, number: usize, known: Description) -> Description {
        if !self.redact {
            return known;
        }
        Description {
            name: format!("recording-{}", number + 1),
            program: known.program.as_deref().map(file_name_of),
            args: Vec::new(),
            labels: BTreeMap::new(),
            library_units: Vec::new(),
            notes: known.notes.into_iter().map(note).collect(),
            threads: known.threads.map(|mut threads| {
                for (number, name) in threads.names.iter_mut().enumerate() {
                    *name = thread(number, name);
                }
                threads
            }),
            ..known
        }
    }

    /// A snapshot as it is given away.
    pub(super) fn snapshot(
        self,
        facts: SnapshotFacts,
        file: Arc<dyn SnapshotFile>,
    ) -> (SnapshotFacts, Arc<dyn SnapshotFile>) {
        if self.contents || !(self.redact || facts.contents || facts.damage.is_some()) {
            return (facts, file);
        }
        let cleaned = Cleaned { file, removed: self.removed() };
        let looked = cleaned.open().map_err(|error| error.to_string());
        let looked =
            looked.and_then(|bytes| SnapshotFacts::peek(&bytes).map_err(|error| error.to_string()));
        let facts = match looked {
            Ok(found) => SnapshotFacts { number: facts.number, ..found },
            Err(error) => SnapshotFacts {
                number: facts.number,
                damage: Some(error),
                ..SnapshotFacts::default()
            },
        };
        (facts, Arc::new(cleaned))
    }

    /// References as they are given away.
    pub(super) fn references(self, mut references: References) -> References {
        if self.redact {
            for module in &mut references.modules {
                *module = file_name_of(module);
            }
            for root in &mut references.roots {
                if let RootPlace::Data { variable: Some(variable), .. } = &mut root.place {
                    variable.position = variable.position.as_deref().map(file_name_of);
                }
                if let RootPlace::Stack(thread)
                | RootPlace::ThreadLocal(thread)
                | RootPlace::SystemCall(thread) = &mut root.place
                {
                    *thread = Thread(0);
                }
            }
        }
        references
    }

    /// Why something is not known, as it is given away.
    pub(super) fn reason(self, reason: String) -> String {
        if self.redact { note(reason) } else { reason }
    }

    /// A variable as it is given away.
    pub(super) fn variable(self, mut variable: Variable) -> Variable {
        if self.redact {
            variable.position = variable.position.as_deref().map(file_name_of);
        }
        variable
    }

    /// The bytes of a snapshot as they are given away, whatever is said of it.
    pub(super) fn bytes(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if self.contents {
            return Ok(bytes.to_vec());
        }
        redact(bytes, self.removed()).map_err(io::Error::other)
    }
}

/// A snapshot without what is removed. What was found out about the whole one is not of this one.
#[derive(Debug)]
struct Cleaned {
    file: Arc<dyn SnapshotFile>,
    removed: Removed,
}

impl SnapshotFile for Cleaned {
    fn open(&self) -> io::Result<Bytes> {
        let bytes = self.file.open()?;
        Ok(Box::new(redact(&bytes, self.removed).map_err(io::Error::other)?))
    }

    fn types_source(&self) -> TypesSource {
        self.file.types_source()
    }

    fn name_roots(&self, heap: &mut Heap<'_>) -> Result<(), Error> {
        self.file.name_roots(heap)
    }

    fn find_types(&self, heap: &mut Heap<'_>, place: &Place) -> Result<(), Failed> {
        self.file.find_types(heap, place)
    }

    fn memory_limit(&self) -> Option<MemoryLimit> {
        self.file.memory_limit()
    }
}

fn file_name_of(path: &str) -> String {
    String::from_utf8_lossy(file_name(path.as_bytes())).into_owned()
}

/// Notes say what figures are worth; paths and numbers of processes are in a few.
fn note(note: String) -> String {
    if note.contains('/') || note.contains("pid") || note.contains("process ") {
        "a note that names a file or a process was removed".into()
    } else {
        note
    }
}

/// The name of a thread without its number in the system: that of the first one is the process's.
/// Names stay different.
fn thread(number: usize, name: &str) -> String {
    let Some((plain, _)) = name.rsplit_once(" (") else { return name.to_owned() };
    format!("{plain} [{number}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_tells_whose_machine_it_was() {
        let known = Description {
            name: "server-4711.memtrail".into(),
            program: Some("/home/alice/server".into()),
            args: vec!["server".into(), "--password=x".into()],
            labels: [("host.name".to_owned(), "alice-pc".to_owned())].into(),
            notes: vec!["12 samples could not be written".into(), "cannot write /home/a".into()],
            threads: Some(memtrail_engine::describe::ThreadList {
                names: vec!["server (4711)".into(), String::new(), "worker (4712) [2]".into()],
                ..Default::default()
            }),
            ..Description::default()
        };
        let told = Privacy { contents: false, redact: true }.description(1, known.clone());
        assert_eq!((told.name.as_str(), told.program.as_deref()), ("recording-2", Some("server")));
        assert!(told.args.is_empty() && told.labels.is_empty());
        assert_eq!(told.notes[0], known.notes[0]);
        assert!(told.notes[1].starts_with("a note that "), "{:?}", told.notes);
        assert_eq!(told.threads.unwrap().names, ["server [0]", "", "worker [2]"]);
        assert_eq!(Privacy::default().description(0, known.clone()), known);
    }
}
