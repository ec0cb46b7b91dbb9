//! The port to listen on.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};

/// Where the search for a free port begins.
pub(crate) const FIRST: u16 = 8080;
/// Ports that are tried; then any will do.
const TRIED: u16 = 100;

/// Listens on `port`, or on the first free one from [`FIRST`] on.
pub(crate) fn listen(address: IpAddr, port: Option<u16>) -> io::Result<TcpListener> {
    if let Some(port) = port {
        return TcpListener::bind(SocketAddr::new(address, port));
    }
    for port in FIRST..FIRST + TRIED {
        match TcpListener::bind(SocketAddr::new(address, port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            done => return done,
        }
    }
    TcpListener::bind(SocketAddr::new(address, 0))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_port_that_is_taken_is_passed_over_unless_it_was_asked_for() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let taken = listen(loopback, None).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_ne!(listen(loopback, None).unwrap().local_addr().unwrap().port(), port);
        let error = listen(loopback, Some(port)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
