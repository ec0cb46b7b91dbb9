//! The bytes of an answer: a JSON header, and columns that a page can use without copying.
//!
//! ```text
//! "MTA1"  u32 LE n  n bytes of JSON  zeros up to a multiple of 8  column data
//! ```
//!
//! The header is an object. Its `columns` say where each column stands: `{"name": {"type": "f64",
//! "at": 0, "len": 3}}`, with `at` in bytes from the beginning of the column data, a multiple of 8,
//! and `len` in elements. Numbers are little-endian.

use std::collections::BTreeMap;

use memtrail_order::SortRows as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What every answer begins with.
pub const MAGIC: [u8; 4] = *b"MTA1";
/// Bytes before the JSON.
const PREFIX: usize = 8;

/// An answer in the making, or one that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseBody {
    header: Map<String, Value>,
    columns: Vec<(String, Column)>,
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is called as its element type")]
pub enum Column {
    F64(Vec<f64>),
    F32(Vec<f32>),
    U32(Vec<u32>),
    U16(Vec<u16>),
    U8(Vec<u8>),
}

/// Why bytes are no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// They do not begin as one.
    #[error("not a response: it does not begin with MTA1")]
    Magic,
    /// They end too early.
    #[error("the response ends after {have} bytes, {need} are needed")]
    Short {
        /// Bytes there are.
        have: usize,
        /// Bytes there should be at least.
        need: usize,
    },
    /// The header is not the JSON it should be.
    #[error("malformed header of a response: {0}")]
    Header(String),
}

impl ResponseBody {
    /// An answer of the fields of `header`, which must serialize to an object.
    pub fn new(header: impl Serialize) -> Self {
        let header = match serde_json::to_value(header) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self { header, columns: Vec::new() }
    }

    /// Adds a field to the header.
    pub fn set(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.header.insert(name.to_owned(), value);
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, name: &str, column: impl Into<Column>) -> Self {
        self.columns.push((name.to_owned(), column.into()));
        self
    }

    /// The fields, without those that say where columns stand.
    pub fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// A column of bytes.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.column(name) {
            Some(Column::U8(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// All columns, in their order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().map(|(name, column)| (name.as_str(), column))
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = Vec::new();
        let mut places = BTreeMap::new();
        for (name, column) in &self.columns {
            let place = ColumnPlace { r#type: column.kind(), at: data.len(), len: column.len() };
            places.insert(name, place);
            column.append(&mut data);
            pad(&mut data);
        }
        let mut header = self.header.clone();
        header.insert("columns".to_owned(), serde_json::to_value(places).unwrap_or_default());
        let header = Value::Object(header).to_string();
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + 8 + data.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        pad(&mut bytes);
        bytes.extend_from_slice(&data);
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let short = |need| Malformed::Short { have: bytes.len(), need };
        let prefix = bytes.first_chunk::<PREFIX>().ok_or(short(PREFIX))?;
        let [a, b, c, d, size @ ..] = *prefix;
        if [a, b, c, d] != MAGIC {
            return Err(Malformed::Magic);
        }
        let end = PREFIX.saturating_add(u32::from_le_bytes(size) as usize);
        let text = bytes.get(PREFIX..end).ok_or(short(end))?;
        let malformed = |what: &dyn std::fmt::Display| Malformed::Header(what.to_string());
        let mut header: Map<String, Value> =
            serde_json::from_slice(text).map_err(|error| malformed(&error))?;
        let places: BTreeMap<String, ColumnPlace> = match header.remove("columns") {
            Some(places) => serde_json::from_value(places).map_err(|error| malformed(&error))?,
            None => return Err(malformed(&"no columns")),
        };
        let data = bytes.get(end.next_multiple_of(8)..).unwrap_or_default();
        let mut columns = Vec::new();
        for (name, place) in places {
            let column = Column::read(data, &place).ok_or_else(|| malformed(&name))?;
            columns.push((place.at, name, column));
        }
        // The map has them by name; those without elements share their place with the next.
        columns.sort_rows_by_key(|&(at, _, ref column)| (at, !column.is_empty()));
        let columns = columns.into_iter().map(|(_, name, column)| (name, column)).collect();
        Ok(Self { header, columns })
    }
}

/// Where a column stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ColumnPlace {
    r#type: ColumnType,
    /// Bytes from the beginning of the column data, a multiple of 8.
    at: usize,
    /// Elements.
    len: usize,
}

/// What a column is made of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
enum ColumnType {
    F64,
    F32,
    U32,
    U16,
    U8,
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

impl Column {
    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(c) => c.len(),
            Self::F32(c) => c.len(),
            Self::U32(c) => c.len(),
            Self::U16(c) => c.len(),
            Self::U8(c) => c.len(),
        }
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, as the widest type.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::F64(c) => c.clone(),
            Self::F32(c) => c.iter().copied().map(f64::from).collect(),
            Self::U32(c) => c.iter().copied().map(f64::from).collect(),
            Self::U16(c) => c.iter().copied().map(f64::from).collect(),
            Self::U8(c) => c.iter().copied().map(f64::from).collect(),
        }
    }

    const fn kind(&self) -> ColumnType {
        match self {
            Self::F64(_) => ColumnType::F64,
            Self::F32(_) => ColumnType::F32,
            Self::U32(_) => ColumnType::U32,
            Self::U16(_) => ColumnType::U16,
            Self::U8(_) => ColumnType::U8,
        }
    }

    fn append(&self, to: &mut Vec<u8>) {
        match self {
            Self::F64(c) => to.extend(c.iter().flat_map(|n| n.to_le_bytes())),
            Self::F32(c) => to.extend(c.iter().flat_map(|n| n.to_le_bytes())),
            Self::U32(c) => to.extend(c.iter().flat_map(|n| n.to_le_bytes())),
            Self::U16(c) => to.extend(c.iter().flat_map(|n| n.to_le_bytes())),
            Self::U8(c) => to.extend_from_slice(c),
        }
    }

    fn read(data: &[u8], place: &ColumnPlace) -> Option<Self> {
        fn cells<const N: usize>(data: &[u8], place: &ColumnPlace) -> Option<Vec<[u8; N]>> {
            let end = place.len.checked_mul(N)?.checked_add(place.at)?;
            Some(data.get(place.at..end)?.as_chunks::<N>().0.to_vec())
        }
        Some(match place.r#type {
            ColumnType::F64 => {
                Self::F64(cells(data, place)?.into_iter().map(f64::from_le_bytes).collect())
            }
            ColumnType::F32 => {
                Self::F32(cells(data, place)?.into_iter().map(f32::from_le_bytes).collect())
            }
            ColumnType::U32 => {
                Self::U32(cells(data, place)?.into_iter().map(u32::from_le_bytes).collect())
            }
            ColumnType::U16 => {
                Self::U16(cells(data, place)?.into_iter().map(u16::from_le_bytes).collect())
            }
            ColumnType::U8 => {
                Self::U8(cells(data, place)?.into_iter().map(u8::from_le_bytes).collect())
            }
        })
    }
}

impl From<Vec<f64>> for Column {
    fn from(column: Vec<f64>) -> Self {
        Self::F64(column)
    }
}

impl From<Vec<f32>> for Column {
    fn from(column: Vec<f32>) -> Self {
        Self::F32(column)
    }
}

impl From<Vec<u32>> for Column {
    fn from(column: Vec<u32>) -> Self {
        Self::U32(column)
    }
}

impl From<Vec<u16>> for Column {
    fn from(column: Vec<u16>) -> Self {
        Self::U16(column)
    }
}

impl From<Vec<u8>> for Column {
    fn from(column: Vec<u8>) -> Self {
        Self::U8(column)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn column() -> impl Strategy<Value = Column> {
        prop_oneof![
            prop::collection::vec(any::<f64>().prop_filter("NaN", |n| !n.is_nan()), 0..9)
                .prop_map(Column::F64),
            prop::collection::vec(any::<f32>().prop_filter("NaN", |n| !n.is_nan()), 0..9)
                .prop_map(Column::F32),
            prop::collection::vec(any::<u32>(), 0..9).prop_map(Column::U32),
            prop::collection::vec(any::<u16>(), 0..9).prop_map(Column::U16),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Column::U8),
        ]
    }

    proptest! {
        #[test]
        fn answers_come_back(
            text in any::<String>(),
            columns in prop::collection::btree_map("[a-z]{1,3}", column(), 0..5),
        ) {
            let mut response = ResponseBody::new(json!({ "text": text }));
            for (name, column) in columns {
                response = response.with(&name, column);
            }
            let bytes = response.encode();
            prop_assert_eq!(bytes.len() % 8, 0);
            let back = ResponseBody::decode(&bytes).unwrap();
            prop_assert_eq!(back.header(), response.header());
            for (name, column) in response.columns() {
                prop_assert_eq!(back.column(name), Some(column));
            }
            for cut in 0..bytes.len() {
                let _ = ResponseBody::decode(&bytes[..cut]);
            }
        }
    }

    #[test]
    fn columns_stand_at_multiples_of_eight() {
        let response =
            ResponseBody::new(json!({ "a": 1 })).with("x", vec![1_u8]).with("y", vec![0.5_f64]);
        let bytes = response.encode();
        let size = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + size]).unwrap();
        let data = (8 + size).next_multiple_of(8);
        assert_eq!(header["columns"]["y"], json!({ "type": "f64", "at": 8, "len": 1 }));
        assert_eq!(bytes[data..], [&[1, 0, 0, 0, 0, 0, 0, 0][..], &0.5_f64.to_le_bytes()].concat());
    }

    #[test]
    fn other_bytes_are_refused() {
        assert_eq!(ResponseBody::decode(b"MTA"), Err(Malformed::Short { have: 3, need: 8 }));
        assert_eq!(ResponseBody::decode(b"MTA2\0\0\0\0"), Err(Malformed::Magic));
        assert_eq!(
            ResponseBody::decode(b"MTA1\x09\0\0\0{}"),
            Err(Malformed::Short { have: 10, need: 17 })
        );
        assert!(matches!(ResponseBody::decode(b"MTA1\x02\0\0\0{}"), Err(Malformed::Header(_))));
        let far = br#"{"columns":{"x":{"type":"f64","at":18446744073709551608,"len":9}}}"#;
        let bytes = [b"MTA1", &(far.len() as u32).to_le_bytes(), &far[..]].concat();
        assert_eq!(ResponseBody::decode(&bytes), Err(Malformed::Header("x".into())));
    }
}
