//! The secret key of a lake that is given away: `LAKE.key` beside it. With it names have the same pseudonyms in all exports.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use memtrail_lake::identity::KEY_BYTES;

use crate::error::{Failure, Kind};

/// The key of a lake, made if there is none.
pub(crate) fn of(lake: &Path) -> Result<[u8; KEY_BYTES], Failure> {
    let path = path_of(lake);
    let failed = |action: &str, error: &io::Error| {
        Failure::new(Kind::Work, format_args!("cannot {action} {}: {error}", path.display()))
    };
    match fs::read(&path) {
        Ok(bytes) => bytes.try_into().map_err(|bytes: Vec<u8>| {
            let message = format_args!(
                "{} has {} bytes, and a key has {KEY_BYTES}",
                path.display(),
                bytes.len()
            );
            Failure::new(Kind::Usage, message).hint("remove the file, and export into a new lake")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut key = [0; KEY_BYTES];
            getrandom::fill(&mut key).map_err(|error| {
                Failure::new(Kind::Work, format_args!("there are no random numbers: {error}"))
            })?;
            let folder = path.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(folder).map_err(|error| failed("create the folder of", &error))?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            let written = options.open(&path).and_then(|mut file| file.write_all(&key));
            written.map_err(|error| failed("write", &error))?;
            Ok(key)
        }
        Err(error) => Err(failed("read", &error)),
    }
}

/// `fleet.key` of the lake `fleet/`.
fn path_of(lake: &Path) -> PathBuf {
    let lake = std::path::absolute(lake).unwrap_or_else(|_| lake.to_path_buf());
    let mut name = lake.file_name().unwrap_or_default().to_os_string();
    name.push(".key");
    lake.with_file_name(name)
}
