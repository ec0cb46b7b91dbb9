//! Fields of a query, by name, before their types are known.
//!
//! Code that `serde` derives for each query is compiled for each way to read it, 3 kB each time; this is compiled once for
//! each type of field.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

/// Fields that nobody has taken yet.
pub(super) struct Fields(BTreeMap<String, Value>);

impl Fields {
    /// Takes a field, unless it is left out.
    ///
    /// # Errors
    /// If it is of another type.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &str,
        into: &mut T,
    ) -> Result<(), String> {
        if let Some(value) = self.0.remove(name) {
            *into = serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}"))?;
        }
        Ok(())
    }

    /// Nothing is left.
    ///
    /// # Errors
    /// If there is a field that is not one of `known`.
    pub(super) fn end(self, known: &[&str]) -> Result<(), String> {
        match (self.0.keys().next(), known) {
            (None, _) => Ok(()),
            (Some(name), []) => Err(format!("unknown field `{name}`, there are no fields")),
            (Some(name), known) => {
                Err(format!("unknown field `{name}`, expected one of `{}`", known.join("`, `")))
            }
        }
    }

    /// Reads an object.
    ///
    /// # Errors
    /// If it is none, or has a field twice.
    pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields(BTreeMap::new()))
    }
}

impl<'de> Visitor<'de> for Fields {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<Self, M::Error> {
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if self.0.contains_key(&name) {
                return Err(M::Error::custom(format_args!("duplicate field `{name}`")));
            }
            self.0.insert(name, value);
        }
        Ok(self)
    }
}
