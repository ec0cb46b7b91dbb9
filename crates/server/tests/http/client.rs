//! A server of one trace, and a client that sends what it is told to, byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use memtrail_engine::{Description, Engine, Setting};
use memtrail_server::{Options, RecordingEvents, Server};

pub(crate) const TRACE: &[u8] = include_bytes!("../../../trace/tests/fixtures/cache-v2.ctf");

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) recording_events: RecordingEvents,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let engine = Engine::new(Setting { live: true, offline: false });
        let description = Description { name: "cache".into(), ..Description::default() };
        engine.add(TRACE, description, &mut |_| {}).unwrap();
        let recording_events = RecordingEvents::default();
        let options = Options { port: Some(0), ..Options::default() };
        let server = Server::start(Arc::new(engine), recording_events.clone(), &options).unwrap();
        Self { server, recording_events }
    }

    /// `/TOKEN/` of the page.
    pub(crate) fn root(&self) -> String {
        self.root_of(self.server.address())
    }

    pub(crate) fn root_of(&self, host: SocketAddr) -> String {
        self.server.url().strip_prefix(&format!("http://{host}")).unwrap().to_owned()
    }

    pub(crate) fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with these header lines, and reads to the end.
    pub(crate) fn request(&self, line: &str, headers: &[&str], body: &str) -> Response {
        let headers = headers.join("\r\n");
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        self.exchange(&format!("{head}{body}"))
    }

    /// Sends these bytes, and reads to the end.
    pub(crate) fn exchange(&self, request: &str) -> Response {
        let mut stream = self.send(request);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let headers = String::from_utf8(bytes[..split].to_vec()).unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, headers, body: bytes[split + 4..].to_vec() }
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: {}", self.server.address())
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.request(&format!("GET {path}"), &[&self.host()], "")
    }

    pub(crate) fn query(&self, query: &str) -> Response {
        let origin = format!("Origin: http://{}", self.server.address());
        let path = format!("POST {}api/query", self.root());
        self.request(&path, &[&self.host(), &origin, "Content-Type: application/json"], query)
    }
}
