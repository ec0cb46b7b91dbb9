//! Primitives of the format: numbers of variable length, texts, and a cursor that cannot run over.

/// Appends a number, seven bits a byte, low ones first; the top bit is set if more follow.
pub(crate) fn put(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Appends bytes with their length before them.
pub(crate) fn put_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    put(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

/// Reads on from a place in bytes. `None` is the end, or a number that is too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    /// Text; what is not UTF-8 is replaced.
    pub(crate) fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// A count of things that take up at least one byte each.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len() - self.at).then_some(count)
    }
}
