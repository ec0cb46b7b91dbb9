//! Reads OCaml's marshalled values, as far as executables contain them: integers, strings, blocks.
//!
//! The format is that of `runtime/extern.c` and `runtime/caml/intext.h`; it is the same in all versions.

use std::ops::Range;

const MAGIC_SMALL: u32 = 0x8495_A6BE;
const MAGIC_BIG: u32 = 0x8495_A6BF;

/// A value: a number, or the number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i64),
    Object(usize),
    /// A block without fields.
    Atom,
}

#[derive(Clone, Debug)]
enum Object {
    Text(Range<usize>),
    Block(Vec<Value>),
}

/// A value and all that it leads to.
#[derive(Debug)]
pub(crate) struct Marshalled<'a> {
    bytes: &'a [u8],
    objects: Vec<Object>,
    root: Value,
}

impl<'a> Marshalled<'a> {
    /// `None` if these are not the bytes of one.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        Reader { bytes, at: 0, objects: Vec::new() }.read()
    }

    pub(crate) const fn root(&self) -> Value {
        self.root
    }

    /// The fields of a block.
    pub(crate) fn fields(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::Object(number) => match self.objects.get(number)? {
                Object::Block(fields) => Some(fields),
                Object::Text(_) => None,
            },
            Value::Int(_) | Value::Atom => None,
        }
    }

    /// The bytes of a string.
    pub(crate) fn text(&self, value: Value) -> Option<&'a [u8]> {
        match value {
            Value::Object(number) => match self.objects.get(number)? {
                Object::Text(range) => self.bytes.get(range.clone()),
                Object::Block(_) => None,
            },
            Value::Int(_) | Value::Atom => None,
        }
    }

    /// The elements of a list, or of an array. One that leads back into itself ends somewhere.
    pub(crate) fn elements(&self, mut list: Value) -> Vec<Value> {
        let mut elements = Vec::new();
        while let Some([head, tail]) = self.fields(list)
            && elements.len() <= self.objects.len()
        {
            elements.push(*head);
            list = *tail;
        }
        elements
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    objects: Vec<Object>,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Option<Marshalled<'a>> {
        let skip = match self.unsigned(4)? as u32 {
            MAGIC_SMALL => 16,
            MAGIC_BIG => 28,
            _ => return None,
        };
        self.take(skip)?;
        let root = self.value()?;
        // Blocks whose fields are still to be read, and how many.
        let mut open = Vec::new();
        self.note_open(root, &mut open);
        while let Some((block, left)) = open.pop() {
            if left == 0 {
                continue;
            }
            open.push((block, left - 1));
            let known = self.objects.len();
            let value = self.value()?;
            if let Some(Object::Block(fields)) = self.objects.get_mut(block) {
                fields.push(value);
            }
            if self.objects.len() > known {
                self.note_open(value, &mut open);
            }
        }
        Some(Marshalled { bytes: self.bytes, objects: self.objects, root })
    }

    /// The fields of a block that was just begun come next.
    fn note_open(&mut self, value: Value, open: &mut Vec<(usize, usize)>) {
        let Value::Object(number) = value else { return };
        if let Some(Object::Block(fields)) = self.objects.get_mut(number) {
            open.push((number, fields.capacity()));
        }
    }

    fn value(&mut self) -> Option<Value> {
        let code = self.unsigned(1)? as u8;
        match code {
            0x80.. => self.block(u64::from(code >> 4 & 7)),
            0x40.. => Some(Value::Int(i64::from(code & 0x3f))),
            0x20.. => self.string(u64::from(code & 0x1f)),
            0x00 => Some(Value::Int(i64::from(self.unsigned(1)? as i8))),
            0x01 => Some(Value::Int(i64::from(self.unsigned(2)? as i16))),
            0x02 => Some(Value::Int(i64::from(self.unsigned(4)? as i32))),
            0x03 => Some(Value::Int(self.unsigned(8)? as i64)),
            0x04 => self.shared(1),
            0x05 => self.shared(2),
            0x06 => self.shared(4),
            0x14 => self.shared(8),
            0x08 => {
                let header = self.unsigned(4)?;
                self.block(header >> 10)
            }
            0x13 => {
                let header = self.unsigned(8)?;
                self.block(header >> 10)
            }
            0x09 => self.long_string(1),
            0x0a => self.long_string(4),
            0x15 => self.long_string(8),
            _ => None,
        }
    }

    fn block(&mut self, fields: u64) -> Option<Value> {
        if fields == 0 {
            return Some(Value::Atom);
        }
        // Each field takes up at least a byte.
        let fields = usize::try_from(fields).ok()?;
        if fields > self.bytes.len() - self.at {
            return None;
        }
        let mut all = Vec::new();
        all.reserve_exact(fields);
        Some(self.object(Object::Block(all)))
    }

    fn long_string(&mut self, width: usize) -> Option<Value> {
        let length = self.unsigned(width)?;
        self.string(length)
    }

    fn string(&mut self, length: u64) -> Option<Value> {
        let start = self.at;
        self.take(usize::try_from(length).ok()?)?;
        Some(self.object(Object::Text(start..self.at)))
    }

    fn shared(&mut self, width: usize) -> Option<Value> {
        let back = usize::try_from(self.unsigned(width)?).ok()?;
        let number = self.objects.len().checked_sub(back)?;
        (back > 0).then_some(Value::Object(number))
    }

    fn object(&mut self, object: Object) -> Value {
        self.objects.push(object);
        Value::Object(self.objects.len() - 1)
    }

    /// A number of so many bytes, the highest first.
    fn unsigned(&mut self, width: usize) -> Option<u64> {
        let bytes = self.take(width)?;
        Some(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Marshal.to_string [("A", Some "digest"); ("A", None)] []`, whose two "A" are one.
    const SHARED: &[u8] = b"\x84\x95\xA6\xBE\0\0\0\x10\0\0\0\x06\0\0\0\x10\0\0\0\x0f\
        \xa0\xa0\x21A\x90\x26digest\xa0\xa0\x04\x05\x40\x40";

    #[test]
    fn lists_of_pairs_are_read() {
        let read = Marshalled::read(SHARED).unwrap();
        let elements = read.elements(read.root());
        let names: Vec<_> = elements
            .iter()
            .map(|&pair| read.text(read.fields(pair).unwrap()[0]).unwrap())
            .collect();
        assert_eq!(names, [b"A", b"A"]);
        let some = read.fields(elements[0]).unwrap()[1];
        assert_eq!(read.text(read.fields(some).unwrap()[0]), Some(b"digest".as_slice()));
        assert_eq!(read.fields(elements[1]).unwrap()[1], Value::Int(0));
    }

    #[test]
    fn every_prefix_is_refused() {
        for end in 0..SHARED.len() {
            assert!(Marshalled::read(&SHARED[..end]).is_none(), "{end}");
        }
    }
}
