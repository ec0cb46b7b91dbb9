//! Values as `Marshal` writes them (`runtime/intern.c`, `runtime/caml/intext.h`).

/// Why bytes are no marshalled value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarshalError {
    /// The first bytes are others.
    #[error("no marshalled value at offset {offset:#x}")]
    NoMagic {
        /// First byte of the value.
        offset: usize,
    },
    /// The value ends behind the last byte.
    #[error("cut off at offset {offset:#x}")]
    Truncated {
        /// First byte that is missing.
        offset: usize,
    },
    /// A code that is not known, or leads nowhere.
    #[error("damaged at offset {offset:#x}: {cause}")]
    Damaged {
        /// Byte of the code.
        offset: usize,
        /// The fault, as a fragment.
        cause: &'static str,
    },
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer, or a constructor without arguments.
    Integer(i64),
    /// A block with fields.
    Block(u32),
    /// A string.
    String(u32),
    /// A value of which nothing is kept: a float, or a pointer to code.
    Opaque,
}

/// A value that was read, with all that it leads to.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    root: Value,
    /// Tag, first field and number of fields.
    blocks: Vec<(u8, u32, u32)>,
    fields: Vec<Value>,
    strings: Vec<&'a [u8]>,
}

const MAGIC_SMALL: [u8; 4] = 0x8495_a6be_u32.to_be_bytes();
const MAGIC_BIG: [u8; 4] = 0x8495_a6bf_u32.to_be_bytes();
/// Bytes of the headers that begin so, and places of the length of what follows.
const HEADER_SMALL: usize = 20;
const HEADER_BIG: usize = 32;

mod code {
    pub(super) const SMALL_BLOCK: u8 = 0x80;
    pub(super) const SMALL_INT: u8 = 0x40;
    pub(super) const SMALL_STRING: u8 = 0x20;
    pub(super) const INT8: u8 = 0x0;
    pub(super) const INT16: u8 = 0x1;
    pub(super) const INT32: u8 = 0x2;
    pub(super) const INT64: u8 = 0x3;
    pub(super) const SHARED8: u8 = 0x4;
    pub(super) const SHARED16: u8 = 0x5;
    pub(super) const SHARED32: u8 = 0x6;
    pub(super) const DOUBLES32_LITTLE: u8 = 0x7;
    pub(super) const BLOCK32: u8 = 0x8;
    pub(super) const STRING8: u8 = 0x9;
    pub(super) const STRING32: u8 = 0xa;
    pub(super) const DOUBLE_BIG: u8 = 0xb;
    pub(super) const DOUBLE_LITTLE: u8 = 0xc;
    pub(super) const DOUBLES8_BIG: u8 = 0xd;
    pub(super) const DOUBLES8_LITTLE: u8 = 0xe;
    pub(super) const DOUBLES32_BIG: u8 = 0xf;
    pub(super) const CODE_POINTER: u8 = 0x10;
    pub(super) const INFIX_POINTER: u8 = 0x11;
    pub(super) const BLOCK64: u8 = 0x13;
    pub(super) const SHARED64: u8 = 0x14;
    pub(super) const STRING64: u8 = 0x15;
    pub(super) const CUSTOM_FIXED: u8 = 0x19;
}

/// Names of custom blocks of a known length, with their bytes: `int32`, `int64`.
const CUSTOM: [(&[u8], usize); 2] = [(b"_i", 4), (b"_j", 8)];

impl<'a> Values<'a> {
    /// Reads the value that begins at `offset`, and returns where it ends.
    pub fn read(bytes: &'a [u8], offset: usize) -> Result<(Self, usize), MarshalError> {
        let header = bytes.get(offset..).unwrap_or_default();
        let truncated = MarshalError::Truncated { offset: bytes.len() };
        let (length, start) = if header.starts_with(&MAGIC_SMALL) {
            let length = header.get(4..).and_then(|rest| rest.first_chunk());
            let length = u32::from_be_bytes(*length.ok_or(truncated)?) as usize;
            (length, HEADER_SMALL)
        } else if header.starts_with(&MAGIC_BIG) {
            let length = header.get(8..).and_then(|rest| rest.first_chunk());
            let length = u64::from_be_bytes(*length.ok_or(truncated)?);
            (usize::try_from(length).map_err(|_| truncated)?, HEADER_BIG)
        } else {
            return Err(MarshalError::NoMagic { offset });
        };
        let start = offset + start;
        let end = start.checked_add(length).filter(|end| *end <= bytes.len()).ok_or(truncated)?;
        let mut reader = Reader {
            bytes: bytes.get(..end).unwrap_or_default(),
            at: start,
            objects: Vec::new(),
            values: Self {
                root: Value::Opaque,
                blocks: Vec::new(),
                fields: Vec::new(),
                strings: Vec::new(),
            },
        };
        reader.all()?;
        Ok((reader.values, end))
    }

    /// The value itself.
    pub fn root(&self) -> Value {
        self.root
    }

    /// A field of a block.
    pub fn field(&self, value: Value, index: u32) -> Option<Value> {
        let (_, first, count) = self.block(value)?;
        let place = (index < count).then(|| first + index)?;
        self.fields.get(place as usize).copied()
    }

    /// Tag and number of fields of a block.
    pub fn shape(&self, value: Value) -> Option<(u8, u32)> {
        self.block(value).map(|(tag, _, count)| (tag, count))
    }

    /// The bytes of a string.
    pub fn string(&self, value: Value) -> Option<&'a [u8]> {
        match value {
            Value::String(place) => self.strings.get(place as usize).copied(),
            _ => None,
        }
    }

    fn block(&self, value: Value) -> Option<(u8, u32, u32)> {
        match value {
            Value::Block(place) => self.blocks.get(place as usize).copied(),
            _ => None,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Blocks and strings in the order in which they began, for those that are shared.
    objects: Vec<Value>,
    values: Values<'a>,
}

impl<'a> Reader<'a> {
    fn all(&mut self) -> Result<(), MarshalError> {
        // Blocks under way: the next field, and the end of the fields.
        let mut open: Vec<(u32, u32)> = Vec::new();
        self.values.root = self.value(&mut open)?;
        while let Some((next, end)) = open.last_mut() {
            if next == end {
                open.pop();
                continue;
            }
            let place = *next as usize;
            *next += 1;
            let value = self.value(&mut open)?;
            if let Some(field) = self.values.fields.get_mut(place) {
                *field = value;
            }
        }
        Ok(())
    }

    /// Reads a value; the fields of a block are left to the caller.
    fn value(&mut self, open: &mut Vec<(u32, u32)>) -> Result<Value, MarshalError> {
        let begin = self.at;
        let damaged = |cause| MarshalError::Damaged { offset: begin, cause };
        let code = self.number(1)? as u8;
        if code >= code::SMALL_BLOCK {
            return self.block(code & 0xf, u64::from(code >> 4 & 7), open);
        }
        if code >= code::SMALL_INT {
            return Ok(Value::Integer(i64::from(code & 0x3f)));
        }
        if code >= code::SMALL_STRING {
            return self.string(u64::from(code & 0x1f));
        }
        match code {
            code::INT8 => Ok(Value::Integer(i64::from(self.number(1)? as i8))),
            code::INT16 => Ok(Value::Integer(i64::from(self.number(2)? as i16))),
            code::INT32 => Ok(Value::Integer(i64::from(self.number(4)? as i32))),
            code::INT64 => Ok(Value::Integer(self.number(8)?.cast_signed())),
            code::SHARED8 | code::SHARED16 | code::SHARED32 | code::SHARED64 => {
                let length = match code {
                    code::SHARED8 => 1,
                    code::SHARED16 => 2,
                    code::SHARED32 => 4,
                    _ => 8,
                };
                let back = usize::try_from(self.number(length)?).ok();
                let place = back.and_then(|back| self.objects.len().checked_sub(back));
                let shared = place.and_then(|place| self.objects.get(place).copied());
                shared.ok_or_else(|| damaged("it leads to a block that is not there"))
            }
            code::BLOCK32 | code::BLOCK64 => {
                let header = self.number(if code == code::BLOCK32 { 4 } else { 8 })?;
                self.block(header as u8, header >> 10, open)
            }
            code::STRING8 | code::STRING32 | code::STRING64 => {
                let length = match code {
                    code::STRING8 => 1,
                    code::STRING32 => 4,
                    _ => 8,
                };
                let length = self.number(length)?;
                self.string(length)
            }
            code::DOUBLE_BIG | code::DOUBLE_LITTLE => self.opaque(8),
            code::DOUBLES8_BIG | code::DOUBLES8_LITTLE => {
                let count = self.number(1)?;
                self.opaque(8 * count)
            }
            code::DOUBLES32_BIG | code::DOUBLES32_LITTLE => {
                let count = self.number(4)?;
                self.opaque(8 * count)
            }
            code::CODE_POINTER => {
                self.bytes(4 + 16)?;
                Ok(Value::Opaque)
            }
            code::INFIX_POINTER => {
                self.number(4)?;
                self.value(open)
            }
            code::CUSTOM_FIXED => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let name = rest.split(|&byte| byte == 0).next().unwrap_or_default();
                let known = CUSTOM.iter().find(|(known, _)| *known == name);
                let (name, length) = known.ok_or_else(|| damaged("a custom block"))?;
                self.opaque((name.len() + 1 + length) as u64)
            }
            _ => Err(damaged("an unknown code")),
        }
    }

    fn block(
        &mut self,
        tag: u8,
        count: u64,
        open: &mut Vec<(u32, u32)>,
    ) -> Result<Value, MarshalError> {
        let left = self.bytes.len().saturating_sub(self.at) as u64;
        let places = (u32::try_from(self.values.blocks.len()), self.values.fields.len());
        let (Ok(place), Ok(first)) = (places.0, u32::try_from(places.1)) else {
            return Err(MarshalError::Damaged { offset: self.at, cause: "it is too large" });
        };
        // Each field has a byte at least.
        let end = u32::try_from(count).ok().and_then(|count| first.checked_add(count));
        let Some(end) = end.filter(|_| count <= left) else {
            return Err(MarshalError::Truncated { offset: self.bytes.len() });
        };
        self.values.blocks.push((tag, first, end - first));
        self.values.fields.resize(end as usize, Value::Opaque);
        let value = Value::Block(place);
        if count > 0 {
            // Blocks without fields are not shared.
            self.objects.push(value);
            open.push((first, end));
        }
        Ok(value)
    }

    fn string(&mut self, length: u64) -> Result<Value, MarshalError> {
        let text = self.bytes(length)?;
        let place = u32::try_from(self.values.strings.len());
        let place = place.map_err(|_| MarshalError::Truncated { offset: self.at })?;
        self.values.strings.push(text);
        self.objects.push(Value::String(place));
        Ok(Value::String(place))
    }

    fn opaque(&mut self, length: u64) -> Result<Value, MarshalError> {
        self.bytes(length)?;
        self.objects.push(Value::Opaque);
        Ok(Value::Opaque)
    }

    fn number(&mut self, length: u64) -> Result<u64, MarshalError> {
        let bytes = self.bytes(length)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8], MarshalError> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or(MarshalError::Truncated { offset: self.bytes.len() })?;
        self.at += found.len();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marshalled(data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC_SMALL.to_vec();
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend([0; 12]);
        bytes.extend(data);
        bytes
    }

    /// `let s = "ab" in [s; s], 7`, as OCaml writes it.
    #[test]
    fn shared_strings_are_read_once() {
        let bytes = marshalled(&[0xa0, 0xa0, 0x22, b'a', b'b', 0xa0, 0x04, 0x02, 0x40, 0x47]);
        let (values, end) = Values::read(&bytes, 0).expect("a value");
        assert_eq!(end, bytes.len());
        let list = values.field(values.root(), 0).expect("a list");
        let second = values.field(list, 1).expect("its rest");
        let texts = [list, second].map(|cell| values.string(values.field(cell, 0).unwrap()));
        assert_eq!(texts, [Some(&b"ab"[..]); 2]);
        assert_eq!(values.field(second, 1), Some(Value::Integer(0)));
        assert_eq!(values.field(values.root(), 1), Some(Value::Integer(7)));
        assert_eq!(values.field(values.root(), 2), None);
    }

    #[test]
    fn numbers_of_all_lengths() {
        let bytes = marshalled(&[
            0xc0, 0x00, 0xff, 0x01, 0xff, 0xfe, 0x02, 0x7f, 0xff, 0xff, 0xff, 0x03, 0x80, 0, 0, 0,
            0, 0, 0, 0,
        ]);
        let (values, _) = Values::read(&bytes, 0).expect("a value");
        let numbers = [0, 1, 2, 3].map(|field| values.field(values.root(), field));
        let expected = [-1, -2, 0x7fff_ffff, i64::MIN].map(|number| Some(Value::Integer(number)));
        assert_eq!(numbers, expected);
    }

    #[test]
    fn faults_are_told_with_their_places() {
        let refused = |data: &[u8]| Values::read(&marshalled(data), 0).expect_err("refused");
        assert_eq!(refused(&[0xa0, 0x40]), MarshalError::Truncated { offset: 22 });
        assert_eq!(refused(&[0x29, b'a']), MarshalError::Truncated { offset: 22 });
        let shared = refused(&[0x90, 0x04, 0x09]);
        assert!(matches!(shared, MarshalError::Damaged { offset: 21, .. }), "{shared}");
        assert_eq!(Values::read(b"text", 0).err(), Some(MarshalError::NoMagic { offset: 0 }));
        // Blocks as large as no file.
        let huge = refused(&[0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc, 0]);
        assert!(matches!(huge, MarshalError::Truncated { .. }), "{huge}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(data in prop::collection::vec(any::<u8>(), 0..300)) {
            crate::fuzz::bytecode(&marshalled(&data));
            crate::fuzz::bytecode(&data);
        }
    }
}
