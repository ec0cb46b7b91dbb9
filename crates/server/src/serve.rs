//! A running server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use memtrail_engine::Engine;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::events::RecordingEvents;
use crate::guard::Guard;
use crate::token::Token;
use crate::trigger::SnapshotTrigger;
use crate::{bind, connections, routes};

/// How long answers under way may take when the server ends.
const GRACE: Duration = Duration::from_millis(500);

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of the interface; loopback unless others shall see the page.
    pub address: IpAddr,
    /// This port and no other; otherwise the first free one from 8080 on.
    pub port: Option<u16>,
    /// Names by which the page may be called besides `localhost` and addresses.
    pub names: Vec<String>,
    /// Who asks running programs for heap snapshots, if anybody can.
    pub trigger: Option<Arc<dyn SnapshotTrigger>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: None,
            names: Vec::new(),
            trigger: None,
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address or the port cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address and port that were asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The system has no random numbers.
    #[error("cannot make a token: {0}")]
    Token(#[from] getrandom::Error),
    /// No threads, or no way to wait for connections.
    #[error("cannot start the server: {0}")]
    Runtime(io::Error),
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    url: String,
    address: SocketAddr,
    ending: watch::Sender<bool>,
    runtime: Runtime,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to answer queries for `engine` and to pass on events.
    ///
    /// # Errors
    /// If the port cannot be had, mostly.
    pub fn start(
        engine: Arc<Engine>,
        recording_events: RecordingEvents,
        options: &Options,
    ) -> Result<Self, Error> {
        let listener = bind::listen(options.address, options.port).map_err(|source| {
            let port = options.port.unwrap_or(bind::FIRST);
            Error::Listen { address: SocketAddr::new(options.address, port), source }
        })?;
        let address = listener.local_addr().map_err(Error::Runtime)?;
        listener.set_nonblocking(true).map_err(Error::Runtime)?;

        let token = Token::random()?;
        let url = format!("http://{}/{}/", shown(address), token.text());
        let loopback = options.address.is_loopback();
        let guard = Arc::new(Guard::new(token, loopback, options.names.clone()));
        let (ending, heard) = watch::channel(false);
        let lanes = std::thread::available_parallelism().map_or(2, usize::from);
        let shared = routes::Shared {
            engine,
            recording_events,
            trigger: options.trigger.clone(),
            lanes: Arc::new(Semaphore::new(lanes)),
        };
        let routes = routes::router(shared, guard);

        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("server")
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::Runtime)?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(Error::Runtime)?
        };
        let accepting = runtime.spawn(connections::serve(listener, routes, heard));
        Ok(Self { url, address, ending, runtime, accepting: Some(accepting) })
    }

    /// The page's address for a browser on this machine, token included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The page's address under another address of this machine, token included.
    pub fn url_at(&self, ip: IpAddr) -> String {
        let local = format!("http://{}", self.local_address());
        let path = self.url.strip_prefix(&local).unwrap_or_default();
        format!("http://{}{path}", SocketAddr::new(ip, self.address.port()))
    }

    /// Where a browser on this machine reaches it.
    pub fn local_address(&self) -> SocketAddr {
        shown(self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Ends: pages are notified, queries under way have a moment to finish.
impl Drop for Server {
    fn drop(&mut self) {
        self.ending.send_replace(true);
        if let Some(accepting) = self.accepting.take() {
            let all_answered = async { tokio::time::timeout(GRACE, accepting).await };
            let _ = self.runtime.block_on(all_answered);
        }
    }
}

/// An address that a browser on this machine can open.
fn shown(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let local = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(local, address.port())
}
