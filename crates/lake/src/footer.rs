//! The schema version of a file of a lake, which is checked before its rows are read.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader as _};
use parquet::file::serialized_reader::SerializedFileReader;

use crate::error::Error;
use crate::place::EXTENSION;
use crate::schema::{PARTITIONS, SCHEMA, SCHEMA_KEY, Table};

/// Facts of a footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// Schema version; none in files that memtrail did not write.
    pub schema: Option<u64>,
    /// Rows of the file.
    pub rows: u64,
}

/// Reads the footer of a Parquet file from its bytes.
///
/// # Errors
/// If it is no Parquet file, or damaged.
pub fn read(bytes: impl ChunkReader + 'static) -> Result<Footer, ParquetError> {
    let reader = SerializedFileReader::new(bytes)?;
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().into_iter().flatten();
    let schema = pairs.filter(|pair| pair.key == SCHEMA_KEY).find_map(|pair| pair.value.as_ref());
    Ok(Footer {
        schema: schema.and_then(|schema| schema.parse().ok()),
        rows: u64::try_from(metadata.num_rows()).unwrap_or_default(),
    })
}

/// Checks that this memtrail reads a file.
///
/// # Errors
/// If it is damaged, of a later schema, or not memtrail's.
pub fn check(path: &Path) -> Result<Footer, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let footer = read(file).map_err(Error::damaged(path))?;
    match footer.schema {
        None => Err(Error::Foreign { path: path.to_path_buf() }),
        Some(found) if found > u64::from(SCHEMA) => {
            Err(Error::TooNew { path: path.to_path_buf(), found })
        }
        Some(_) => Ok(footer),
    }
}

/// The files of a table, by path.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(lake: &Path, table: Table) -> Result<Vec<PathBuf>, Error> {
    let mut folders = vec![lake.join(table.name())];
    for _ in PARTITIONS {
        let mut below = Vec::new();
        for folder in &folders {
            below.extend(entries(folder)?.into_iter().filter(|path| path.is_dir()));
        }
        folders = below;
    }
    let mut files = Vec::new();
    for folder in &folders {
        files.extend(entries(folder)?.into_iter().filter(|path| is_file_of_lake(path)));
    }
    files.sort();
    Ok(files)
}

fn is_file_of_lake(path: &Path) -> bool {
    let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !is_hidden && path.extension().is_some_and(|ending| ending == EXTENSION)
}

/// Entries of a folder; none if it does not exist.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            let entries = entries.map(|entry| entry.map(|entry| entry.path()));
            entries.collect::<Result<_, _>>().map_err(Error::io("read", folder))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("read", folder)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordingFiles;
    use crate::place::Partition;

    fn file(lake: &Path) -> PathBuf {
        let partition = Partition::new("shop", "1", 0);
        let files = RecordingFiles::create(lake, &partition, 7, false).unwrap();
        let written = files.finish().unwrap();
        written[Table::Samples as usize].path.clone()
    }

    #[test]
    fn files_are_found_and_checked() {
        let lake = tempfile::tempdir().unwrap();
        let path = file(lake.path());
        let found = files(lake.path(), Table::Samples).unwrap();
        assert!(found.iter().eq([&path]), "{found:?}");
        assert_eq!(check(&path).unwrap(), Footer { schema: Some(SCHEMA.into()), rows: 0 });
        assert!(files(lake.path(), Table::Blocks).unwrap().is_empty());
    }

    #[test]
    fn no_bytes_make_a_footer_panic() {
        let lake = tempfile::tempdir().unwrap();
        let path = file(lake.path());
        let whole = std::fs::read(&path).unwrap();
        for place in (0..whole.len()).step_by(3) {
            for value in [0xff, whole[place] ^ 1] {
                let mut bytes = whole.clone();
                bytes[place] = value;
                std::fs::write(&path, bytes).unwrap();
                let _ = check(&path);
            }
            std::fs::write(&path, &whole[..place]).unwrap();
            assert!(check(&path).is_err(), "{place}");
        }
    }
}
