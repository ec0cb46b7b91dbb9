//! The assertions for tests, as a test would use them.

use std::hint::black_box;
use std::panic::catch_unwind;
use std::thread;

use memtrail_sampler::testing::{Amount, measure};
use memtrail_sampler::{Alloc, Bytes, assert_max_leaked, assert_max_live};

#[global_allocator]
static ALLOCATOR: Alloc = Alloc::system();

fn block(size: usize) -> Vec<u8> {
    black_box(Vec::with_capacity(size))
}

fn amount(blocks: u64, bytes: u64) -> Amount {
    Amount { blocks, bytes: Bytes(bytes) }
}

#[test]
fn figures_are_exact() {
    let (kept, usage) = measure(|| {
        let first = block(1000);
        let second = block(500);
        drop(first);
        drop(block(10));
        second
    });
    assert_eq!(usage.allocated, amount(3, 1510));
    assert_eq!(usage.peak, amount(2, 1500));
    assert_eq!(usage.live, amount(1, 500));
    drop(kept);
}

#[test]
fn a_block_counts_again_when_its_size_is_changed() {
    let ((), usage) = measure(|| {
        let mut growing = block(1000);
        growing.reserve_exact(3000);
        black_box(growing.as_mut_ptr());
    });
    assert_eq!(usage.allocated, amount(2, 4000));
    assert_eq!(usage.peak, amount(1, 3000));
    assert_eq!(usage.live, amount(0, 0));
}

#[test]
fn other_threads_do_not_count_but_may_free() {
    let ((), usage) = measure(|| {
        let ours = block(1 << 20);
        thread::scope(|scope| {
            scope.spawn(move || {
                drop(ours);
                drop(block(1 << 21));
            });
        });
    });
    let bytes = |amount: Amount| amount.bytes.0;
    assert!(bytes(usage.peak) >= 1 << 20 && bytes(usage.peak) < 1 << 21, "{usage:?}");
    assert!(bytes(usage.live) < 1 << 20, "{usage:?}");
}

#[test]
fn assertions_give_the_result_or_panic_with_the_figures() {
    assert_eq!(assert_max_live!(Bytes(100), block(100).capacity()), 100);
    assert_eq!(assert_max_leaked!(Bytes(0), block(100).capacity()), 100);
    let message = |run: fn()| {
        let payload = catch_unwind(run).expect_err("it panics");
        payload.downcast_ref::<String>().cloned().expect("a message")
    };
    assert_eq!(
        message(|| assert_max_live!(Bytes(99), drop(block(100)))),
        "100 bytes in 1 blocks were live at once, more than 99"
    );
    assert_eq!(
        message(|| assert_max_leaked!(Bytes(99), std::mem::forget(block(100)))),
        "100 bytes in 1 blocks were not freed, more than 99"
    );
    // After code that panics itself, the next is measured.
    assert!(catch_unwind(|| measure(|| panic!("as intended"))).is_err());
    assert_eq!(measure(|| ()).1.allocated, amount(0, 0));
}
