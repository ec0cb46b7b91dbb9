//! A receiver on loopback: it answers with the statuses that a test wants, and keeps the requests that it took.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::read::GzDecoder;
use memtrail_export::pprof::Profile;
use memtrail_export::pyroscope::PushRequest;
use prost::Message as _;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// Decompressed, if it was compressed for the way.
    pub(crate) body: Vec<u8>,
}

/// A profile that was taken by Pyroscope's push.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) id: String,
    pub(crate) authorization: Option<String>,
    pub(crate) tenant: Option<String>,
    /// A pprof file.
    pub(crate) file: Vec<u8>,
    pub(crate) profile: Profile,
}

impl Received {
    /// Sums by the names of values.
    pub(crate) fn totals(&self) -> BTreeMap<String, i64> {
        let Profile { sample_type, sample, string_table, .. } = &self.profile;
        let name = |at: usize| string_table[sample_type[at].r#type as usize].clone();
        let sum = |at: usize| sample.iter().map(|sample| sample.value[at]).sum();
        (0..sample_type.len()).map(|at| (name(at), sum(at))).collect()
    }
}

/// An answer: status, headers with their line ends, and body. Without a body it repeats the credentials, as a server may.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Option<Vec<u8>>,
}

impl From<(u16, &str)> for Answer {
    fn from((status, headers): (u16, &str)) -> Self {
        Self { status, headers: headers.to_owned(), body: None }
    }
}

/// A server that lives as long as the test.
pub(crate) struct Receiver {
    pub(crate) url: String,
    taken: Arc<Mutex<Vec<Taken>>>,
}

impl Receiver {
    /// Answers the first requests as `answers` say (status and headers), and takes all that come later.
    pub(crate) fn start(answers: &[(u16, &str)]) -> Self {
        let answers = answers.iter().map(|answer| Answer::from(*answer)).collect();
        Self::serve(TcpListener::bind("127.0.0.1:0").unwrap(), None, answers)
    }

    /// Serves on a listener of the test's, with TLS if there is a configuration.
    pub(crate) fn serve(
        listener: TcpListener,
        tls: Option<Arc<ServerConfig>>,
        mut answers: Vec<Answer>,
    ) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&taken);
        answers.reverse();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let answer = answers.pop().unwrap_or_else(|| (200, "").into());
                let stream = stream.unwrap();
                match &tls {
                    None => serve(stream, &answer, &kept),
                    Some(config) => {
                        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
                        serve(StreamOwned::new(connection, stream), &answer, &kept);
                    }
                }
            }
        });
        Self { url, taken }
    }

    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    /// Profiles of requests, all of which were pushes.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.taken().iter().map(received).collect()
    }
}

fn received(taken: &Taken) -> Received {
    assert_eq!(taken.path, "/push.v1.PusherService/Push");
    assert_eq!(taken.headers["content-type"], "application/proto");
    assert_eq!(taken.headers["content-encoding"], "gzip");
    let mut request = PushRequest::decode(&taken.body[..]).unwrap();
    let series = request.series.pop().unwrap();
    assert!(request.series.is_empty(), "one series a request");
    let [sample] = &series.samples[..] else { panic!("one profile a series") };
    Received {
        labels: series.labels.into_iter().map(|label| (label.name, label.value)).collect(),
        id: sample.id.clone(),
        authorization: taken.headers.get("authorization").cloned(),
        tenant: taken.headers.get("x-scope-orgid").cloned(),
        profile: Profile::decode(&inflated(&sample.raw_profile)[..]).unwrap(),
        file: sample.raw_profile.clone(),
    }
}

/// One request of a connection. One that breaks off is none: a client may not trust the certificate.
fn serve(stream: impl Read + Write, answer: &Answer, kept: &Mutex<Vec<Taken>>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    if stream.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let path = line.trim().strip_prefix("POST ").unwrap().strip_suffix(" HTTP/1.1").unwrap();
    let path = path.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    if headers.contains_key("content-encoding") {
        body = inflated(&body);
    }
    let authorization = headers.get("authorization").cloned().unwrap_or_default();
    if answer.status == 200 {
        kept.lock().unwrap().push(Taken { path, headers, body });
    }
    let text = answer.body.clone().unwrap_or_else(|| format!("no: {authorization}").into_bytes());
    let (status, headers, length) = (answer.status, &answer.headers, text.len());
    let head = format!(
        "HTTP/1.1 {status} x\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let out = stream.get_mut();
    out.write_all(head.as_bytes()).unwrap();
    out.write_all(&text).unwrap();
    out.flush().unwrap();
}

pub(crate) fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}
