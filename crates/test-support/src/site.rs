//! A site for Debian's ocsigenserver, and its visitors.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::running::Case;

/// The server as Debian installs it.
pub const SERVER: &str = "ocsigenserver.opt";

/// First port that tests listen on: below those that the kernel hands out.
const FIRST_PORT: u32 = 15_000;
/// Number of these.
const PORTS: u32 = 15_000;

/// A free port that no other test process is given.
///
/// A port of the kernel's choice was given to two tests, and the one visited the server of the other.
pub fn free_port() -> u16 {
    let own = std::process::id();
    let ports = (0..PORTS).map(|next| (FIRST_PORT + (own + next * 7) % PORTS) as u16);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.into_iter().find(is_free).expect("a free port")
}

/// No test waits longer for the first answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Pages of the site: `/0.html` and so on.
pub const PAGES: u64 = 20;

/// A site in a folder of its own.
pub struct Site {
    pub folder: TempDir,
    pub port: u16,
    pub configuration: PathBuf,
}

/// An extension of the server besides the one that serves files.
pub struct Extension<'e> {
    pub module: &'e Path,
    /// Its part of the configuration.
    pub element: &'e str,
}

impl Site {
    pub fn new(port: u16) -> Site {
        Site::with(port, None)
    }

    pub fn with(port: u16, extension: Option<&Extension<'_>>) -> Site {
        let folder = tempfile::tempdir().expect("a folder");
        let configuration = write(folder.path(), port, extension);
        Site { folder, port, configuration }
    }

    /// The server's options.
    pub fn arguments(&self) -> [&str; 3] {
        ["-s", "-c", self.configuration.to_str().expect("UTF-8")]
    }

    /// The server, to be run with and without us.
    pub fn case(&self) -> Case {
        Case::command(SERVER, &self.arguments())
    }

    /// The whole response without its date; `None` while nobody listens.
    pub fn get(&self, path: &str) -> Option<String> {
        get(self.port, path)
    }

    /// Waits until the server answers.
    pub fn wait(&self) {
        let begun = Instant::now();
        while self.get("/0.html").is_none_or(|answer| answer.is_empty()) {
            assert!(begun.elapsed() < PATIENCE, "the server does not answer");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Tells the server to end.
    pub fn shut_down(&self) {
        let pipe = self.folder.path().join("command");
        let mut commands = OpenOptions::new().write(true).open(pipe).expect("a pipe");
        // Without the number of seconds it waits until it thinks that all visitors have left.
        commands.write_all(b"shutdown 1\n").expect("the server reads");
    }
}

/// Writes the pages and a configuration, and gives the configuration.
fn write(folder: &Path, port: u16, extension: Option<&Extension<'_>>) -> PathBuf {
    let output = Command::new("ocamlfind").args(["query", "ocsigenserver"]).output();
    let library = String::from_utf8(output.expect("ocamlfind runs").stdout).expect("UTF-8");
    let plugin = Path::new(library.trim()).join("ext/staticmod/staticmod.cmxs");
    assert!(plugin.exists(), "no {}\nhint: cargo xtask setup", plugin.display());
    for dir in ["www", "log", "data"] {
        fs::create_dir(folder.join(dir)).expect("mkdir");
    }
    for page in 0..PAGES {
        let text = format!("<p>page {page}</p>\n").repeat(1 + page as usize * 100);
        fs::write(folder.join(format!("www/{page}.html")), text).expect("write a page");
    }
    let root = folder.display();
    let module = |path: &Path| format!("<extension module=\"{}\"/>", path.display());
    let other = extension.map_or_else(String::new, |extension| module(extension.module));
    let element = extension.map_or("", |extension| extension.element);
    let text = format!(
        "<ocsigen><server>
           <port>127.0.0.1:{port}</port>
           <logdir>{root}/log</logdir><datadir>{root}/data</datadir>
           <commandpipe>{root}/command</commandpipe>
           <charset>utf-8</charset><user></user><group></group>
           {}{other}
           <host hostfilter=\"*\">{element}<static dir=\"{root}/www\"/></host>
         </server></ocsigen>",
        module(&plugin)
    );
    let file = folder.join("ocsigen.conf");
    fs::write(&file, text).expect("write the configuration");
    file
}

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().filter(|l| !l.starts_with("date:")).collect::<Vec<_>>().join("\n"))
}
