//! The message by which Pyroscope takes profiles: `push.v1.PushRequest`.
//!
//! Pyroscope subtracts the last profile of a series from the next one for `alloc_*` of profiles named `memory`, unless the
//! label `__delta__` is `false`. A window is a difference already, so the label is always there.

use prost::Message;

/// Profiles of several series.
#[derive(Clone, PartialEq, Message)]
pub struct PushRequest {
    /// The series.
    #[prost(message, repeated, tag = "1")]
    pub series: Vec<Series>,
}

/// A series and its profiles.
#[derive(Clone, PartialEq, Message)]
pub struct Series {
    /// Its labels.
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<Label>,
    /// Its profiles.
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<RawSample>,
}

/// A name and a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Label {
    /// The name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A profile.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct RawSample {
    /// A pprof file.
    #[prost(bytes = "vec", tag = "1")]
    pub raw_profile: Vec<u8>,
    /// A UUID.
    #[prost(string, tag = "2")]
    pub id: String,
}

/// A request with one pprof file.
pub fn request(labels: &[(String, String)], pprof: Vec<u8>, id: String) -> Vec<u8> {
    let fixed = [("__name__", "memory"), ("__delta__", "false")];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let labels = fixed.iter().chain(labels);
    let labels = labels.map(|(name, value)| Label { name: name.clone(), value: value.clone() });
    let series =
        Series { labels: labels.collect(), samples: vec![RawSample { raw_profile: pprof, id }] };
    PushRequest { series: vec![series] }.encode_to_vec()
}
