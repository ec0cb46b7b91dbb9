//! A receiver on loopback: it answers with the statuses that a test wants, and keeps the profiles of requests that it took.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::read::GzDecoder;
use memtrail_export::pprof::Profile;
use memtrail_export::pyroscope::PushRequest;
use prost::Message as _;

/// A profile that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) id: String,
    pub(crate) authorization: Option<String>,
    pub(crate) tenant: Option<String>,
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

/// A server that lives as long as the test.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// Answers the first requests as `answers` say (status and headers), and takes all that come later.
    pub(crate) fn start(answers: &[(u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        let mut answers: Vec<(u16, String)> = answers
            .iter()
            .rev()
            .map(|(status, headers)| (*status, (*headers).to_owned()))
            .collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (status, headers) = answers.pop().unwrap_or((200, String::new()));
                serve(stream.unwrap(), status, &headers, &kept);
            }
        });
        Self { url, received }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// One request of a connection.
fn serve(stream: TcpStream, status: u16, headers: &str, kept: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "POST /push.v1.PusherService/Push HTTP/1.1");
    let mut given = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        given.insert(name.to_lowercase(), value.to_owned());
    }
    assert_eq!(given["content-type"], "application/proto");
    assert_eq!(given["content-encoding"], "gzip");
    let mut body = vec![0; given["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    if status == 200 {
        let request = PushRequest::decode(&inflated(&body)[..]).unwrap();
        for series in request.series {
            let labels = series.labels.into_iter().map(|label| (label.name, label.value)).collect();
            let [sample] = &series.samples[..] else { panic!("one profile a series") };
            kept.lock().unwrap().push(Received {
                labels,
                id: sample.id.clone(),
                authorization: given.get("authorization").cloned(),
                tenant: given.get("x-scope-orgid").cloned(),
                profile: Profile::decode(&inflated(&sample.raw_profile)[..]).unwrap(),
            });
        }
    }
    // A server may repeat what it was sent.
    let text = format!("no: {}", given.get("authorization").map_or("", String::as_str));
    let length = text.len();
    let mut out = stream;
    let answer = format!(
        "HTTP/1.1 {status} x\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{text}"
    );
    out.write_all(answer.as_bytes()).unwrap();
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}
