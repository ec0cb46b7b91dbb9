//! Shared memory through which an agent lets the launcher write for it.
//!
//! A program may drop its privileges, change its root folder or close every descriptor: then it can
//! no longer reach its own recording. The file [`RELAY_FILE`] of the session is mapped before the
//! program's own code runs, by the agent and by the launcher, and stays mapped whatever the program
//! does. It holds a few slots. Who wants something written takes a free slot, puts a request into
//! it, posts it and waits for the answer; the launcher answers every posted slot.
//!
//! The launcher trusts nothing that it reads here: requests name files of the recording by kind,
//! never by path, and lengths are bounded.
//!
//! Nothing here makes a system call. How to sleep and wake is the caller's ([`Host`]): it is called
//! in a forked copy of the program, where no lock may be taken and nothing allocated.

mod operation;
mod slot;

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

pub use operation::{Operation, Refused, Sender};
use slot::{ANSWERED, FREE, POSTED, Slot, TAKEN};
pub use slot::{PAYLOAD, Request};

/// Name of the file in the session.
pub const RELAY_FILE: &str = "relay";
/// Requests that can be under way at once.
pub const SLOTS: usize = 8;
/// Not looked at for so long, in milliseconds, the launcher is taken for gone.
const GONE_AFTER: u64 = 8_000;
/// How long a waiter sleeps between looks at whether the launcher is there, in milliseconds.
const LOOK: u32 = 200;
/// A slot that was taken and not posted for so long, in milliseconds, is free again.
const ABANDONED_AFTER: u64 = 30_000;

/// The memory. It begins with zeros.
#[repr(C)]
#[derive(Debug)]
pub struct Relay {
    /// Counts posted requests; the launcher sleeps on it.
    posted: AtomicU32,
    /// Set when the launcher ends.
    closed: AtomicU32,
    /// When the launcher last looked, on the monotonic clock, in milliseconds; 0: never.
    looked: AtomicU64,
    slots: [Slot; SLOTS],
}

/// How to sleep on a word that processes share, wake who does, and tell the time.
pub trait Host {
    /// Sleeps while the word has this value, for at most this many milliseconds.
    fn wait(word: &AtomicU32, value: u32, milliseconds: u32);
    /// Wakes all who sleep on the word.
    fn wake(word: &AtomicU32);
    /// `CLOCK_MONOTONIC` in milliseconds.
    fn now() -> u64;
}

impl Relay {
    /// Whether the launcher is there.
    pub fn is_open<H: Host>(&self) -> bool {
        let looked = self.looked.load(Acquire);
        self.closed.load(Acquire) == 0
            && looked != 0
            && H::now().saturating_sub(looked) < GONE_AFTER
    }

    /// Has the launcher do something, and waits for it. The answer's bytes go to `answer`.
    pub fn call<H: Host>(
        &self,
        sender: Sender,
        operation: Operation,
        payload: &[u8],
        answer: &mut [u8],
    ) -> Result<usize, Refused> {
        let slot = self.take::<H>()?;
        let result = self.call_in::<H>(slot, sender, operation, payload, answer);
        // One that the launcher may still answer is given back by it.
        if result != Err(Refused::Gone) {
            slot.state.store(FREE, Release);
        }
        result
    }

    fn call_in<H: Host>(
        &self,
        slot: &Slot,
        sender: Sender,
        operation: Operation,
        payload: &[u8],
        answer: &mut [u8],
    ) -> Result<usize, Refused> {
        let mut rest = payload;
        while let Some((part, more)) = rest.split_at_checked(PAYLOAD)
            && !more.is_empty()
        {
            self.post::<H>(slot, sender, Operation::Hold, part)?;
            rest = more;
        }
        self.post::<H>(slot, sender, operation, rest)?;
        Ok(slot.get(answer))
    }

    fn take<H: Host>(&self) -> Result<&Slot, Refused> {
        while self.is_open::<H>() {
            for slot in &self.slots {
                if slot.state.compare_exchange(FREE, TAKEN, AcqRel, Relaxed).is_ok() {
                    slot.taken.store(H::now(), Release);
                    return Ok(slot);
                }
            }
            // All are in use: nobody wakes for a free one.
            H::wait(&self.closed, 0, 1);
        }
        Err(Refused::Gone)
    }

    fn post<H: Host>(
        &self,
        slot: &Slot,
        sender: Sender,
        operation: Operation,
        payload: &[u8],
    ) -> Result<(), Refused> {
        slot.fill(sender, operation, payload);
        slot.state.store(POSTED, Release);
        self.posted.fetch_add(1, AcqRel);
        H::wake(&self.posted);
        while slot.state.load(Acquire) == POSTED {
            if !self.is_open::<H>() {
                return Err(Refused::Gone);
            }
            H::wait(&slot.state, POSTED, LOOK);
        }
        match slot.errno.load(Relaxed) {
            0 => Ok(()),
            errno => Err(Refused::Errno(errno)),
        }
    }

    /// For the launcher: it is there. Gives what has been posted, and the slots that were abandoned.
    pub fn look<H: Host>(&self) -> (Vec<Request>, Vec<usize>) {
        let now = H::now().max(1);
        self.looked.store(now, Release);
        let mut abandoned = Vec::new();
        let mut requests = Vec::new();
        for (index, slot) in self.slots.iter().enumerate() {
            match slot.state.load(Acquire) {
                POSTED => requests.push(slot.request(index)),
                state @ (TAKEN | ANSWERED) => {
                    let since = now.saturating_sub(slot.taken.load(Acquire));
                    if since > ABANDONED_AFTER
                        && slot.state.compare_exchange(state, FREE, AcqRel, Relaxed).is_ok()
                    {
                        abandoned.push(index);
                    }
                }
                _ => {}
            }
        }
        (requests, abandoned)
    }

    /// For the launcher: answers the request in a slot.
    pub fn answer<H: Host>(&self, slot: usize, result: Result<&[u8], i32>) {
        let Some(slot) = self.slots.get(slot) else { return };
        slot.taken.store(H::now(), Release);
        slot.put(result.unwrap_or_default());
        slot.errno.store(result.err().unwrap_or(0), Relaxed);
        slot.state.store(ANSWERED, Release);
        H::wake(&slot.state);
    }

    /// For the launcher: sleeps until something is posted, or so many milliseconds. `seen` is what
    /// [`Self::posted`] gave before the last look.
    pub fn sleep<H: Host>(&self, seen: u32, milliseconds: u32) {
        H::wait(&self.posted, seen, milliseconds);
    }

    /// How many requests have been posted so far.
    pub fn posted(&self) -> u32 {
        self.posted.load(Acquire)
    }

    /// For the launcher: wakes the thread that sleeps.
    pub fn nudge<H: Host>(&self) {
        self.posted.fetch_add(1, AcqRel);
        H::wake(&self.posted);
    }

    /// For the launcher: nothing is answered from now on.
    pub fn close<H: Host>(&self) {
        self.closed.store(1, Release);
        for slot in &self.slots {
            H::wake(&slot.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    // Mapped memory begins with zeros.
    #[expect(clippy::large_stack_arrays, reason = "constants")]
    impl Relay {
        const fn new() -> Self {
            Self {
                posted: AtomicU32::new(0),
                closed: AtomicU32::new(0),
                looked: AtomicU64::new(0),
                slots: [const { Slot::new() }; SLOTS],
            }
        }
    }

    /// Sleeps by yielding: what the words do is the same.
    struct ThreadYield;

    impl Host for ThreadYield {
        fn wait(word: &AtomicU32, value: u32, milliseconds: u32) {
            let until = Instant::now() + Duration::from_millis(u64::from(milliseconds));
            while word.load(Acquire) == value && Instant::now() < until {
                thread::yield_now();
            }
        }
        fn wake(_: &AtomicU32) {}
        fn now() -> u64 {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed().as_millis() as u64 + 1
        }
    }

    fn sender(pid: u32) -> Sender {
        Sender { pid, image: 2, sender_pid: pid + 1 }
    }

    #[test]
    fn nothing_is_asked_of_a_launcher_that_never_was_or_has_ended() {
        static RELAY: Relay = Relay::new();
        let relay = &RELAY;
        let call = || relay.call::<ThreadYield>(sender(1), Operation::TakeRequest, &[], &mut []);
        assert_eq!(call(), Err(Refused::Gone));
        relay.look::<ThreadYield>();
        relay.close::<ThreadYield>();
        assert_eq!(call(), Err(Refused::Gone));
    }

    #[test]
    fn requests_of_many_arrive_whole_and_in_order() {
        static RELAY: Relay = Relay::new();
        let relay = &RELAY;
        relay.look::<ThreadYield>();
        // More senders than slots, payloads of less and of more than a slot carries.
        let length = |pid: u32| (pid as usize * 7919) % (3 * PAYLOAD);
        let content = |pid: u32| (0..length(pid)).map(|i| (i % 251) as u8).collect::<Vec<_>>();
        let askers: Vec<_> = (1..=12)
            .map(|pid| {
                let payload = content(pid);
                thread::spawn(move || {
                    let mut answer = [0; 16];
                    let operation = Operation::WriteSnapshot(7, u64::from(pid));
                    let length =
                        relay.call::<ThreadYield>(sender(pid), operation, &payload, &mut answer);
                    (length, answer)
                })
            })
            .collect();
        let (mut held, mut served) = (vec![Vec::new(); SLOTS], 0);
        while served < 12 {
            let (requests, abandoned) = relay.look::<ThreadYield>();
            assert_eq!(abandoned, [0; 0]);
            for request in requests {
                let all: &mut Vec<u8> = &mut held[request.slot];
                all.extend(&request.payload);
                if request.operation == Some(Operation::Hold) {
                    relay.answer::<ThreadYield>(request.slot, Ok(&[]));
                    continue;
                }
                let pid = request.sender.pid;
                assert_eq!(request.sender, sender(pid));
                assert_eq!(request.operation, Some(Operation::WriteSnapshot(7, u64::from(pid))));
                assert_eq!(std::mem::take(all), content(pid));
                let result = if pid % 2 == 0 { Ok(&b"done"[..]) } else { Err(13) };
                relay.answer::<ThreadYield>(request.slot, result);
                served += 1;
            }
        }
        for (index, asker) in askers.into_iter().enumerate() {
            let (length, answer) = asker.join().unwrap();
            if index % 2 == 1 {
                assert_eq!((length, &answer[..4]), (Ok(4), &b"done"[..]));
            } else {
                assert_eq!(length, Err(Refused::Errno(13)));
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_no_operation() {
        static RELAY: Relay = Relay::new();
        let relay = &RELAY;
        let slot = &relay.slots[3];
        slot.operation.store(99, Relaxed);
        slot.length.store(u32::MAX, Relaxed);
        slot.state.store(POSTED, Release);
        let (requests, _) = relay.look::<ThreadYield>();
        assert_eq!((requests.len(), requests[0].slot), (1, 3));
        assert_eq!((requests[0].operation, requests[0].payload.len()), (None, PAYLOAD));
    }
}
