// Each connection pushes a handler that captures its buffer. "sound" keeps the last 50.
//
// run leak 30000: stack grows, allocated in handlers::connect
// run sound 30000: no suspect
// long 150000
type Handler = Box<dyn Fn(usize) -> usize>;
#[inline(never)]
fn connect(handlers: &mut Vec<Handler>, i: usize) {
    let buffer = vec![i as u8; 1800];
    handlers.push(Box::new(move |k| buffer[k % buffer.len()] as usize));
}
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<usize>().unwrap_or(0));
    let (mut handlers, mut sum) = (Vec::new(), 0);
    for i in 0..n {
        connect(&mut handlers, i);
        if !leaks && handlers.len() > 50 { drop(handlers.remove(0)) }
        sum += handlers[handlers.len() / 2](i);
        let work = vec![i as u8; 4000]; sum += std::hint::black_box(work)[7] as usize
    }
    println!("{sum}");
}
