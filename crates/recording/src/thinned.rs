//! A trace that somebody else has thinned, to be taken in place of the one under way.
//!
//! The launcher writes it as [`UNFINISHED_FILE`], and gives it the name [`THINNED_FILE`] when it is whole. It ends with a
//! trailer: how many bytes of the old trace it is made of. The agent takes the trailer away, appends what the old
//! trace has had since, and gives it the trace's name. So whoever is killed, there is one whole trace.

/// Name inside the recording of a thinned trace that waits for the agent.
pub const THINNED_FILE: &str = ".trace.ctf.thinned";
/// Its name while it is written.
pub const UNFINISHED_FILE: &str = ".trace.ctf.thinned.part";
/// Bytes of the trailer.
pub const TRAILER: usize = 16;
/// First bytes of the trailer.
const MAGIC: [u8; 8] = *b"thinned1";

/// The trailer of a trace made of the first `covered` bytes of another.
pub fn trailer(covered: u64) -> [u8; TRAILER] {
    let mut bytes = [0; TRAILER];
    let (magic, count) = bytes.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    count.copy_from_slice(&covered.to_le_bytes());
    bytes
}

/// The number of bytes in a trailer; `None` if it is none.
pub fn parse_trailer(bytes: &[u8; TRAILER]) -> Option<u64> {
    let count = bytes.strip_prefix(&MAGIC)?.first_chunk()?;
    Some(u64::from_le_bytes(*count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_comes_back() {
        assert_eq!(parse_trailer(&trailer(1 << 40)), Some(1 << 40));
        assert_eq!(parse_trailer(&[0; TRAILER]), None);
    }
}
