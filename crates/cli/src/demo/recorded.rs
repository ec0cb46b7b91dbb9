//! A recording of the demo's program, for machines without OCaml.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use flate2::read::GzDecoder;

/// Names and contents of its files, gzipped.
const FILES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/demo.rs"));

/// Writes the recording into a new folder, readable by its owner only as all recordings.
pub(super) fn unpack_into(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    for (name, packed) in FILES {
        let mut bytes = Vec::new();
        GzDecoder::new(*packed).read_to_end(&mut bytes)?;
        let file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(name));
        file?.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::FILES;

    #[test]
    fn the_recording_is_small() {
        let bytes: usize = FILES.iter().map(|(_, packed)| packed.len()).sum();
        assert!(bytes < 200_000, "{bytes}");
        assert!(FILES.iter().any(|(name, _)| *name == "trace.ctf"));
        let ends = |name: &str, with: &str| Path::new(name).extension() == Some(with.as_ref());
        assert!(FILES.iter().any(|(name, _)| ends(name, "heap")));
        // Results of analyses depend on the version of the code, and are made anew.
        let is_derived = |name: &str| ends(name, "index") || ends(name, "summary");
        assert!(!FILES.iter().any(|(name, _)| is_derived(name)));
    }
}
