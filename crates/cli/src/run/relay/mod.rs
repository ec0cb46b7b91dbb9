//! Writes for programs that cannot reach their recording any more: they gave up their privileges,
//! changed their root folder, or closed all descriptors.
//!
//! A thread of the launcher answers what agents ask through shared memory
//! ([`memtrail_recording::relay`]). What it reads there is not trusted.

mod files;
mod shared;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use memtrail_recording::relay::{Operation, Relay, SLOTS};
use memtrail_recording::session::Options;

use files::Files;
use shared::Kernel;

/// Milliseconds between looks when nobody asks for anything: agents take a launcher for gone that has not looked for
/// eight seconds.
const LOOK: u32 = 3_000;
/// Milliseconds between looks while the rest of a request is waited for.
const LOOK_FOR_REST: u32 = 100;
/// How long the rest of a request that came in parts is waited for at the end.
const MAX_FINISH: Duration = Duration::from_secs(1);
/// Bytes that a request may bring in parts.
const MAX_HELD: usize = 64 << 20;

/// The thread; it ends with the value.
pub(super) struct Service {
    relay: &'static Relay,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts answering for a session.
    pub(super) fn start(session: &Path, options: &Options) -> io::Result<Self> {
        Self::serve(shared::make(session)?, session, options)
    }

    /// Goes on answering for a session whose launcher has ended.
    pub(super) fn go_on(session: &Path, options: &Options) -> io::Result<Self> {
        Self::serve(shared::open(session)?, session, options)
    }

    fn serve(relay: &'static Relay, session: &Path, options: &Options) -> io::Result<Self> {
        // From now on the launcher is there.
        relay.look::<Kernel>();
        let ended = Arc::new(AtomicBool::new(false));
        let mut server = Server {
            relay,
            files: Files::new(session.to_path_buf(), options.clone()),
            held: Default::default(),
        };
        let told = Arc::clone(&ended);
        let thread = std::thread::Builder::new()
            .name("relay".into())
            .stack_size(256 * 1024)
            .spawn(move || server.run(&told))?;
        Ok(Self { relay, ended, thread: Some(thread) })
    }
}

impl Service {
    /// Ends answering until somebody goes on: two who answer at once take each other's requests for
    /// their own.
    pub(super) fn pause(&mut self) {
        self.stop();
    }

    /// Ends answering, for good or until somebody goes on.
    pub(super) fn end(mut self, for_good: bool) {
        self.stop();
        if for_good {
            self.relay.close::<Kernel>();
        }
        // There is nothing left to do.
        std::mem::forget(self);
    }

    fn stop(&mut self) {
        self.ended.store(true, Relaxed);
        self.relay.nudge::<Kernel>();
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
        self.relay.close::<Kernel>();
    }
}

struct Server {
    relay: &'static Relay,
    files: Files,
    /// What each slot has brought in parts.
    held: [Vec<u8>; SLOTS],
}

impl Server {
    fn run(&mut self, ended: &AtomicBool) {
        let mut finish_by = None;
        loop {
            if ended.load(Relaxed) {
                // Whoever goes on does not have the parts that are held here.
                let by = *finish_by.get_or_insert_with(|| Instant::now() + MAX_FINISH);
                if self.held.iter().all(Vec::is_empty) || Instant::now() >= by {
                    return;
                }
            }
            let seen = self.relay.posted();
            let (requests, abandoned) = self.relay.look::<Kernel>();
            for slot in abandoned {
                self.held[slot] = Vec::new();
            }
            let idle = requests.is_empty();
            for request in requests {
                let held = &mut self.held[request.slot];
                let result = match request.operation {
                    None => Err(libc::EINVAL),
                    Some(_) if held.len() + request.payload.len() > MAX_HELD => Err(libc::EFBIG),
                    Some(Operation::Hold) => {
                        held.extend(request.payload);
                        self.relay.answer::<Kernel>(request.slot, Ok(&[]));
                        continue;
                    }
                    Some(operation) => {
                        held.extend(request.payload);
                        self.files.serve(request.sender, operation, held)
                    }
                };
                // What is kept for the next request is small.
                held.clear();
                held.shrink_to(1 << 20);
                self.relay
                    .answer::<Kernel>(request.slot, result.as_deref().map_err(|&errno| errno));
            }
            if idle {
                self.files.remove_abandoned();
                let pause = if finish_by.is_some() { LOOK_FOR_REST } else { LOOK };
                self.relay.sleep::<Kernel>(seen, pause);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memtrail_recording::relay::{Refused, Sender};

    use super::*;

    // A daemon's packets were written twice, or lost: the launcher still answered while the process
    // that it left behind did already.
    #[test]
    fn who_pauses_answers_nothing_until_somebody_goes_on() {
        let session = tempfile::tempdir().expect("a folder");
        let options = serde_json::json!({
            "memtrail": "0", "rate": 1e-4, "output": null, "base": "/", "children": false
        });
        let options: Options = serde_json::from_value(options).expect("options");
        let mut first = Service::start(session.path(), &options).expect("started");
        let relay = first.relay;
        let request = move || {
            let sender = Sender { pid: 1, image: 0, sender_pid: 1 };
            relay.call::<Kernel>(sender, Operation::Trace(0), b"packet", &mut [])
        };
        let unknown = Err(Refused::Errno(libc::EINVAL));
        assert_eq!(request(), unknown, "it answers that it knows no such process");
        first.pause();
        let asker = std::thread::spawn(request);
        std::thread::sleep(Duration::from_millis(300));
        assert!(!asker.is_finished(), "nobody is there to answer");
        let second = Service::go_on(session.path(), &options).expect("started");
        first.end(false);
        assert_eq!(asker.join().expect("it ends"), unknown);
        drop(second);
        assert_eq!(request(), Err(Refused::Gone));
    }
}
