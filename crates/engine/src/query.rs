//! What can be asked. `{"query": "flame", "rec": 0, "filter": ["live:end"], "cutoff": 0.001}`
//!
//! Everything but `query`, the name of the query, may be left out. Fields that do not exist are
//! refused; numbers beyond what a page could show are taken for the largest or smallest that it
//! could.

use crate::api_error::ApiError;

/// Bytes that a query may have.
const MAX_QUERY: usize = 1 << 18;

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$about])* pub $field: $type,)*
        }

        impl $name {
            /// Takes its fields; those that are left out are as by default.
            pub(in crate::query) fn take(
                #[allow(unused_mut, reason = "there are queries without fields")]
                mut fields: $crate::query::fields::Fields,
            ) -> Result<Self, String> {
                #[allow(unused_mut, reason = "the same")]
                let mut read = Self::default();
                $(fields.take(stringify!($field), &mut read.$field)?;)*
                fields.end(&[$(stringify!($field)),*])?;
                Ok(read)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let fields = $crate::query::fields::Fields::read(from)?;
                Self::take(fields).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

macro_rules! defaults {
    ($($name:ident { $($field:ident: $value:expr,)* })*) => {$(
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }
    )*};
}

macro_rules! selections {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $selection:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$about])* $selection,)*
        }
    )*};
}

/// An enum of the structs that have its variants' names.
macro_rules! queries {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $query:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$about])* $query($query),)*
        }

        impl $name {
            /// The names of its queries, but for capital letters.
            pub(crate) const NAMES: &[&str] = &[$(stringify!($query)),*];

            /// The query of the name at `number` in `NAMES`.
            pub(super) fn take(
                number: usize,
                fields: $crate::query::fields::Fields,
            ) -> Result<Self, String> {
                const READ: &[fn($crate::query::fields::Fields) -> Result<$name, String>] =
                    &[$(|fields| $query::take(fields).map($name::$query)),*];
                READ[number](fields)
            }

            /// Finds a name in `NAMES`.
            pub(super) fn number(name: &str) -> Option<usize> {
                Self::NAMES.iter().position(|known| known.to_ascii_lowercase() == name)
            }
        }
    };
}

mod fields;
mod heap;
mod profile;

use fields::Fields;
pub use heap::*;
pub use profile::*;

/// What can be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Of recordings and their traces.
    Profile(ProfileQuery),
    /// Of heap snapshots.
    Heap(HeapQuery),
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        if bytes.len() > MAX_QUERY {
            let message = format_args!("a query of {} bytes, more than {MAX_QUERY}", bytes.len());
            return Err(ApiError::bad(message));
        }
        Self::read(bytes).map_err(|error| ApiError::bad(format_args!("malformed query: {error}")))
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let mut fields = Fields::read(&mut json).map_err(|error| error.to_string())?;
        json.end().map_err(|error| error.to_string())?;
        let mut name = None;
        fields.take("query", &mut name)?;
        let name: String = name.ok_or("missing field `query`")?;
        if let Some(number) = ProfileQuery::number(&name) {
            ProfileQuery::take(number, fields).map(Self::Profile)
        } else if let Some(number) = HeapQuery::number(&name) {
            HeapQuery::take(number, fields).map(Self::Heap)
        } else {
            Err(format!("nothing is called {name:?}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        assert_eq!(
            Query::parse(br#"{"query":"about"}"#),
            Ok(Query::Profile(ProfileQuery::About(About {})))
        );
        let flame = Flame { filter: vec!["live:end".into()], limit: 7, ..Flame::default() };
        let text = br#"{"filter":["live:end"],"query":"flame","limit":7,"rec":0}"#;
        assert_eq!(Query::parse(text), Ok(Query::Profile(ProfileQuery::Flame(flame))));
        let path =
            HeapPath { kind: Some("string".into()), how: PathForm::Merged, ..HeapPath::default() };
        let text = br#"{"query":"heappath","kind":"string","how":"merged"}"#;
        assert_eq!(Query::parse(text), Ok(Query::Heap(HeapQuery::HeapPath(path))));
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for query in [
            "",
            "{}",
            "[]",
            r#"{"query":"nothing"}"#,
            r#"{"query":"HeapRoots"}"#,
            r#"{"query":"about","query":"about"}"#,
            r#"{"query":"about","reck":0}"#,
            r#"{"query":"flame","cutof":0.1}"#,
            r#"{"query":"flame","rec":-1}"#,
            r#"{"query":"flame","limit":1e99}"#,
            r#"{"query":"table","by":"colour"}"#,
            r#"{"query":"compare","a":{"rec":0,"filters":[]}}"#,
        ] {
            let api_error = Query::parse(query.as_bytes()).unwrap_err();
            assert!(api_error.message.starts_with("malformed query: "), "{query}: {api_error}");
        }
        assert!(Query::parse(&vec![b'['; MAX_QUERY]).is_err());
        assert!(Query::parse(&vec![b' '; MAX_QUERY + 1]).is_err());
    }
}
