//! Closures: the number of the function of each, through partial applications.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::details::Details;
use super::find::{Found, is_pointer};
use super::source::{ClosureFormat, HeapRuntime};
use crate::tag;

/// Instead of a function's number: its closures are partial applications of others.
const PARTIAL: u32 = u32::MAX;
/// More partial applications of one another than this are none: functions have fewer arguments.
const MAX_PARTIAL: usize = 256;
/// Fields of a closure that are looked at to find its code.
const HEAD: usize = 3;

/// Functions, numbered as they are met.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// By code pointer.
    numbers: HashMap<u64, u32, FxBuildHasher>,
    /// Partial applications, by the code pointer of what is applied; 0 if that is unknown.
    partial: HashMap<u64, u32, FxBuildHasher>,
    /// By number: the code pointer, and whether the closures are partial applications.
    pub(super) all: Vec<(u64, bool)>,
}

impl Functions {
    /// The number of the function of a closure with these fields.
    #[inline]
    pub(super) fn number<D: Details>(
        &mut self,
        fields: &[u64],
        (found, runtime): (&Found<'_>, HeapRuntime),
        details: &mut D,
    ) -> u32 {
        match self.number_of_code(code_pointer(runtime, fields), details) {
            PARTIAL => {
                let applied = self.applied(fields, found, runtime, details).unwrap_or(0);
                let next = self.all.len() as u32;
                let number = *self.partial.entry(applied).or_insert(next);
                if number == next {
                    self.all.push((applied, true));
                }
                number
            }
            number => number,
        }
    }

    #[inline]
    fn number_of_code<D: Details>(&mut self, code: u64, details: &mut D) -> u32 {
        if let Some(number) = self.numbers.get(&code) {
            return *number;
        }
        let number = if code != 0 && details.is_partial(code) {
            PARTIAL
        } else {
            self.all.push((code, false));
            self.all.len() as u32 - 1
        };
        self.numbers.insert(code, number);
        number
    }

    /// The code of what a partial application applies: the last field of each leads to it.
    fn applied<D: Details>(
        &mut self,
        fields: &[u64],
        found: &Found<'_>,
        runtime: HeapRuntime,
        details: &mut D,
    ) -> Option<u64> {
        let mut closure = *fields.last()?;
        for _ in 0..MAX_PARTIAL {
            let fields = closure_at(found, runtime, closure)?;
            let code = code_pointer(runtime, fields);
            if self.number_of_code(code, details) != PARTIAL {
                return Some(code);
            }
            closure = *fields.last()?;
        }
        None
    }
}

/// The fields of the closure that a value is; of one inside another, those with its code.
pub(super) fn closure_at<'a>(
    found: &Found<'a>,
    runtime: HeapRuntime,
    value: u64,
) -> Option<&'a [u64]> {
    let region = found.region(value).filter(|_| is_pointer(value))?;
    let field = ((value - region.start) >> 3) as usize;
    match *region.words.get(field.checked_sub(1)?)? as u8 {
        tag::CLOSURE => Some(region.block(value, runtime)?.1),
        tag::INFIX => {
            let rest = region.words.get(field..)?;
            Some(rest.get(..HEAD).unwrap_or(rest))
        }
        _ => None,
    }
}

/// The code of a closure's function: behind a general entry where it takes several arguments.
pub(super) fn code_pointer(runtime: HeapRuntime, fields: &[u64]) -> u64 {
    let arity = fields.get(1).map_or(1, |info| match runtime.closures {
        ClosureFormat::Plain => (*info as i64) >> 1,
        ClosureFormat::WithInfo => (*info as i64) >> 56,
    });
    let field = if matches!(arity, 0 | 1) { 0 } else { 2 };
    fields.get(field).copied().unwrap_or(0)
}
