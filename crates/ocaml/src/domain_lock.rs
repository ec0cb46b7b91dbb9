//! OCaml 5's `dom_internal` (`runtime/domain.c`): what the runtime keeps of a domain besides its
//! state, and exports nothing of.
//!
//! The thread that runs as a domain has a pointer to it in a thread-local variable beside
//! `caml_state`. The domain's lock is a field of it; it is recognised as the mutex that this thread
//! holds.

use crate::memory::{Address, Memory};

/// How far from `caml_state` its neighbour `domain_self` is looked for, in bytes.
const NEIGHBOURHOOD: u64 = 128;

/// In the first fields of `dom_internal`, behind its number: state, `interruptor.interrupt_word`.
const STATE_5_3: u64 = 8;
const STATE_5_4: u64 = 16;
/// Where the lock is looked for: behind `interruptor`, which has a mutex of its own.
const AFTER_INTERRUPTOR: u64 = 112;
const DOMAIN_BYTES: u64 = 320;

/// glibc's `pthread_mutex_t`, the same on amd64 and arm64 in its first fields.
const MUTEX_OWNER: u64 = 8;
const MUTEX_USERS: u64 = 12;
const MUTEX_KIND: u64 = 16;
/// `PTHREAD_MUTEX_ERRORCHECK`, as `caml_plat_mutex_init` asks for.
const ERROR_CHECKING: u32 = 2;

/// The state of a thread's domain, from the address of the thread's `caml_state`.
///
/// The variable is empty while the thread waits in a system call; its neighbour `domain_self` is not.
pub fn state_of_thread(
    memory: &impl Memory,
    variable: Address,
    young_limit: u64,
) -> Option<Address> {
    domain_of_thread(memory, variable, young_limit).map(|(_, state)| state)
}

/// A thread's `dom_internal` and the state of that domain, from the address of the thread's `caml_state`.
pub fn domain_of_thread(
    memory: &impl Memory,
    variable: Address,
    young_limit: u64,
) -> Option<(Address, Address)> {
    let first = variable.checked_sub(NEIGHBOURHOOD)?;
    let places = (0..2 * NEIGHBOURHOOD).step_by(8).map(|offset| first.saturating_add(offset));
    let domains = places.filter_map(|at| memory.u64(at)).filter(|at| at.is_multiple_of(8));
    let mut states =
        domains.filter_map(|domain| Some((domain, state_of_domain(memory, domain, young_limit)?)));
    states.next()
}

/// The state of the domain whose `dom_internal` is at `domain`, if there can be one.
pub fn state_of_domain(memory: &impl Memory, domain: Address, young_limit: u64) -> Option<Address> {
    [STATE_5_3, STATE_5_4].into_iter().find_map(|field| {
        let state = memory.field(domain, field).filter(|&state| state != 0)?;
        let limit = memory.field(domain, field + 8)?;
        (limit == state.checked_add(young_limit)?).then_some(state)
    })
}

/// The lock of a domain, whoever holds it, from the address of its `dom_internal`; nothing if it is laid out otherwise.
pub fn lock_of_domain(memory: &impl Memory, domain: Address) -> Option<Address> {
    let is_lock = |at: &Address| {
        let word = |offset| memory.u32(at + offset);
        let [Some(locked), Some(0), Some(owner), Some(users), Some(ERROR_CHECKING)] =
            [word(0), word(4), word(MUTEX_OWNER), word(MUTEX_USERS), word(MUTEX_KIND)]
        else {
            return false;
        };
        locked <= 2 && users <= 1 && (locked == 0) == (owner == 0)
    };
    let places = (AFTER_INTERRUPTOR..DOMAIN_BYTES).step_by(8);
    // The next one is of the domain behind it in the runtime's table.
    places.filter_map(|offset| domain.checked_add(offset)).find(is_lock)
}

/// The lock of the main domain, as its own thread finds it.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Address of this thread's `caml_state`.
    pub variable: Address,
    /// What is in it.
    pub state: Address,
    /// Offset of `young_limit` in the state.
    pub young_limit: u64,
    /// This thread's number in the system.
    pub thread: u32,
}

impl Search {
    /// The lock's address; nothing if the runtime is laid out otherwise.
    pub fn find(&self, memory: &impl Memory) -> Option<Address> {
        let first = self.variable.checked_sub(NEIGHBOURHOOD)?;
        let places = (0..2 * NEIGHBOURHOOD).step_by(8).map(|offset| first + offset);
        let domain = places.filter_map(|at| memory.u64(at)).find(|&at| self.is_main(memory, at))?;
        let mut locks = (AFTER_INTERRUPTOR..DOMAIN_BYTES)
            .step_by(8)
            .map(|offset| domain + offset)
            .filter(|&at| self.is_held(memory, at));
        let lock = locks.next()?;
        locks.next().is_none().then_some(lock)
    }

    fn is_main(&self, memory: &impl Memory, domain: Address) -> bool {
        domain.is_multiple_of(8)
            && memory.u32(domain) == Some(0)
            && [STATE_5_3, STATE_5_4].into_iter().any(|state| {
                memory.field(domain, state) == Some(self.state)
                    && memory.field(domain, state + 8) == Some(self.state + self.young_limit)
            })
    }

    fn is_held(&self, memory: &impl Memory, mutex: Address) -> bool {
        memory.u32(mutex).is_some_and(|locked| locked != 0)
            && memory.u32(mutex + MUTEX_OWNER) == Some(self.thread)
            && memory.u32(mutex + MUTEX_KIND) == Some(ERROR_CHECKING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;
    const STATE_AT: Address = 0x55_0000;
    const SEARCH: Search =
        Search { variable: BASE + 0x100, state: STATE_AT, young_limit: 0, thread: 77 };

    fn image(words: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; 0x1000];
        for &(at, word) in words {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// `domain_self` before `caml_state`, and a domain at 0x400 as 5.3 has it.
    fn runtime(owner: u64) -> Vec<u8> {
        image(&[
            (0xf8, BASE + 0x400),
            (0x100, STATE_AT),
            (0x408, STATE_AT),
            (0x410, STATE_AT),
            (0x4a0, 1),
            (0x4a8, 1 << 32 | owner),
            (0x4b0, 2),
        ])
    }

    #[test]
    fn the_mutex_that_this_thread_holds_is_the_lock() {
        let bytes = runtime(77);
        assert_eq!(SEARCH.find(&Image { base: BASE, bytes: &bytes }), Some(BASE + 0x4a0));
    }

    #[test]
    fn the_lock_is_found_whoever_holds_it() {
        let find = |bytes: &[u8]| lock_of_domain(&Image { base: BASE, bytes }, BASE + 0x400);
        assert_eq!(find(&runtime(78)), Some(BASE + 0x4a0));
        let mut free = runtime(78);
        free[0x4a0..0x4b0].fill(0);
        assert_eq!(find(&free), Some(BASE + 0x4a0));
        // The lock of the next domain.
        let mut two = free.clone();
        two[0x530] = 2;
        assert_eq!(find(&two), Some(BASE + 0x4a0));
        // An owner without a lock.
        free[0x4a8] = 7;
        assert_eq!(find(&free), None);
    }

    #[test]
    fn a_thread_in_a_system_call_has_its_domain() {
        let mut bytes = runtime(77);
        bytes[0x100..0x108].fill(0);
        let memory = Image { base: BASE, bytes: &bytes };
        assert_eq!(state_of_thread(&memory, BASE + 0x100, 0), Some(STATE_AT));
        assert_eq!(state_of_thread(&memory, BASE + 0x100, 8), None);
    }

    #[test]
    fn a_word_more_before_the_state_is_5_4() {
        let bytes = image(&[
            (0xf8, BASE + 0x400),
            (0x410, STATE_AT),
            (0x418, STATE_AT),
            (0x4a0, 1),
            (0x4a8, 1 << 32 | 0x4d),
            (0x4b0, 2),
        ]);
        assert_eq!(SEARCH.find(&Image { base: BASE, bytes: &bytes }), Some(BASE + 0x4a0));
    }

    #[test]
    fn what_is_held_by_another_thread_is_not() {
        let bytes = runtime(78);
        assert_eq!(SEARCH.find(&Image { base: BASE, bytes: &bytes }), None);
    }

    #[test]
    fn without_a_domain_nearby_there_is_none() {
        let bytes = image(&[(0x100, STATE_AT)]);
        assert_eq!(SEARCH.find(&Image { base: BASE, bytes: &bytes }), None);
    }
}
