//! A server with a leak: it remembers every request that it could not serve.
//!
//! ```sh
//! cargo build -p memtrail-sampler --example leak
//! memtrail run -- target/debug/examples/leak
//! memtrail report leak-*.memtrail
//! ```

use std::collections::HashMap;

use memtrail_sampler::{Alloc, label, trace_if_requested};

#[global_allocator]
static ALLOCATOR: Alloc = Alloc::system();

/// What the server remembers.
#[derive(Default)]
struct Server {
    failed: HashMap<u64, Vec<u8>>,
}

impl Server {
    fn serve(&mut self, request: u64) {
        let _label = label("client", request % 3);
        let body = parse(request);
        if request.is_multiple_of(7) {
            self.remember(request, &body);
        }
    }

    fn remember(&mut self, request: u64, body: &[u8]) {
        self.failed.insert(request, body.to_vec());
    }
}

fn parse(request: u64) -> Vec<u8> {
    std::hint::black_box(vec![request as u8; 2000])
}

fn main() {
    trace_if_requested();
    let requests = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200_000);
    // It lives as long as the program.
    let server: &mut Server = Box::leak(Box::default());
    for request in 0..requests {
        server.serve(request);
    }
    println!("{} requests failed", server.failed.len());
}
