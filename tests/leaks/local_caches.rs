// Each thread fills a cache of its own. In "leak" threads stay parked for ever; in "sound" they end.
//
// run leak 400: thread-local grows, allocated in local_caches::fill
// run sound 400: no suspect
// long 1200
use std::cell::RefCell;
use std::sync::{Arc, Barrier};
use std::thread;
thread_local!(static CACHE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) });
#[inline(never)]
fn fill(i: usize) -> usize { CACHE.with_borrow_mut(|cache| { for k in 0..50 { cache.push(vec![(i + k) as u8; 2000]) } cache.len() }) }
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<usize>().unwrap_or(0));
    let mut sum = 0;
    for i in 0..n {
        let barrier = Arc::new(Barrier::new(2));
        let inner = barrier.clone();
        let thread = thread::Builder::new().stack_size(64 << 10).spawn(move || { fill(i); inner.wait(); if leaks { loop { thread::park() } } });
        barrier.wait();
        if !leaks { thread.map(|t| t.join().ok()).ok(); }
        for k in 0..40 { let work = vec![k as u8; 5000]; sum += std::hint::black_box(work)[7] as usize }
    }
    println!("{sum}");
}
