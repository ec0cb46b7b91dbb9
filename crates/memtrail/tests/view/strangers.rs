//! Another user of the machine, who has no token and holds connections open.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::client::View;
use crate::fixture;

/// A connection that begins a request and never ends it.
fn half_open(view: &View) -> TcpStream {
    let mut stream = TcpStream::connect(view.parts().0).expect("connect");
    // It may have been closed already.
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0");
    stream
}

/// Whether the other end has closed it.
fn is_closed(stream: &mut TcpStream, patience: Duration) -> bool {
    stream.set_read_timeout(Some(patience)).expect("a timeout");
    loop {
        match stream.read(&mut [0; 512]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn half_open_connections_do_not_make_the_page_unreachable() {
    let trace = fixture("cache-v2.ctf").display().to_string();
    // More connections than it may have descriptors.
    let view = View::start_under("ulimit -n 200", &[&trace]);
    let mut strangers = Vec::new();
    for round in 0..3 {
        strangers.extend((0..200).map(|_| half_open(&view)));
        assert_eq!(view.request("GET", "", "").status, 200, "round {round}");
        let about = view.query(r#"{"query":"about"}"#);
        assert_eq!(about.header()["recordings"][0]["name"], "cache-v2.ctf");
    }
    assert!(is_closed(&mut strangers[0], Duration::from_secs(60)), "the oldest are closed");
}

#[test]
fn connections_that_never_show_the_token_are_closed() {
    let view = View::start([fixture("cache-v2.ctf")]);
    let mut silent = TcpStream::connect(view.parts().0).expect("connect");
    let mut slow = half_open(&view);
    // Requests that are answered with 404 do not make a stranger known.
    let mut asking = TcpStream::connect(view.parts().0).expect("connect");
    let request = format!("GET /x HTTP/1.1\r\nHost: {}\r\n\r\n", view.parts().0);
    asking.write_all(request.as_bytes()).expect("send");
    let started = Instant::now();
    let mut known = TcpStream::connect(view.parts().0).expect("connect");
    let request = request.replace("/x", &format!("{}viewer.css", view.parts().1));
    known.write_all(request.as_bytes()).expect("send");
    for stranger in [&mut silent, &mut slow, &mut asking] {
        assert!(is_closed(stranger, Duration::from_secs(60)));
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    // One that has shown it may be idle.
    assert!(!is_closed(&mut known, Duration::from_secs(5)));
    known.write_all(request.as_bytes()).expect("send again");
    known.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut start = [0; 12];
    known.read_exact(&mut start).expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 200");
}
