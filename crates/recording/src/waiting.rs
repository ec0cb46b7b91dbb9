//! Bytes of a recording's file that wait for room on the disk, in shared memory of the session.
//!
//! While the disk is full, an agent keeps what it would append in the session's file `waiting-<pid>-<image>-<name>`, and
//! appends it later. If the process ends before that, the launcher appends what the file lacks.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | number of bytes that wait, from byte [`HEADER`] on, including those that were appended since; 0 if none wait |
//! | 8–23, 24–39 | two files, as a thinned trace takes the place of another one: the inode, and the length of the file before the first of these bytes was appended to it, modulo 2^64 |
//!
//! All numbers are little-endian. The agent writes bytes before it counts them, and a file's place before
//! the file has its name.

/// Bytes before those that wait.
pub const HEADER: usize = 64;
/// Bytes of the trace that may wait.
pub const TRACE: usize = 4 << 20;
/// Bytes of any other file that may wait.
pub const OTHERS: usize = 256 << 10;
/// The note of a recording of which something waited.
pub const NOTE: &str = "the disk was full, at the end or for a time: samples waited in memory";
/// Offsets of the two files in the header.
pub const FILES: [usize; 2] = [8, 24];

/// Name of the shared memory with what waits to be appended to a file of the recording.
pub fn waiting_name(pid: u32, image: u32, file: &str) -> String {
    format!("waiting-{pid}-{image}-{file}")
}

/// The process, the image and the recording's file in such a name.
pub fn parse_waiting_name(name: &str) -> Option<(u32, u32, &str)> {
    let mut parts = name.strip_prefix("waiting-")?.splitn(3, '-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?))
}

/// Bytes that wait to be appended to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<'a> {
    bytes: &'a [u8],
    /// Number of them that the file has already.
    appended: usize,
}

impl<'a> Waiting<'a> {
    /// Reads the shared memory for the file with this inode and length. `None` if nothing waits, or the memory is of
    /// another file.
    pub fn read(memory: &'a [u8], inode: u64, length: u64) -> Option<Self> {
        let count = usize::try_from(number(memory, 0)?).ok().filter(|&count| count > 0)?;
        let bytes = memory.get(HEADER..)?.get(..count)?;
        let before = FILES.iter().find_map(|&at| {
            (number(memory, at)? == inode).then(|| number(memory, at + 8)).flatten()
        })?;
        let appended = usize::try_from(length.wrapping_sub(before)).ok()?;
        (appended <= count).then_some(Self { bytes, appended })
    }

    /// All bytes, of which the file may have some: from the beginning of a packet or a line on.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes that the file has already.
    pub fn appended(&self) -> usize {
        self.appended
    }

    /// Bytes that the file lacks.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.appended..).unwrap_or_default()
    }
}

fn number(memory: &[u8], at: usize) -> Option<u64> {
    memory.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(files: [(u64, u64); 2], bytes: &[u8]) -> Vec<u8> {
        let mut memory = vec![0; HEADER];
        memory[..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        for (at, (inode, before)) in FILES.into_iter().zip(files) {
            memory[at..at + 8].copy_from_slice(&inode.to_le_bytes());
            memory[at + 8..at + 16].copy_from_slice(&before.to_le_bytes());
        }
        memory.extend_from_slice(bytes);
        memory.extend_from_slice(b"behind");
        memory
    }

    #[test]
    fn a_file_lacks_what_was_not_appended_to_it() {
        let memory = memory([(5, 100), (7, 40)], b"packets");
        let rest = |inode, length| Waiting::read(&memory, inode, length).map(|found| found.rest());
        assert_eq!(rest(5, 100), Some(&b"packets"[..]));
        assert_eq!(rest(5, 103), Some(&b"kets"[..]));
        assert_eq!(rest(7, 46), Some(&b"s"[..]), "the thinned trace");
        assert_eq!(rest(7, 47), Some(&b""[..]));
        assert_eq!((rest(7, 48), rest(7, 39), rest(6, 40)), (None, None, None));
    }

    #[test]
    fn a_thinned_trace_may_be_shorter_than_what_was_appended() {
        let memory = memory([(5, 100), (7, 0_u64.wrapping_sub(3))], b"packets");
        assert_eq!(Waiting::read(&memory, 7, 2).map(|found| found.rest()), Some(&b"ts"[..]));
    }

    #[test]
    fn nothing_waits_in_memory_that_was_just_made_or_is_cut_short() {
        assert_eq!(Waiting::read(&[0; HEADER + 8], 0, 0), None);
        let memory = memory([(5, 0), (0, 0)], b"packets");
        for length in 0..HEADER + 7 {
            assert_eq!(Waiting::read(&memory[..length], 5, 0), None, "{length}");
        }
    }

    #[test]
    fn names_come_back() {
        let name = waiting_name(4711, 2, "trace.ctf");
        assert_eq!(parse_waiting_name(&name), Some((4711, 2, "trace.ctf")));
        assert_eq!(parse_waiting_name("waiting-x-2-trace.ctf"), None);
        assert_eq!(parse_waiting_name("tail-1-2-3"), None);
    }
}
