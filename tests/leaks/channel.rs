// A channel without a bound, whose receiver is slower than its sender; "sound" has room for 100 messages.
//
// run leak 60000: stack grows, allocated in channel::message or channel::main
// run sound 60000: no suspect
// long 300000
use std::sync::mpsc;
use std::thread;
#[inline(never)]
fn message(i: u64) -> Vec<u8> { vec![i as u8; 1600] }
fn receive(next: impl Fn() -> Option<Vec<u8>>, of: u64, skip: u64) -> u64 {
    let (mut sum, mut taken) = (0, 0);
    while taken < of { let Some(text) = next() else { break }; taken += skip; let work = vec![text[5]; 5000]; sum += u64::from(std::hint::black_box(work)[3]) }
    sum
}
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<u64>().unwrap_or(0));
    let (tokens, granted) = mpsc::sync_channel::<()>(0);
    let receiver;
    if leaks {
        let (sender, inbox) = mpsc::channel();
        receiver = thread::spawn(move || { let sum = receive(|| { granted.recv().ok()?; inbox.recv().ok() }, n, 1); (sum, Some(inbox)) });
        for i in 0..n { sender.send(message(i)).ok(); if i % 3 == 0 { tokens.send(()).ok(); } }
        drop(tokens);
        let (sum, inbox) = receiver.join().unwrap_or((0, None));
        println!("{sum} {}", inbox.is_some());
    } else {
        let (sender, inbox) = mpsc::sync_channel(100);
        receiver = thread::spawn(move || (receive(|| inbox.recv().ok(), n, 1), None));
        for i in 0..n { sender.send(message(i)).ok(); }
        drop(sender);
        println!("{}", receiver.join().map_or(0, |(sum, _): (u64, Option<mpsc::Receiver<Vec<u8>>>)| sum));
    }
}
