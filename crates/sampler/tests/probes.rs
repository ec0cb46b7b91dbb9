//! The static probes, as a listener uses them: found by their notes, made into traps, read from the registers.
#![cfg(target_arch = "x86_64")]
#![expect(
    unsafe_code,
    reason = "writes traps into its own code, as the kernel does for a listener"
)]

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use memtrail_sampler::{Alloc, Allocation, Bytes, Rate, Tracker, start_seeded};
use object::{Object as _, ObjectSection as _};

#[global_allocator]
static ALLOCATOR: Alloc = Alloc::system();

const MAX_EVENTS: usize = 1 << 14;
/// What was seen: 1 and the arguments of `alloc`, or 2 and that of `free`.
static EVENTS: [[AtomicU64; 4]; MAX_EVENTS] =
    [const { [const { AtomicU64::new(0) }; 4] }; MAX_EVENTS];
static SEEN: AtomicUsize = AtomicUsize::new(0);
static PLACES: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

extern "C" fn trapped(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes this type to handlers with `SA_SIGINFO`.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let register = |number: c_int| registers[number as usize] as u64;
    // The trap is the byte before.
    let at = register(libc::REG_RIP) - 1;
    let which = PLACES.iter().position(|place| place.load(SeqCst) == at).map_or(9, |at| at + 1);
    if let Some(event) = EVENTS.get(SEEN.fetch_add(1, SeqCst)) {
        let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX].map(register);
        for (place, value) in event.iter().zip([which as u64].into_iter().chain(arguments)) {
            place.store(value, SeqCst);
        }
    }
}

/// Probes of the provider in the notes of an executable: name, arguments, and the distance to the base's address.
fn probes(file: &[u8]) -> Vec<(String, String, i64)> {
    let elf = object::File::parse(file).expect("an executable");
    let section = elf.section_by_name(".note.stapsdt").expect("a section of notes");
    let notes = section.data().expect("its bytes");
    let base = elf.section_by_name(".stapsdt.base").expect("the section of the base").address();
    let number = |at: usize| u32::from_le_bytes(notes[at..at + 4].try_into().unwrap()) as usize;
    let address = |at: usize| i64::from_le_bytes(notes[at..at + 8].try_into().unwrap());
    let (mut found, mut at) = (Vec::new(), 0);
    while at < notes.len() {
        let (name, size, kind) = (number(at), number(at + 4), number(at + 8));
        assert_eq!((&notes[at + 12..at + 12 + name], kind), (&b"stapsdt\0"[..], 3));
        let body = at + 12 + name.next_multiple_of(4);
        let mut texts = &notes[body + 24..body + size];
        let mut text = || {
            let text = CStr::from_bytes_until_nul(texts).expect("a text");
            texts = &texts[text.count_bytes() + 1..];
            text.to_str().expect("ASCII").to_owned()
        };
        let (provider, name, arguments) = (text(), text(), text());
        assert_eq!(
            (provider.as_str(), address(body + 8) as u64, address(body + 16)),
            ("otel_memory", base, 0)
        );
        found.push((name, arguments, address(body)));
        at = body + size.next_multiple_of(4);
    }
    found
}

/// Where the executable is in memory: its addresses are counted from there.
fn load_address() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
    let program = std::env::current_exe().expect("its path");
    let line = maps.lines().find(|line| line.ends_with(program.to_str().expect("UTF-8")));
    let (start, _) = line.and_then(|line| line.split_once('-')).expect("its first mapping");
    u64::from_str_radix(start, 16).expect("an address")
}

/// Makes the instruction at an address a trap.
fn set_trap(at: u64) {
    let page = (at & !4095) as *mut c_void;
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: an instruction of our own that does nothing, which no other thread runs meanwhile.
    unsafe {
        assert_eq!(libc::mprotect(page, 8192, all), 0);
        assert_eq!(*(at as *const u8), 0x90);
        *(at as *mut u8) = 0xCC;
        libc::mprotect(page, 8192, libc::PROT_READ | libc::PROT_EXEC);
    }
}

/// Remembers the blocks of even size.
struct Even;

impl Tracker for Even {
    type Data = ();

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<()> {
        allocation.size().0.is_multiple_of(2).then_some(())
    }
}

#[test]
fn a_listener_sees_each_tracked_block_once_and_its_end() {
    let file = std::fs::read(std::env::current_exe().expect("its path")).expect("its bytes");
    let probes = probes(&file);
    let expected = [("alloc", "8@%rdi 8@%rsi 8@%rdx"), ("free", "8@%rdi")];
    let mut names: Vec<_> = probes.iter().map(|(name, text, _)| (&**name, &**text)).collect();
    names.sort_unstable();
    assert_eq!(names, expected);
    let base = load_address();
    // SAFETY: installs a handler that only stores numbers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
    }
    for (name, _, at) in &probes {
        let at = base + *at as u64;
        PLACES[usize::from(name == "free")].store(at, SeqCst);
        set_trap(at);
    }
    let interval = 1000;
    let rate = Rate::every(Bytes(interval));
    let profile = start_seeded(rate, 8, Even, 7).expect("no other profile");
    let mut blocks = Vec::with_capacity(4001);
    for n in 0..4000_usize {
        blocks.push(Vec::<u8>::with_capacity(900 + n % 2));
    }
    blocks[0].reserve_exact(5000);
    blocks.truncate(1000);
    let mut in_use: Vec<u64> = blocks.iter().map(|block| block.as_ptr() as u64).collect();
    profile.stop();
    let seen = SEEN.load(SeqCst);
    assert!((500..MAX_EVENTS).contains(&seen), "{seen} events");
    let events: Vec<[u64; 4]> = EVENTS[..seen]
        .iter()
        .map(|event| event.each_ref().map(|value| value.load(SeqCst)))
        .collect();
    let (mut live, mut ours, mut weights) = (Vec::new(), 0, 0);
    for [which, address, size, weight] in events {
        if which == 1 {
            assert!(!live.contains(&address) && size % 2 == 0, "{size}");
            assert_eq!(weight, rate.weight(Bytes(size)).0);
            live.push(address);
            if size == 900 {
                ours += 1;
                weights += weight;
            }
        } else {
            assert_eq!(which, 2);
            let at = live.iter().position(|known| *known == address).expect("it was allocated");
            live.swap_remove(at);
        }
    }
    // 2,000 blocks of even size, of which each is sampled with a probability of 0.594.
    assert!((1_100..1_280).contains(&ours), "{ours} blocks");
    assert!((1_670_000..1_930_000).contains(&weights), "{weights} bytes");
    in_use.sort_unstable();
    let known = live.iter().filter(|&address| in_use.binary_search(address).is_ok()).count();
    assert!((240..360).contains(&known), "{known} of the 500 that are left");
}
