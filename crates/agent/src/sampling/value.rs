//! OCaml values that live in our memory: the runtime takes them as static data.

use memtrail_ocaml::Version;
use memtrail_ocaml::block::{
    CLOSURE_WOSIZE, COLOUR_STATIC, UNIT, Value, closure_info, header, tag,
};

/// `Some x`, to be reused: the runtime reads `x` at once.
#[repr(C)]
pub(crate) struct SomeBlock {
    header: u64,
    content: Value,
}

impl SomeBlock {
    pub(crate) const fn new() -> Self {
        Self { header: header(1, 0, COLOUR_STATIC), content: UNIT }
    }

    /// The value `Some x`.
    #[inline]
    pub(crate) fn of(&mut self, x: Value) -> Value {
        self.content = x;
        (&raw const self.content) as Value
    }
}

/// A closure of one argument over native code.
#[repr(C)]
pub(crate) struct Closure {
    header: u64,
    code: *const (),
    info: u64,
}

// SAFETY: never changes, and its code may run on any thread.
unsafe impl Send for Closure {}
// SAFETY: as above.
unsafe impl Sync for Closure {}

impl Closure {
    pub(crate) const fn new(code: *const (), version: Version) -> Self {
        let header = header(CLOSURE_WOSIZE, tag::CLOSURE, COLOUR_STATIC);
        Self { header, code, info: closure_info(version) }
    }

    pub(crate) fn value(&self) -> Value {
        (&raw const self.code) as Value
    }
}

/// A boxed `float`.
#[repr(C)]
pub(crate) struct Float {
    header: u64,
    content: f64,
}

impl Float {
    pub(crate) const fn new(content: f64) -> Self {
        Self { header: header(1, tag::DOUBLE, COLOUR_STATIC), content }
    }

    pub(crate) fn value(&self) -> Value {
        (&raw const self.content) as Value
    }
}

/// A record of `N` fields.
#[repr(C)]
pub(crate) struct Record<const N: usize> {
    header: u64,
    fields: [Value; N],
}

impl<const N: usize> Record<N> {
    pub(crate) const fn new(fields: [Value; N]) -> Self {
        Self { header: header(N as u64, 0, COLOUR_STATIC), fields }
    }

    pub(crate) fn value(&self) -> Value {
        (&raw const self.fields) as Value
    }
}
