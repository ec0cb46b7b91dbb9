//! The recordings in a compacted file: a list in its metadata, by which exports and compactions know them.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;

use crate::error::Error;
use crate::footer::entries;
use crate::place::EXTENSION;

/// Key of the metadata of a compacted file: the ids of its recordings.
pub(crate) const SOURCES_KEY: &str = "memtrail.recordings";
/// Beginning of the names of compacted files.
pub(crate) const PREFIX: &str = "compacted-";

/// The name of a file without its ending.
pub(crate) fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// True for the name of a compacted file.
pub(crate) fn is_compacted(path: &Path) -> bool {
    stem(path).starts_with(PREFIX)
}

/// The recordings in a compacted file, by their ids in hexadecimal.
pub(crate) fn sources(path: &Path) -> Result<Vec<String>, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let reader = SerializedFileReader::new(file).map_err(Error::damaged(path))?;
    let pairs = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let list = pairs.filter(|pair| pair.key == SOURCES_KEY).find_map(|pair| pair.value.as_ref());
    Ok(list.into_iter().flat_map(|list| list.split(' ')).map(str::to_owned).collect())
}

/// The compacted file of a folder with a recording, by its id in hexadecimal.
pub(crate) fn compacted_file_of(folder: &Path, recording: &str) -> Result<Option<PathBuf>, Error> {
    for path in entries(folder)? {
        let is_file = path.extension().is_some_and(|ending| ending == EXTENSION);
        if is_file && is_compacted(&path) && sources(&path)?.iter().any(|id| id == recording) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
