//! A slot of the shared memory: one request, or its answer.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::operation::{Operation, Sender};

/// Bytes that a slot carries.
pub const PAYLOAD: usize = 16 * 1024;

pub(super) const FREE: u32 = 0;
pub(super) const TAKEN: u32 = 1;
pub(super) const POSTED: u32 = 2;
pub(super) const ANSWERED: u32 = 3;

#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) state: AtomicU32,
    pub(super) operation: AtomicU32,
    pid: AtomicU32,
    image: AtomicU32,
    sender_pid: AtomicU32,
    pub(super) length: AtomicU32,
    number: AtomicU64,
    offset: AtomicU64,
    /// When it was taken, in milliseconds.
    pub(super) taken: AtomicU64,
    pub(super) errno: AtomicI32,
    payload: [AtomicU64; PAYLOAD / 8],
}

/// A request as the launcher finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of the shared slot.
    pub slot: usize,
    /// The process that sent it.
    pub sender: Sender,
    /// What to do; nothing if it makes no sense.
    pub operation: Option<Operation>,
    /// Arguments, as the operation lays them out.
    pub payload: Vec<u8>,
}

impl Slot {
    /// Puts a request in, which is not posted yet.
    pub(super) fn fill(&self, sender: Sender, operation: Operation, payload: &[u8]) {
        let (code, number, offset) = operation.encode();
        self.operation.store(code, Relaxed);
        self.number.store(number, Relaxed);
        self.offset.store(offset, Relaxed);
        self.pid.store(sender.pid, Relaxed);
        self.image.store(sender.image, Relaxed);
        self.sender_pid.store(sender.sender_pid, Relaxed);
        self.put(payload);
    }

    /// Puts bytes in: as many as there is room for.
    pub(super) fn put(&self, bytes: &[u8]) {
        let bytes = bytes.get(..bytes.len().min(PAYLOAD)).unwrap_or_default();
        for (word, part) in self.payload.iter().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            word.store(u64::from_le_bytes(whole), Relaxed);
        }
        self.length.store(bytes.len() as u32, Relaxed);
    }

    /// Copies its bytes, as many as there is room for, and says how many.
    pub(super) fn get(&self, into: &mut [u8]) -> usize {
        let length = (self.length.load(Relaxed) as usize).min(into.len()).min(PAYLOAD);
        let into = into.get_mut(..length).unwrap_or_default();
        for (word, part) in self.payload.iter().zip(into.chunks_mut(8)) {
            let whole = word.load(Relaxed).to_le_bytes();
            let length = part.len();
            part.copy_from_slice(&whole[..length]);
        }
        length
    }

    /// The request that is in it. Whoever wrote it may have written anything.
    pub(super) fn request(&self, slot: usize) -> Request {
        let mut payload = vec![0; (self.length.load(Relaxed) as usize).min(PAYLOAD)];
        self.get(&mut payload);
        let sender = Sender {
            pid: self.pid.load(Relaxed),
            image: self.image.load(Relaxed),
            sender_pid: self.sender_pid.load(Relaxed),
        };
        let operation = Operation::decode(
            self.operation.load(Relaxed),
            self.number.load(Relaxed),
            self.offset.load(Relaxed),
        );
        Request { slot, sender, operation, payload }
    }
}

#[cfg(test)]
impl Slot {
    pub(super) const fn new() -> Self {
        Self {
            state: AtomicU32::new(FREE),
            operation: AtomicU32::new(0),
            pid: AtomicU32::new(0),
            image: AtomicU32::new(0),
            sender_pid: AtomicU32::new(0),
            length: AtomicU32::new(0),
            number: AtomicU64::new(0),
            offset: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            errno: AtomicI32::new(0),
            payload: [const { AtomicU64::new(0) }; PAYLOAD / 8],
        }
    }
}
