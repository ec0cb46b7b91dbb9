// A Rust program with an allocator of its own, as those that count or sample have. Lines are checked.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    #[inline(never)]
    fn forward(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.forward(layout)
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[inline(never)]
fn create(i: usize) -> Vec<u8> {
    vec![i as u8; 1000] // line 31
}

#[inline(never)]
fn serve(kept: &mut Vec<Vec<u8>>) {
    for i in 0..1000 {
        kept.push(create(i));
    }
}

fn main() {
    let mut kept = Vec::with_capacity(1000);
    serve(&mut kept);
    println!("{}", kept.iter().map(Vec::len).sum::<usize>());
}
