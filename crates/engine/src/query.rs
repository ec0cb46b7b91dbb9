//! What can be asked. `{"query": "flame", "rec": 0, "filter": ["live:end"], "cutoff": 0.001}`
//!
//! Everything but `query`, the name of the query, may be left out. Fields that do not exist are
//! refused; numbers beyond what a page could show are taken for the largest or smallest that it
//! could.

use serde::Deserialize;

use crate::api_error::ApiError;

/// Bytes that a query may have.
const MAX_QUERY: usize = 1 << 18;

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$about])* pub $field: $type,)*
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

/// An enum of the structs that have its variants' names, and whether a name is one of theirs.
macro_rules! queries {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $query:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "query", rename_all = "lowercase")]
        pub enum $name {
            $($(#[$about])* $query($query),)*
        }

        impl $name {
            /// The names of its queries, but for capital letters.
            pub(crate) const NAMES: &[&str] = &[$(stringify!($query)),*];

            pub(super) fn has(name: &str) -> bool {
                Self::NAMES.iter().any(|known| known.to_ascii_lowercase() == name)
            }
        }
    };
}

mod heap;
mod profile;

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

/// What a query is called; its fields are read by its own struct.
#[derive(Deserialize)]
struct QueryName {
    #[serde(rename = "query")]
    name: String,
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
        let malformed =
            |what: &dyn std::fmt::Display| ApiError::bad(format_args!("malformed query: {what}"));
        let QueryName { name } =
            serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
        let query = if ProfileQuery::has(&name) {
            serde_json::from_slice(bytes).map(Self::Profile)
        } else if HeapQuery::has(&name) {
            serde_json::from_slice(bytes).map(Self::Heap)
        } else {
            return Err(malformed(&format_args!("nothing is called {name:?}")));
        };
        query.map_err(|error| malformed(&error))
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
