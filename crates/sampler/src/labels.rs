//! Labels: what a thread is doing, as the program names it.

use std::cell::Cell;
use std::fmt::{self, Display};
use std::marker::PhantomData;

/// A label of the thread that has it, until it is dropped.
#[derive(Debug)]
#[must_use = "the label ends when this is dropped"]
pub struct LabelGuard {
    node: *const Node,
    /// It is of one thread.
    not_send: PhantomData<*const ()>,
}

/// A label, in the list of those of its thread.
struct Node {
    text: String,
    /// The label that was there before, or null.
    outer: Cell<*const Node>,
}

thread_local! {
    /// The label that came last, or null. Each is in memory until its guard is dropped.
    static INNERMOST: Cell<*const Node> = const { Cell::new(std::ptr::null()) };
    /// How often the thread's labels are being looked at.
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

/// Labels what this thread allocates from now on until the result is dropped.
///
/// A sample has all labels of its thread. In recordings each is a frame such as `[request 17]`, above the thread's
/// own; filters and searches find it by that name.
///
/// ```
/// let _label = memtrail_sampler::label("request", 17);
/// // Samples of what is allocated here have the label `request 17`.
/// ```
pub fn label(name: &str, value: impl Display) -> LabelGuard {
    let outer = INNERMOST.get();
    let node = Node { text: format!("{name} {value}"), outer: Cell::new(outer) };
    let node = Box::into_raw(Box::new(node)).cast_const();
    INNERMOST.set(node);
    LabelGuard { node, not_send: PhantomData }
}

impl Drop for LabelGuard {
    fn drop(&mut self) {
        // SAFETY: the node came from a box, and is freed here alone.
        let outer = unsafe { (*self.node).outer.get() };
        if INNERMOST.get() == self.node {
            INNERMOST.set(outer);
        } else {
            let mut at = INNERMOST.get();
            // SAFETY: nodes are in the list until their guards are dropped, in this thread.
            while let Some(inner) = unsafe { at.as_ref() } {
                if inner.outer.get() == self.node {
                    inner.outer.set(outer);
                    break;
                }
                at = inner.outer.get();
            }
        }
        // A callback may end a label while it looks at it: that one is never freed.
        if LOOKS.get() == 0 {
            // SAFETY: nothing leads to it any more.
            drop(unsafe { Box::from_raw(self.node.cast_mut()) });
        }
    }
}

/// A look at the thread's labels.
struct Look;

impl Look {
    fn begin() -> Self {
        LOOKS.set(LOOKS.get() + 1);
        Self
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        LOOKS.set(LOOKS.get() - 1);
    }
}

/// The labels of a thread, in a callback of that thread.
#[derive(Clone, Copy)]
pub(crate) struct Labels {
    /// Not for other threads.
    thread: PhantomData<*const ()>,
}

impl Labels {
    /// Those of this thread.
    pub(crate) fn of_thread() -> Self {
        Self { thread: PhantomData }
    }

    /// Calls a function for each, the innermost first.
    #[expect(clippy::unused_self, reason = "only who has an allocation, in its thread, looks")]
    pub(crate) fn for_each(self, mut see: impl FnMut(&str)) {
        let _look = Look::begin();
        let mut at = INNERMOST.get();
        // SAFETY: the list is this thread's, and none of its nodes is freed during the look.
        while let Some(node) = unsafe { at.as_ref() } {
            see(&node.text);
            at = node.outer.get();
        }
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.for_each(|text| {
            list.entry(&text);
        });
        list.finish()
    }
}
