//! Protocols by which a profile store takes windows.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use memtrail_export::pprof::Profile;
use memtrail_export::pyroscope;
use prost::Message as _;

use super::labels::{Labels, for_prometheus};
use super::otlp;

/// The method of Pyroscope that takes profiles.
const PUSH: &str = "/push.v1.PusherService/Push";
/// Its older interface, which other agents and proxies have, too.
const INGEST: &str = "/ingest";

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Protocol {
    /// Pyroscope's `push.v1.PusherService/Push`
    Push,
    /// Pyroscope's older `/ingest`, with pprof
    Ingest,
    /// OpenTelemetry's profiles over HTTP
    #[value(skip)]
    Otlp,
}

/// A request with one window.
pub(super) struct Request {
    /// Path and query, below the destination's address.
    pub(super) path: String,
    pub(super) content_type: &'static str,
    /// True if the body was compressed for the way.
    pub(super) is_compressed: bool,
    pub(super) body: Vec<u8>,
    /// Reads from the answer of a server that took a request why it refused the window in it.
    pub(super) refusal: fn(&[u8]) -> Option<String>,
}

impl Protocol {
    /// A window as a request. `id` is a UUID.
    pub(super) fn request(
        self,
        profile: &Profile,
        labels: Labels,
        id: &str,
    ) -> io::Result<Request> {
        let taken = |_: &[u8]| None;
        Ok(match self {
            Self::Push => {
                let file = gzip(&profile.encode_to_vec())?;
                let message = pyroscope::request(&for_prometheus(labels), file, id.to_owned());
                Request {
                    path: PUSH.to_owned(),
                    content_type: "application/proto",
                    is_compressed: true,
                    body: gzip(&message)?,
                    refusal: taken,
                }
            }
            Self::Ingest => Request {
                path: ingest(profile, &for_prometheus(labels)),
                content_type: "application/octet-stream",
                // Pyroscope does not decompress a request here, but the pprof file in it.
                is_compressed: false,
                body: gzip(&profile.encode_to_vec())?,
                refusal: taken,
            },
            Self::Otlp => Request {
                path: otlp::PATH.to_owned(),
                content_type: "application/x-protobuf",
                is_compressed: true,
                body: gzip(&otlp::request(profile, &labels, id))?,
                refusal: otlp::refusal,
            },
        })
    }
}

/// Path and query of a request to `/ingest`. The body is the pprof file: with `format=pprof` Pyroscope does not look into
/// forms. It sets `__delta__` to `false` itself.
fn ingest(profile: &Profile, labels: &Labels) -> String {
    let from = profile.time_nanos / 1_000_000_000;
    let until = (profile.time_nanos.saturating_add(profile.duration_nanos)) / 1_000_000_000 + 1;
    let service = labels.iter().find(|(name, _)| name == "service_name");
    let name = service.map_or("memtrail", |(_, value)| value);
    // The service's name has fewer characters here than labels have. Pyroscope prefers the label.
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-._/".contains(c) { c } else { '_' })
        .collect();
    // Values have no escapes.
    let plain = |value: &str| value.replace([',', '}'], "_");
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let name = encoded(&format!("{name}{{{}}}", labels.join(",")));
    format!("{INGEST}?name={name}&from={from}&until={until}&format=pprof&spyName=memtrail")
}

/// A value of a query.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes)?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_cannot_end_the_list_of_ingest() {
        let profile =
            Profile { time_nanos: 1_500_000_000, duration_nanos: 1, ..Profile::default() };
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let labels = vec![label("service_name", "a b&c"), label("zone", "x},evil=1")];
        let path = ingest(&profile, &labels);
        let expected = "/ingest?name=a_b_c%7Bservice_name%3Da%20b%26c%2Czone%3Dx__evil%3D1%7D\
                        &from=1&until=2&format=pprof&spyName=memtrail";
        assert_eq!(path, expected);
    }
}
