//! Debian's ocsigenserver: a server with systhreads and Lwt that loads native plugins.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::contents::read;
use crate::running::Case;
use crate::site::{free_port, get, site};

/// Every page, once the server answers, then what a supervisor does: SIGTERM.
fn visit(port: u16, mut server: Child) -> (Vec<String>, Option<i32>) {
    let started = Instant::now();
    while get(port, "/0.html").is_none_or(|answer| answer.is_empty()) {
        assert!(started.elapsed() < Duration::from_secs(60), "the server does not answer");
        assert_eq!(server.try_wait().expect("wait"), None, "the server ended");
        thread::sleep(Duration::from_millis(50));
    }
    let mut answers = Vec::new();
    for round in 0..10 {
        for page in 0..21 {
            answers.push(get(port, &format!("/{page}.html?{round}")).expect("an answer"));
        }
    }
    let status = Command::new("kill").arg(server.id().to_string()).status().expect("kill");
    assert!(status.success());
    let started = Instant::now();
    loop {
        if let Some(status) = server.try_wait().expect("wait") {
            return (answers, status.signal());
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the server does not end");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ocsigenserver() {
    let port = free_port();
    let plain_folder = tempfile::tempdir().expect("a folder");
    let file = site(plain_folder.path(), port);
    let server = Command::new("ocsigenserver.opt").arg("-s").arg("-c").arg(&file).spawn();
    let plain = visit(port, server.expect("ocsigenserver starts"));

    let folder = tempfile::tempdir().expect("a folder");
    let file = site(folder.path(), port);
    let arguments = ["-s", "-c", file.to_str().expect("UTF-8")];
    let case = Case::command("ocsigenserver.opt", &arguments);
    let (server, recording) = case.start_recorded();
    let recorded = visit(port, server);

    assert!(plain.0[1].starts_with("HTTP/1.1 200"), "{}", plain.0[1]);
    assert!(plain.0[20].starts_with("HTTP/1.1 404"), "{}", plain.0[20]);
    assert_eq!(plain, recorded);
    let contents = read(&recording);
    assert!(contents.blocks.len() > 100, "{} blocks", contents.blocks.len());
    // The plugin that serves files was loaded after we started.
    let plugin = |name: &String| name.starts_with("Staticmod.") || name.starts_with("Dune__exe");
    assert!(contents.blocks.iter().any(|b| b.stack.iter().any(plugin)), "nothing of the plugin");
}
