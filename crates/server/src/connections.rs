//! Connections: how many there may be, and for how long.
//!
//! Every user of the machine can connect to the port. Until a connection has sent a request with
//! the token it is a stranger's: it has a deadline, and when there are too many of them the oldest
//! is closed. A browser shows the token with its first request, at once, so that strangers,
//! however many, cannot keep it out.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// Connections of strangers at a time; one more closes the oldest.
const STRANGERS: usize = 64;
/// Connections at a time, whoever's; with what else is open, fewer than descriptors by default.
const CONNECTIONS: usize = 512;
/// How long a connection may take to show the token.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// How long a connection may be idle, and how long a request's head may take.
const IDLE: Duration = Duration::from_secs(75);
/// After the system refused a connection: descriptors may be free by then.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections that have not shown the token, in the order in which they came. Dropping a sender
/// closes its connection; a message through it says that the token was shown.
#[derive(Default)]
struct Strangers {
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
    next: AtomicU64,
}

impl Strangers {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, oneshot::Sender<()>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in one more. The receiver hears when it is a stranger no longer, or must close.
    fn admit(self: &Arc<Self>) -> (Visitor, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut waiting = self.waiting();
        waiting.insert(number, sender);
        while waiting.len() > STRANGERS {
            waiting.pop_first();
        }
        (Visitor { strangers: Arc::clone(self), number }, receiver)
    }

    /// Closes the oldest; whether there was one.
    fn evict(&self) -> bool {
        self.waiting().pop_first().is_some()
    }
}

/// Who is at the other end of a connection; requests carry it.
pub(crate) struct Visitor {
    strangers: Arc<Strangers>,
    number: u64,
}

impl Visitor {
    /// It has shown the token.
    pub(crate) fn is_known(&self) {
        if let Some(sender) = self.strangers.waiting().remove(&self.number) {
            let _ = sender.send(());
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.strangers.waiting().remove(&self.number);
    }
}

/// Answers connections until `ending` turns true, then finishes the answers under way.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    mut ending: watch::Receiver<bool>,
) {
    let strangers = Arc::new(Strangers::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = ending.wait_for(|ending| *ending) => break,
        };
        match accepted {
            // With that many, one more is let in only in a stranger's place.
            Ok((stream, _)) if connections.len() < CONNECTIONS || strangers.evict() => {
                let (visitor, known) = strangers.admit();
                let routes = routes.clone();
                connections.spawn(answer(stream, routes, visitor, known, ending.clone()));
            }
            Ok(_) => {}
            Err(error) if is_of_the_connection(&error) => {}
            Err(_) => {
                strangers.evict();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Answers the requests of one connection.
async fn answer(
    stream: TcpStream,
    routes: Router,
    visitor: Visitor,
    known: oneshot::Receiver<()>,
    mut ending: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let visitor = Arc::new(visitor);
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: hyper::Request<_>| {
        request.extensions_mut().insert(Arc::clone(&visitor));
        routes.call(request)
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .serve_connection(TokioIo::new(stream), service)
    );
    tokio::select! {
        _ = connection.as_mut() => return,
        shown = tokio::time::timeout(INTRODUCTION, known) => {
            if !matches!(shown, Ok(Ok(()))) {
                return;
            }
        }
        _ = ending.wait_for(|ending| *ending) => {}
    }
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Errors of accepting that are over with the connection they are about.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
