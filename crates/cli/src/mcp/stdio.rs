//! Standard input and output as the protocol's lines. A line that is no JSON is answered with a parse error, as JSON-RPC 2.0
//! demands: rmcp drops such lines without a word. It also leaves out the id of an error without a request, which has to be
//! null.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::ErrorData;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, DEFAULT_MAX_LINE_LENGTH};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout, stdin, stdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;

/// The transport of a server that its client started.
pub(super) struct Stdio {
    lines: AsyncRwTransport<RoleServer, Input<Stdin>, Output<Stdout>>,
    malformed: mpsc::UnboundedReceiver<Malformed>,
    /// A parse error on its way out.
    answering: Option<JoinHandle<()>>,
}

impl Stdio {
    /// The transport, and whether standard input has ended.
    pub(super) fn new() -> (Self, watch::Receiver<bool>) {
        let (end, ended) = watch::channel(false);
        let (report, malformed) = mpsc::unbounded_channel();
        let input = Input { inner: stdin(), end, report, lines: Lines::default() };
        let output = Output { inner: stdout(), lines: Vec::new() };
        let lines = AsyncRwTransport::new_server(input, output);
        (Self { lines, malformed, answering: None }, ended)
    }

    fn answer(&mut self, Malformed(why): Malformed) {
        let error = TxJsonRpcMessage::<RoleServer>::error(ErrorData::parse_error(why, None), None);
        let sent = self.lines.send(error);
        // A task of its own: `receive` may be cancelled at each await.
        self.answering = Some(tokio::spawn(async move {
            // A client that has gone reads no answer.
            let _ = sent.await;
        }));
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let _ = answering.await;
                self.answering = None;
            }
            let malformed = tokio::select! {
                biased;
                Some(malformed) = self.malformed.recv() => malformed,
                message = self.lines.receive() => match (message, self.malformed.try_recv()) {
                    (Some(message), Ok(malformed)) => {
                        self.answer(malformed);
                        return Some(message);
                    }
                    (None, Ok(malformed)) => malformed,
                    (message, Err(_)) => return message,
                },
            };
            self.answer(malformed);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}

/// A line that is no JSON: the reason.
#[derive(Debug, PartialEq, Eq)]
struct Malformed(String);

/// Standard input without malformed lines. It tells when it has ended: nobody waits for answers then.
struct Input<R> {
    inner: R,
    end: watch::Sender<bool>,
    report: mpsc::UnboundedSender<Malformed>,
    lines: Lines,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        while this.lines.ready.is_empty() {
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            let read = ready!(Pin::new(&mut this.inner).poll_read(context, &mut chunk));
            if read.is_err() || chunk.filled().is_empty() {
                this.end.send_replace(true);
                return Poll::Ready(read);
            }
            let report = &this.report;
            this.lines.add(chunk.filled(), |malformed| {
                // Nobody is left to answer it if this fails.
                let _ = report.send(malformed);
            });
        }
        let ready = &mut this.lines.ready;
        let length = ready.len().min(buffer.remaining());
        buffer.put_slice(&ready[..length]);
        ready.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// Lines of the input.
#[derive(Default)]
struct Lines {
    /// The beginning of a line.
    begun: Vec<u8>,
    /// True if this line is longer than a message may be: its end is awaited.
    is_too_long: bool,
    /// Lines of JSON that were not handed on yet.
    ready: Vec<u8>,
}

impl Lines {
    fn add(&mut self, bytes: &[u8], mut malformed: impl FnMut(Malformed)) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            if self.begun.len() + part.len() > DEFAULT_MAX_LINE_LENGTH {
                self.is_too_long = true;
                self.begun = Vec::new();
            }
            if !self.is_too_long {
                self.begun.extend_from_slice(part);
            }
            if !part.ends_with(b"\n") {
                continue;
            }
            let line = std::mem::take(&mut self.begun);
            if std::mem::take(&mut self.is_too_long) {
                malformed(Malformed(format!(
                    "the line has more than {DEFAULT_MAX_LINE_LENGTH} bytes"
                )));
            } else if let Err(why) = check(&line) {
                malformed(why);
            } else {
                self.ready.extend(line);
            }
        }
    }
}

/// Checks that a line is JSON, or empty.
fn check(line: &[u8]) -> Result<(), Malformed> {
    let text = std::str::from_utf8(line).map_err(|_| Malformed("the line is no UTF-8".into()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.is_empty() {
        return Ok(());
    }
    let parsed = serde_json::from_str::<Value>(text);
    parsed.map(drop).map_err(|error| Malformed(format!("the line is no JSON: {error}")))
}

/// The beginning of an error without an id, as rmcp writes it.
const WITHOUT_ID: &[u8] = br#"{"jsonrpc":"2.0","error":"#;
const WITH_NULL: &[u8] = br#"{"jsonrpc":"2.0","id":null,"error":"#;

/// Standard output. Lines are kept until they are flushed, as the transport does after each.
struct Output<W> {
    inner: W,
    lines: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    fn poll_write_lines(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        while !self.lines.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(context, &self.lines))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.lines.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Output<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        // All is taken, so that each call brings whole lines.
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_prefix(WITHOUT_ID) {
                Some(rest) => self.lines.extend([WITH_NULL, rest].concat()),
                None => self.lines.extend_from_slice(line),
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        ready!(self.poll_write_lines(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        ready!(self.poll_write_lines(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the bytes arrive.
    #[test]
    fn lines_that_are_no_json_are_taken_out() {
        let long = "1".repeat(DEFAULT_MAX_LINE_LENGTH);
        let text = format!("{{\"a\":1}}\n{{\n\n[2]\r\n{long}\n\u{feff}3\n4");
        let mut bytes = text.into_bytes();
        bytes.splice(0..0, *b"\xff\n");
        for size in [1000, CHUNK, 1 << 26] {
            let (mut lines, mut errors) = (Lines::default(), Vec::new());
            for chunk in bytes.chunks(size) {
                lines.add(chunk, |Malformed(why)| errors.push(why));
            }
            let ready = String::from_utf8(lines.ready).expect("UTF-8");
            assert_eq!(ready, "{\"a\":1}\n\n[2]\r\n\u{feff}3\n");
            assert_eq!(errors.len(), 3, "{errors:?}");
            assert!(errors[0].contains("UTF-8") && errors[1].contains("no JSON"), "{errors:?}");
            assert!(errors[2].contains("more than"), "{errors:?}");
            assert_eq!(lines.begun, b"4");
        }
    }
}
