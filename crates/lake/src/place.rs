//! The place of a table of a recording in a lake: `TABLE/service_name=S/service_version=V/date=YYYY-MM-DD/ID.parquet`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::identity::Hasher;
use crate::schema::{PARTITIONS, Table};

/// Version of a program whose recording has no label `service.version`.
pub const UNKNOWN_VERSION: &str = "unknown";
/// Name of a program of which not even the path is known.
pub const UNKNOWN_SERVICE: &str = "unknown";
/// Ending of the names of files of a lake.
pub const EXTENSION: &str = "parquet";
/// Bytes of a folder's name, at most: file systems allow 255.
const MAX_NAME: usize = 200;

/// The folder of a recording's files, below that of their table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    /// The program.
    pub service_name: String,
    /// Its version.
    pub service_version: String,
    /// The day on which the recording began, in UTC: `2026-11-28`.
    pub date: String,
}

impl Partition {
    /// The partition of a recording that began so many microseconds after the Unix epoch.
    pub fn new(service_name: &str, service_version: &str, start_unix_us: u64) -> Self {
        let start = i64::try_from(start_unix_us).ok();
        let start = start.and_then(|start| Timestamp::from_microsecond(start).ok());
        Self {
            service_name: service_name.to_owned(),
            service_version: service_version.to_owned(),
            date: start.unwrap_or_default().strftime("%Y-%m-%d").to_string(),
        }
    }

    /// Its folder of a table.
    pub fn folder(&self, lake: &Path, table: Table) -> PathBuf {
        let values = [&self.service_name, &self.service_version, &self.date];
        let mut path = lake.join(table.name());
        for (column, value) in PARTITIONS.iter().zip(values) {
            path.push(format!("{column}={}", escaped(value)));
        }
        path
    }
}

/// The name of a recording's files, without the ending.
pub fn file_stem(recording: i64) -> String {
    format!("{:016x}", recording as u64)
}

/// A value as the name of a folder, as Hive escapes it: `%2F` for `/`. Long values are cut, and end with their hash.
fn escaped(value: &str) -> String {
    if value.is_empty() {
        return "__HIVE_DEFAULT_PARTITION__".to_owned();
    }
    let mut name = String::new();
    for letter in value.chars() {
        let is_plain = letter.is_ascii_alphanumeric() || "._-+@ ".contains(letter);
        if is_plain || !(letter.is_ascii() || letter.is_control()) {
            name.push(letter);
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(name, "%{byte:02X}");
            }
        }
        if name.len() > MAX_NAME {
            let hash = Hasher::default().hash(value.as_bytes()) as u64;
            let _ = write!(name, "-{hash:016x}");
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_folders_that_hive_reads() {
        let partition = Partition::new("shop", "1.4", 1_795_871_315_226_860);
        let folder = partition.folder(Path::new("lake"), Table::Samples);
        let expected = "lake/samples/service_name=shop/service_version=1.4/date=2026-11-28";
        assert_eq!(folder, Path::new(expected));
    }

    #[test]
    fn hostile_values_stay_one_folder() {
        for value in ["../../etc", "a/b", "'; drop table x; --", "a=b%", "\n\u{9b}", "..", "*?["] {
            let name = escaped(value);
            assert!(!name.contains(['/', '\'', '=', '*', '\n', '\u{9b}']), "{name}");
            let folder = Partition::new(value, "1", 0).folder(Path::new("l"), Table::Frames);
            assert_eq!(folder.components().count(), 5, "{}", folder.display());
        }
        assert_eq!(escaped("a/b c%"), "a%2Fb c%25");
        assert_eq!(escaped("Bücher"), "Bücher");
        let long = "ä".repeat(1000);
        assert!(escaped(&long).len() < 255 && escaped(&long) != escaped(&long[2..]));
    }
}
