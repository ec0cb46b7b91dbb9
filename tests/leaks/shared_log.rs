// Threads append to a log that all share. "sound" truncates it when it has 2,000 lines.
//
// run leak 10000: stack grows, allocated in shared_log::append or alloc
// run sound 10000: no suspect
// long 40000
use std::sync::{Arc, Mutex};
use std::thread;
#[inline(never)]
fn append(log: &Mutex<Vec<String>>, thread: usize, i: usize) { log.lock().unwrap().push(format!("{thread} {i} {}", "l".repeat(400))) }
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<usize>().unwrap_or(0));
    let log = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3).map(|thread| {
        let log = log.clone();
        thread::spawn(move || {
            let mut sum = 0;
            for i in 0..n {
                append(&log, thread, i);
                let work = vec![i as u8; 3000]; sum += std::hint::black_box(work)[7] as usize;
                let mut log = log.lock().unwrap();
                if !leaks && log.len() > 2000 { log.drain(..1000); }
            }
            sum
        })
    }).collect();
    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{sum} {}", log.lock().unwrap().len());
}
