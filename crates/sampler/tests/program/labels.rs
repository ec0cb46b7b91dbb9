//! Labels of threads, nested, ended in any order, and those of other threads.

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;

use memtrail_sampler::{Allocation, Rate, Tracker, label, start};

use crate::turn;

const BIG: usize = 1 << 20;

/// Notes the labels of large blocks.
#[derive(Default)]
struct Labels(Mutex<Vec<Vec<String>>>);

impl Tracker for Labels {
    type Data = ();

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<()> {
        if allocation.size().0 >= BIG as u64 {
            let mut labels = Vec::new();
            allocation.for_each_label(|text| labels.push(text.to_owned()));
            self.0.lock().unwrap().push(labels);
        }
        None
    }
}

fn allocate() {
    drop(black_box(Vec::<u8>::with_capacity(BIG)));
}

#[test]
fn samples_have_the_labels_of_their_thread() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 4, Labels::default()).unwrap();
    allocate();
    let request = label("request", 17);
    allocate();
    let phase = label("phase", "parse");
    let detail = label("detail", 1.5);
    allocate();
    thread::spawn(|| {
        let _label = label("thread", 2);
        allocate();
    })
    .join()
    .unwrap();
    drop(phase);
    allocate();
    drop(detail);
    drop(request);
    allocate();
    let labels = profile.stop().0.into_inner().unwrap();
    let expected: [&[&str]; 6] = [
        &[],
        &["request 17"],
        &["detail 1.5", "phase parse", "request 17"],
        &["thread 2"],
        &["detail 1.5", "request 17"],
        &[],
    ];
    assert_eq!(labels, expected);
}
