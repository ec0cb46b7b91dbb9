//! Where the page is served, and how its address reaches the user.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::sync::Arc;

use memtrail_server::{Error, Options, Server};
use serde::Serialize;

use super::{Sources, address, browser};
use crate::error::{Failure, Kind};
use crate::json;

/// Options of all commands that serve the page.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Serving {
    /// Serve the page on this port, not on the first free one from 8080 on
    #[arg(long, value_name = "N", help_heading = "Page")]
    port: Option<u16>,

    /// Serve the page on this address of the machine (0.0.0.0: on all), so that others can see it.
    /// They need its secret all the same, which travels unencrypted
    #[arg(long, value_name = "ADDR", help_heading = "Page")]
    listen: Option<String>,

    /// Do not open a browser
    #[arg(long, help_heading = "Page")]
    no_open: bool,
}

/// A page that is being served, until it is dropped.
pub(crate) struct Shown {
    server: Server,
    /// For other machines too, if it is there for them.
    url: String,
    /// For the browser on this machine.
    local: String,
    no_open: bool,
    /// What leads the browser to the page.
    redirect: Option<browser::Redirect>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct ServedPage<'a> {
    url: &'a str,
    address: SocketAddr,
}

impl Serving {
    /// Whether anything was said about the page.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.port.is_some() || self.listen.is_some() || self.no_open
    }

    /// Serves the page.
    pub(crate) fn start(&self, sources: &Sources, filters: &[String]) -> Result<Shown, Failure> {
        let options = Options { trigger: Some(sources.trigger()), ..self.options()? };
        let (engine, recording_events) =
            (Arc::clone(&sources.engine), sources.recording_events.clone());
        let server = Server::start(engine, recording_events, &options).map_err(|error| {
            let failure = Failure::new(Kind::Work, &error);
            match (error, self.port) {
                (Error::Listen { .. }, Some(_)) => {
                    failure.hint("without --port the first free one is used")
                }
                (Error::Listen { .. }, None) if self.listen.is_some() => {
                    failure.hint("--listen takes an address of this machine")
                }
                _ => failure,
            }
        })?;
        let fragment = address::fragment(filters);
        let hash = if fragment.is_empty() { "" } else { "#" };
        let local = format!("{}{hash}{fragment}", server.url());
        let listens = server.address().ip();
        let outward = listens.is_unspecified().then(|| outward(listens)).flatten();
        let url = outward.map(|ip| format!("{}{hash}{fragment}", server.url_at(ip)));
        let url = url.unwrap_or_else(|| local.clone());
        Ok(Shown { server, url, local, no_open: self.no_open, redirect: None })
    }

    fn options(&self) -> Result<Options, Failure> {
        let address = self.listen.as_deref().map(resolve).transpose()?;
        let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let mut names = Vec::new();
        if !address.is_loopback() {
            names.extend(self.listen.clone());
            // Our own name, with and without the domain that mDNS gives it.
            if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
                let name = name.trim();
                names.extend([name.to_owned(), format!("{name}.local")]);
            }
        }
        Ok(Options { address, port: self.port, names, trigger: None })
    }
}

/// An address, or the first one that a name has.
fn resolve(listen: &str) -> Result<IpAddr, Failure> {
    if let Ok(address) = listen.parse() {
        return Ok(address);
    }
    let found = (listen, 0).to_socket_addrs().ok().and_then(|mut found| found.next());
    found.map(|address| address.ip()).ok_or_else(|| {
        Failure::new(Kind::Usage, format_args!("no machine has the address {listen}"))
            .hint("--listen takes an address or a name of this machine; --port takes the port")
    })
}

/// The address by which other machines reach this one, as far as the system's routes tell. To connect
/// a socket of this kind sends nothing; the addresses are those for documentation.
fn outward(listens: IpAddr) -> Option<IpAddr> {
    let far = if listens.is_ipv4() { "192.0.2.1" } else { "2001:db8::1" };
    let socket = UdpSocket::bind((listens, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified() && !ip.is_loopback()).then_some(ip)
}

impl Shown {
    /// The page's address, with the token and the filter.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Prints the address on standard output, and how to end on standard error.
    pub(super) fn announce(&self, json: bool) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        if json {
            json::print(&ServedPage { url: &self.url, address: self.server.address() })?;
        } else {
            writeln!(out, "{}", self.url)?;
            if self.server.address().ip().is_unspecified() {
                // Without the token, which is in one line only.
                message!(
                    "memtrail: the page is there at every address of this machine; here also at {}",
                    self.server.local_address()
                );
            }
            message!("memtrail: the page is there until Ctrl-C");
        }
        out.flush()?;
        Ok(())
    }

    /// Shows the page, if it should be and there is where.
    pub(crate) fn open_browser(&mut self) {
        if !self.no_open {
            self.redirect = browser::open(&self.local);
        }
    }
}
