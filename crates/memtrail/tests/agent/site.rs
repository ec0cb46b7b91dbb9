//! A site for Debian's ocsigenserver, and its visitors.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("bind");
    listener.local_addr().expect("address").port()
}

/// Writes a site and a configuration, and gives the configuration.
pub(crate) fn site(folder: &Path, port: u16) -> PathBuf {
    let output = Command::new("ocamlfind").args(["query", "ocsigenserver"]).output();
    let library = String::from_utf8(output.expect("ocamlfind runs").stdout).expect("UTF-8");
    let plugin = Path::new(library.trim()).join("ext/staticmod/staticmod.cmxs");
    assert!(plugin.exists(), "no {}\nhint: cargo xtask setup", plugin.display());
    for dir in ["www", "log", "data"] {
        fs::create_dir(folder.join(dir)).expect("mkdir");
    }
    for page in 0..20 {
        let text = format!("<p>page {page}</p>\n").repeat(1 + page * 100);
        fs::write(folder.join(format!("www/{page}.html")), text).expect("write a page");
    }
    let root = folder.display();
    let text = format!(
        "<ocsigen><server>
           <port>127.0.0.1:{port}</port>
           <logdir>{root}/log</logdir><datadir>{root}/data</datadir>
           <commandpipe>{root}/command</commandpipe>
           <charset>utf-8</charset><user></user><group></group>
           <extension module=\"{}\"/>
           <host hostfilter=\"*\"><static dir=\"{root}/www\"/></host>
         </server></ocsigen>",
        plugin.display()
    );
    let file = folder.join("ocsigen.conf");
    fs::write(&file, text).expect("write the configuration");
    file
}

/// The whole response; `None` while nobody listens.
pub(crate) fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().filter(|l| !l.starts_with("date:")).collect::<Vec<_>>().join("\n"))
}
