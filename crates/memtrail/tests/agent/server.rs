//! Debian's ocsigenserver: a server with systhreads and Lwt that loads native plugins.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_test_support::contents::read;
use memtrail_test_support::site::{SERVER, Site, free_port};

/// Every page, once the server answers, then what a supervisor does: SIGTERM.
fn visit(site: &Site, mut server: Child) -> (Vec<String>, Option<i32>) {
    site.wait();
    let mut answers = Vec::new();
    for round in 0..10 {
        for page in 0..21 {
            answers.push(site.get(&format!("/{page}.html?{round}")).expect("an answer"));
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
    let site = Site::new(port);
    let server = Command::new(SERVER).args(site.arguments()).spawn();
    let plain = visit(&site, server.expect("ocsigenserver starts"));

    let site = Site::new(port);
    let (server, recording) = site.case().start_recorded();
    let recorded = visit(&site, server);

    assert!(plain.0[1].starts_with("HTTP/1.1 200"), "{}", plain.0[1]);
    assert!(plain.0[20].starts_with("HTTP/1.1 404"), "{}", plain.0[20]);
    assert_eq!(plain, recorded);
    let contents = read(&recording);
    assert!(contents.blocks.len() > 100, "{} blocks", contents.blocks.len());
    // The plugin that serves files was loaded after we started.
    let plugin = |name: &String| name.starts_with("Staticmod.") || name.starts_with("Dune__exe");
    assert!(contents.blocks.iter().any(|b| b.stack.iter().any(plugin)), "nothing of the plugin");
}
