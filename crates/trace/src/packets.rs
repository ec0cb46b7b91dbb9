//! The packets of a file one by one, without what is in them.

use crate::header::Header;

/// The packets that `bytes` begin with, each with its header, up to the first that is damaged or not whole.
pub fn whole_packets(bytes: &[u8]) -> impl Iterator<Item = (Header, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let header = Header::parse(rest).ok()?;
        let (packet, behind) = rest.split_at_checked(header.size)?;
        rest = behind;
        Some((header, packet))
    })
}
