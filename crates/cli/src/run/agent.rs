//! The agents inside this binary, and their copies on disk that the dynamic loader can load.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use memtrail_map::MappedFile;
use memtrail_types::trusted_folder;
use xxhash_rust::xxh3::xxh3_128;

use super::native::Native;
use super::old_agents;
use super::process::{can_be_loaded, user_id};

/// An agent of this binary.
#[derive(Clone, Copy)]
pub(super) struct Agent {
    /// The library, gzipped.
    packed: &'static [u8],
    /// A hash of the library itself: what is on disk is compared without unpacking.
    hash: u128,
}

/// The agent for OCaml programs.
pub(super) static OCAML: Agent = Agent {
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/libmemtrail_agent.so.gz")),
    hash: number(env!("MEMTRAIL_AGENT_HASH")),
};

/// The agent for programs of other languages.
pub(super) static NATIVE: Agent = Agent {
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/libmemtrail_native.so.gz")),
    hash: number(env!("MEMTRAIL_NATIVE_HASH")),
};

/// The agent for OCaml programs whose calls of `malloc` are recorded, too.
pub(super) static WHOLE: Agent = Agent {
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/libmemtrail_whole.so.gz")),
    hash: number(env!("MEMTRAIL_WHOLE_HASH")),
};

/// The agent for a program of which this memory is recorded.
pub(super) fn for_memory(which: Native) -> Agent {
    match which {
        Native::None => OCAML,
        Native::Only => NATIVE,
        Native::Also => WHOLE,
    }
}

const fn number(hash: &str) -> u128 {
    match u128::from_str_radix(hash, 16) {
        Ok(hash) => hash,
        Err(_) => panic!("the build script writes a number"),
    }
}

impl Agent {
    /// Bytes of the library, which are at the end of what is gzipped.
    fn length(self) -> u64 {
        self.packed.last_chunk().map_or(0, |length| u64::from(u32::from_le_bytes(*length)))
    }

    /// The nanoseconds in the time of the file's last change, once its content was compared: whatever changes the file sets
    /// others.
    fn mark(self) -> u32 {
        (self.hash % 1_000_000_000) as u32
    }

    /// The library.
    pub(super) fn unpack(self) -> io::Result<Vec<u8>> {
        let mut agent = Vec::new();
        GzDecoder::new(self.packed).read_to_end(&mut agent)?;
        Ok(agent)
    }
}

/// The agent's path on disk, unpacked first if this version's is not there.
///
/// The name carries the content's hash, so versions live side by side and a damaged copy is never
/// taken for whole; the file appears under its name only when it is complete. Processes of the session load it by
/// its path at any time, so only folders that no other user can change will do.
pub(super) fn unpacked(agent: Agent) -> io::Result<PathBuf> {
    let name = old_agents::file_name(agent.hash);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in cache_folders() {
        let unpacked = unpack_into(agent, &folder, &name).and_then(|unpacked| {
            can_be_loaded(&unpacked.path)?;
            Ok(unpacked)
        });
        match unpacked {
            Ok(Unpacked { path, is_checked }) => {
                old_agents::remove(&path, is_checked.then(|| agent.mark()));
                return Ok(path);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The folders that agents may be in, the usual one first.
pub(super) fn cache_folders() -> Vec<PathBuf> {
    let home = |sub: &str| std::env::var_os("HOME").map(|h| Path::new(&h).join(sub));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let name = format!("memtrail-{}", user_id());
    let temporary = [std::env::temp_dir(), "/var/tmp".into(), "/dev/shm".into()];
    let cache = cache.or_else(|| home(".cache")).map(|folder| folder.join("memtrail"));
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join(&name));
    let temporary = temporary.into_iter().map(|folder| folder.join(&name));
    cache
        .into_iter()
        .chain(temporary)
        .chain(runtime)
        .filter(|folder| can_be_preloaded(folder))
        .collect()
}

/// The loader takes spaces and colons to separate libraries.
fn can_be_preloaded(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    !bytes.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b':')
}

/// A library on disk.
struct Unpacked {
    path: PathBuf,
    /// It is what it was when its content was compared.
    is_checked: bool,
}

/// True if the file at a path is the library. Its content is compared unless its mark is there: comparing takes more
/// instructions than the rest of the start.
fn is_whole(agent: Agent, path: &Path) -> bool {
    trusted_folder::is_own_file(path)
        && (fs::metadata(path).is_ok_and(|found| {
            found.len() == agent.length() && found.mtime_nsec() == i64::from(agent.mark())
        }) || MappedFile::open(path).is_ok_and(|found| xxh3_128(&found) == agent.hash))
}

fn unpack_into(agent: Agent, folder: &Path, name: &str) -> io::Result<Unpacked> {
    let folder = trusted_folder::make(folder)?;
    if !can_be_preloaded(&folder) {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let path = folder.join(name);
    if is_whole(agent, &path) {
        return Ok(Unpacked { path, is_checked: true });
    }
    let fresh = folder.join(format!(".{name}.{}", std::process::id()));
    // A process of the same number was interrupted.
    let _ = fs::remove_file(&fresh);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&fresh)?;
    file.write_all(&agent.unpack()?)?;
    // Whatever the umask is.
    file.set_permissions(fs::Permissions::from_mode(0o755))?;
    fs::rename(&fresh, &path)?;
    Ok(Unpacked { path, is_checked: false })
}
