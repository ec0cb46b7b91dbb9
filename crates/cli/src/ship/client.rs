//! One HTTP request, and the meaning of its answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::address::Address;
use super::protocol::Request;
use super::secret::Credentials;
use crate::canvas::clean;
use crate::error::{Failure, Kind};

/// Time for a connection, and for a request with its answer.
const CONNECT: Duration = Duration::from_secs(10);
const REQUEST: Duration = Duration::from_secs(60);
/// Bytes of an answer that are read, and characters of it that messages have.
const MAX_ANSWER: u64 = 16 << 10;
const MAX_REASON: usize = 300;
/// The longest that a server may have us wait.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// The result of sending a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The server has it.
    Delivered,
    /// The server may take it later.
    Later {
        reason: String,
        /// The pause that the server asks for.
        pause: Option<Duration>,
    },
    /// The server does not want it.
    Refused { reason: String },
}

/// Sends to one destination.
pub(super) struct Client {
    agent: Agent,
    credentials: Option<Credentials>,
    tenant: Option<String>,
    /// User and password of a proxy, as its variable has them.
    of_proxy: Vec<String>,
}

impl Client {
    /// Refuses to send credentials unencrypted to another machine.
    pub(super) fn new(
        address: &Address,
        credentials: Option<Credentials>,
        tenant: Option<String>,
        ca: Option<&Path>,
    ) -> Result<Self, Failure> {
        if credentials.is_some() && !address.is_encrypted && !address.is_loopback {
            let message = format_args!("credentials would travel unencrypted to {address}");
            return Err(Failure::new(Kind::Usage, message)
                .hint("use https://, or a collector on this machine"));
        }
        // It fails if there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(REQUEST))
            .http_status_as_error(false)
            // A redirect would take credentials along.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("memtrail/", env!("CARGO_PKG_VERSION")));
        if address.is_encrypted {
            let roots = RootCerts::Specific(Arc::new(trusted(ca)?));
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let agent = config.build().new_agent();
        Ok(Self { agent, credentials, tenant, of_proxy: secrets_of_proxy() })
    }

    /// Posts a request.
    pub(super) fn post(&self, url: &str, message: &Request) -> Delivery {
        let mut request = self.agent.post(url).header("content-type", message.content_type);
        if message.is_compressed {
            request = request.header("content-encoding", "gzip");
        }
        if let Some(credentials) = &self.credentials {
            request = request.header("authorization", credentials.header());
        }
        if let Some(tenant) = &self.tenant {
            request = request.header("x-scope-orgid", tenant);
        }
        match request.send(&message.body[..]) {
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                let header =
                    answer.headers().get("retry-after").and_then(|text| text.to_str().ok());
                let pause = header.and_then(|text| text.trim().parse().ok());
                let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
                let body = body.unwrap_or_default();
                if let (200..=299, Some(reason)) = (status, (message.refusal)(&body)) {
                    return Delivery::Refused { reason: self.scrub(&reason) };
                }
                let text = String::from_utf8_lossy(&body);
                let reason = format!("HTTP {status}: {}", text.trim());
                meaning(status, self.scrub(&reason), pause.map(Duration::from_secs))
            }
            Err(error) => Delivery::Later { reason: self.scrub(&error.to_string()), pause: None },
        }
    }

    /// A reason of bounded length without secrets and control characters.
    fn scrub(&self, text: &str) -> String {
        let text = self.credentials.as_ref().map_or(text.to_owned(), |found| found.scrub(text));
        let text = self.of_proxy.iter().fold(text, |text, part| text.replace(part, "[secret]"));
        clean(&text).chars().take(MAX_REASON).collect()
    }
}

/// The meaning of a status. Time-outs, limits and faults of the server pass, and the user can mend credentials and addresses:
/// windows wait for that. A window itself is at fault otherwise.
fn meaning(status: u16, reason: String, pause: Option<Duration>) -> Delivery {
    match status {
        200..=299 => Delivery::Delivered,
        401 | 403 | 404 | 407 | 408 | 425 | 429 | 500..=599 => {
            Delivery::Later { reason, pause: pause.map(|pause| pause.min(MAX_WAIT)) }
        }
        _ => Delivery::Refused { reason },
    }
}

/// The certificate authorities in a file, or those of the system.
fn trusted(ca: Option<&Path>) -> Result<Vec<Certificate<'static>>, Failure> {
    let Some(path) = ca else {
        let found = rustls_native_certs::load_native_certs().certs;
        if found.is_empty() {
            let message = "the system has no certificate authorities";
            return Err(Failure::new(Kind::Work, message).hint("--ca FILE names a file of them"));
        }
        return Ok(found.iter().map(|found| Certificate::from_der(found).to_owned()).collect());
    };
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::new(Kind::Input, format_args!("cannot read {}: {error}", path.display()))
            .hint("--ca takes certificates in PEM format")
    };
    let text = std::fs::read(path).map_err(|error| cannot(&error))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| cannot(&error))? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err(cannot(&"no certificate in it")) } else { Ok(found) }
}

fn secrets_of_proxy() -> Vec<String> {
    let names =
        ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"];
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    let secret = values.filter_map(|value| {
        let (before, _) = value.rsplit_once('@')?;
        Some(before.rsplit_once("://").map_or(before, |(_, user)| user).to_owned())
    });
    secret.filter(|secret| !secret.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let of = |status| meaning(status, String::new(), None);
        assert_eq!(of(200), Delivery::Delivered);
        for status in [401, 403, 404, 408, 429, 500, 503] {
            assert!(matches!(of(status), Delivery::Later { .. }), "{status}");
        }
        for status in [301, 400, 413] {
            assert!(matches!(of(status), Delivery::Refused { .. }), "{status}");
        }
        let long = meaning(429, String::new(), Some(Duration::from_secs(1 << 40)));
        assert_eq!(long, Delivery::Later { reason: String::new(), pause: Some(MAX_WAIT) });
    }
}
