//! Bytes that a recording takes on the disk.

use std::fs;
use std::path::Path;

/// Bytes of all files in a folder, with those of folders in it. What cannot be read counts nothing.
pub fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, metadata)| if metadata.is_dir() { bytes_of(&path) } else { metadata.len() })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_a_recording_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("trace.ctf"), [0; 100]).unwrap();
        fs::write(folder.path().join("inner/0001.heap"), [0; 30]).unwrap();
        assert_eq!(bytes_of(folder.path()), 130);
        assert_eq!(bytes_of(&folder.path().join("absent")), 0);
    }
}
