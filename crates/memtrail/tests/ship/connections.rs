//! The way to a server: TLS with a private authority, proxies, and a network that is away.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::receiver::Receiver;
use crate::recordings::{memtrail, recording, ship, status, text};
use crate::windows::check_totals;

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A server's certificate by an authority of its own, `ca.pem`.
fn certificates(folder: &Path) -> Arc<ServerConfig> {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2"];
    openssl(folder, &[&["req", "-x509"], &key[..], &authority].concat());
    let leaf = ["-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=profiles"];
    openssl(folder, &[&["req"], &key[..], &leaf].concat());
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
    let files = ["-in", "leaf.csr", "-out", "leaf.pem", "-extfile", "names"];
    openssl(folder, &[&["x509", "-req"], &sign[..], &files].concat());
    let certificate = CertificateDer::from_pem_file(folder.join("leaf.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("leaf.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![certificate], key).unwrap())
}

#[test]
fn a_private_authority_is_trusted_if_it_is_named() {
    let (folder, path) = recording();
    let config = certificates(folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let receiver = Receiver::serve(listener, Some(config), Vec::new());
    let token = folder.path().join("token");
    fs::write(&token, "sesame").unwrap();
    let chmod = Command::new("chmod").arg("600").arg(&token).status().unwrap();
    assert!(chmod.success());
    let more = ["--once", "--auth-file", token.to_str().unwrap()];
    let untrusted = ship(&path, &receiver.url, &more);
    assert_eq!(untrusted.status.code(), Some(1), "{untrusted:?}");
    assert!(text(&untrusted).contains("certificate"), "{untrusted:?}");
    assert!(receiver.taken().is_empty());
    let ca = folder.path().join("ca.pem");
    let trusted =
        ship(&path, &receiver.url, &[&more[..], &["--ca", ca.to_str().unwrap()]].concat());
    assert!(trusted.status.success(), "{trusted:?}");
    let received = receiver.received();
    assert_eq!(received[0].authorization.as_deref(), Some("Bearer sesame"));
    check_totals(&path, &received);
    let none = ship(&path, &receiver.url, &["--ca", token.to_str().unwrap()]);
    assert_eq!(none.status.code(), Some(3), "{none:?}");
    assert!(text(&none).contains("no certificate in it"), "{none:?}");
}

/// A proxy that refuses its first connection, and tunnels the later ones.
fn proxy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut client = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                client.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            assert!(
                head.to_lowercase().contains(
                    "proxy-authorization: basic yWxpOnNlc2FtZQ==".to_lowercase().as_str()
                ),
                "{head}"
            );
            if number == 0 {
                let answer = "HTTP/1.1 407 no, ali:sesame\r\ncontent-length: 0\r\n\r\n";
                client.write_all(answer.as_bytes()).unwrap();
                continue;
            }
            let to = head.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
            let server = TcpStream::connect(to).unwrap();
            client.write_all(b"HTTP/1.1 200 tunnel\r\n\r\n").unwrap();
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut into));
            thread::spawn(move || io::copy(&mut { server }, &mut client));
        }
    });
    address
}

#[test]
fn a_proxy_of_the_environment_is_used_and_its_password_is_not_printed() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[]);
    let proxy = format!("http://ali:sesame@{}", proxy());
    let run = || {
        let mut command = memtrail(&["ship", path.to_str().unwrap(), "--to", &receiver.url]);
        command.args(["--every", "100ms", "--once"]);
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        command.env("HTTP_PROXY", &proxy).output().unwrap()
    };
    let refused = run();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(!text(&refused).contains("sesame"), "{refused:?}");
    assert!(!status(&path).to_string().contains("sesame"));
    let passed = run();
    assert!(passed.status.success(), "{passed:?}");
    check_totals(&path, &receiver.received());
}

/// Windows of an hour wait while nothing answers, and all arrive once something does.
#[test]
fn an_hour_without_network_loses_no_window() {
    let (_folder, path) = recording();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}");
    let mut command = memtrail(&["ship", path.to_str().unwrap(), "--to", &url]);
    // A recording of a second has the windows that one of an hour has by default.
    command.args(["--every", "100ms", "--retry-at-most", "100ms"]).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while status(&path)["last_error"].is_null() {
        thread::sleep(Duration::from_millis(20));
    }
    let receiver = Receiver::serve(TcpListener::bind(address).unwrap(), None, Vec::new());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = text(&output);
    assert!(said.contains("windows wait in the recording"), "{said}");
    assert!(said.contains("takes windows again"), "{said}");
    check_totals(&path, &receiver.received());
}
