//! Who may talk to the server, and what browsers are told to refuse on its behalf.
//!
//! | attack | answer |
//! |---|---|
//! | another user of the machine, a page that scans ports | the token in the path, 404 without it |
//! | another user who holds connections open | `connections.rs`: deadlines, the oldest is closed |
//! | a page whose name is made to resolve to us (DNS rebinding) | foreign `Host`: 403 |
//! | a page that posts to us or reads our events | foreign `Origin` or `Sec-Fetch-Site`: 403 |
//! | names in the trace that are markup | the page makes none; the content policy runs only our script |
//! | the page in a frame, its address in a `Referer` | `frame-ancestors 'none'`, `no-referrer` |

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::connections::Visitor;
use crate::token::Token;

/// Nothing but our own files, nothing inline, nothing from elsewhere, in no frame.
pub(crate) const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Sent with every answer.
static HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// What a request must show.
pub(crate) struct Guard {
    token: Token,
    /// The server can be reached from this machine only.
    loopback: bool,
    /// Names that are ours besides `localhost` and addresses.
    names: Vec<String>,
}

impl Guard {
    pub(crate) fn new(token: Token, loopback: bool, names: Vec<String>) -> Self {
        Self { token, loopback, names }
    }

    /// Whether a request's address and headers are those of our own page. An address that names a
    /// host itself (`GET http://HOST/PATH`) must name the one in the header.
    fn is_ours(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let Ok(host) = host.to_str() else { return false };
        self.is_our_host(host)
            && uri.scheme().is_none_or(|scheme| *scheme == Scheme::HTTP)
            && uri.authority().is_none_or(|authority| authority.as_str() == host)
            && headers.get_all(header::ORIGIN).iter().all(|origin| {
                origin.to_str().is_ok_and(|o| o.strip_prefix("http://") == Some(host))
            })
    }

    /// Any port will do: forwarding one (`ssh -L`) changes it, and rebinding needs a name.
    fn is_our_host(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, rest)) if rest.is_empty() || is_port(rest) => address,
            Some(_) => return false,
            None => match host.split_once(':') {
                Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
                Some(_) => return false,
                None => host,
            },
        };
        if let Ok(address) = name.parse::<IpAddr>() {
            return !self.loopback || address.is_loopback();
        }
        name.eq_ignore_ascii_case("localhost")
            || self.names.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// Links from elsewhere may lead to the page; nothing from elsewhere may use what is behind it.
fn is_from_elsewhere(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site");
    let mode = request.headers().get("sec-fetch-mode");
    site.is_some_and(|site| site != "same-origin" && site != "none")
        && mode.is_none_or(|mode| mode != "navigate")
}

/// Lets a request through, or answers it; adds [`HEADERS`] either way.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let token = request.uri().path().split('/').nth(1).unwrap_or_default();
    let mut response =
        if !guard.is_ours(request.uri(), request.headers()) || is_from_elsewhere(&request) {
            (StatusCode::FORBIDDEN, "this address is not memtrail's\n").into_response()
        } else if guard.token.is(token) {
            if let Some(visitor) = request.extensions().get::<Arc<Visitor>>() {
                visitor.is_known();
            }
            next.run(request).await
        } else {
            not_found().await
        };
    for (name, value) in &HEADERS {
        response.headers_mut().insert(name.clone(), HeaderValue::from_static(value));
    }
    response
}

/// The same answer whether it is the token or the path that is wrong.
pub(crate) async fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "not found\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(loopback: bool) -> Guard {
        Guard::new(Token::random().unwrap(), loopback, vec!["devbox".into()])
    }

    #[test]
    fn hosts_are_addresses_localhost_or_names_of_ours() {
        for ours in ["127.0.0.1:8080", "127.0.0.1", "[::1]:9", "[::1]", "LocalHost:1", "devbox:80"]
        {
            assert!(guard(true).is_our_host(ours), "{ours}");
        }
        for foreign in [
            "",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8080",
            "[::1].evil.example",
            "[::1]:80.evil.example",
            "127.0.0.1:80@evil.example",
            "192.168.0.1:8080",
            "0.0.0.0:8080",
        ] {
            assert!(!guard(true).is_our_host(foreign), "{foreign}");
        }
        assert!(guard(false).is_our_host("192.168.0.1:8080"));
        assert!(!guard(false).is_our_host("evil.example:8080"));
    }

    #[test]
    fn origins_are_the_host_itself() {
        let headers = |pairs: &[(HeaderName, &str)]| -> HeaderMap {
            pairs.iter().map(|(n, v)| (n.clone(), v.parse().unwrap())).collect()
        };
        let host = (header::HOST, "localhost:8080");
        let with = |origin| headers(&[host.clone(), (header::ORIGIN, origin)]);
        assert!(guard(true).is_ours(&Uri::from_static("/"), &headers(std::slice::from_ref(&host))));
        assert!(guard(true).is_ours(&Uri::from_static("/"), &with("http://localhost:8080")));
        for foreign in
            ["null", "http://localhost:9090", "https://localhost:8080", "http://evil.example"]
        {
            assert!(!guard(true).is_ours(&Uri::from_static("/"), &with(foreign)), "{foreign}");
        }
        assert!(!guard(true).is_ours(&Uri::from_static("/"), &headers(&[])));
        let mut twice = headers(std::slice::from_ref(&host));
        twice.append(header::HOST, HeaderValue::from_static("localhost:8080"));
        assert!(!guard(true).is_ours(&Uri::from_static("/"), &twice));
    }
}
