//! `--redact`: pseudonyms in place of the program's names, as `memtrail export --redact` writes them.

use std::collections::HashMap;
use std::path::Path;

use memtrail_engine::is_library_name;
use memtrail_export::pprof::Profile;
use memtrail_lake::identity::Hasher;
use memtrail_lake::pseudonym::Names;
use memtrail_recording::Recording;

use crate::error::Failure;
use crate::export::key;
use crate::snapshot_file::stored;

/// Name of the key's file without its ending, in the folder that has the recordings.
const KEY: &str = "ship";

/// Makes pseudonyms with a secret key.
pub(super) struct Redaction {
    hasher: Hasher,
}

impl Redaction {
    /// With the key `ship.key` in the folder of recordings, or beside a recording. It is made if it is missing.
    pub(super) fn new(path: &Path, is_folder: bool) -> Result<Self, Failure> {
        let path = std::path::absolute(path)?;
        let folder = if is_folder { Some(path.as_path()) } else { path.parent() };
        let key = key::of(&folder.unwrap_or(Path::new("/")).join(KEY))?;
        Ok(Self { hasher: Hasher::keyed(key) })
    }

    /// A profile with pseudonyms. Notes and labels of samples are left out: they may have names, too.
    pub(super) fn profile(&self, mut profile: Profile, recording: &Path) -> Profile {
        let units = stored::library_units(recording);
        let is_library = |name: &str| is_library_name(name, &units);
        let names = Names::pseudonyms(&self.hasher, &is_library);
        let old = std::mem::take(&mut profile.string_table);
        let of = |index: i64| usize::try_from(index).ok().and_then(|index| old.get(index));
        let of = |index: i64| of(index).map_or("", String::as_str);
        let mut strings = Strings::new();
        for value in profile.sample_type.iter_mut().chain(profile.period_type.as_mut()) {
            value.r#type = strings.index(of(value.r#type));
            value.unit = strings.index(of(value.unit));
        }
        profile.default_sample_type = strings.index(of(profile.default_sample_type));
        profile.comment.clear();
        for mapping in &mut profile.mapping {
            mapping.filename = strings.index(&names.file(of(mapping.filename)));
        }
        for function in &mut profile.function {
            function.name = strings.index(&names.function(of(function.name)));
            function.system_name = function.name;
            function.filename = strings.index(&names.file(of(function.filename)));
        }
        for sample in &mut profile.sample {
            sample.label.clear();
        }
        profile.string_table = strings.table;
        profile
    }

    /// The name of an owner or call site.
    pub(super) fn name(&self, name: &str, recording: &Path) -> String {
        let units = stored::library_units(recording);
        let is_library = |name: &str| is_library_name(name, &units);
        Names::pseudonyms(&self.hasher, &is_library).text(name).into_owned()
    }

    /// A pseudonym of the process.
    pub(super) fn process(&self, recording: &Recording) -> String {
        let known = recording.description.as_ref();
        let pid = known.map_or(0, |known| known.pid).to_string();
        let start = known.map_or(0, |known| known.clock.start_unix_us).to_string();
        let host = known.map_or("", |known| known.host.as_str());
        format!("{:016x}", self.hasher.of_texts(&[host, &pid, &start]))
    }
}

/// Strings, each once. The first is empty, as pprof wants it.
struct Strings {
    table: Vec<String>,
    indices: HashMap<String, i64>,
}

impl Strings {
    fn new() -> Self {
        Self { table: vec![String::new()], indices: HashMap::from([(String::new(), 0)]) }
    }

    fn index(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.indices.get(text) {
            return index;
        }
        let index = self.table.len() as i64;
        self.table.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index
    }
}
