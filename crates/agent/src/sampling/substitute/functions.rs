//! The runtime's functions that ours stand before, and its variables.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use memtrail_ocaml::symbols::{heap, memory, minor_gc};
use memtrail_ocaml::version::Version;

use crate::context::functions::size_of_function;
use crate::os::function_hooks::{FunctionHook, Prepared, prepare};
use crate::os::symbol::{required, symbol};

pub(super) type Small = unsafe extern "C" fn(u64, isize, c_int, c_int, *const u8);
pub(super) type Large = unsafe extern "C" fn(usize, usize, usize) -> u64;
pub(super) type Custom = unsafe extern "C" fn(*const c_void, usize, usize) -> u64;
pub(super) type Counted = unsafe extern "C" fn(u64, usize, usize, usize) -> u64;
pub(super) type OfDomain = unsafe extern "C" fn(u64);
pub(super) type Compact = unsafe extern "C" fn(u64, c_int, *const u64);

/// Functions of the runtime, as they can be called.
pub(super) struct Functions {
    pub(super) small: Small,
    pub(super) large: [Option<Large>; LARGE],
    pub(super) custom: Custom,
    pub(super) reset_limit: OfDomain,
    pub(super) after_minor: OfDomain,
    pub(super) compact: Option<Compact>,
    /// From 5.3 on, which allocates channels.
    pub(super) counted: Option<Counted>,
    /// The action with which roots are marked.
    pub(super) darken: u64,
    /// Address of the colours, of which the third is that of blocks that are dead.
    pub(super) colours: u64,
}

/// What is called in their place.
pub(super) struct Replacements {
    pub(super) small: Small,
    pub(super) large: [Large; LARGE],
    pub(super) custom: Custom,
    pub(super) reset_limit: OfDomain,
    pub(super) after_minor: OfDomain,
    pub(super) compact: Compact,
    pub(super) counted: Counted,
}

/// How many functions allocate in the major heap.
pub(super) const LARGE: usize = memory::ALLOCATE_LARGE.len();

impl Functions {
    /// Finds them, and prepares that ours are called in their place.
    pub(super) fn prepare(
        version: Version,
        ours: &Replacements,
    ) -> Result<(Self, Prepared), String> {
        let missing = |name: &str| format!("its runtime does not export {name}");
        let after_minor = match version {
            Version::V5_0 => minor_gc::EMPTY_YOUNG,
            _ => minor_gc::UPDATE_LAST,
        };
        let mut hooks = Vec::new();
        for (name, ours) in [
            (memory::ALLOCATE_SMALL, ours.small as *const c_void),
            (memory::ALLOCATE_CUSTOM, ours.custom as *const c_void),
            (minor_gc::RESET_LIMIT, ours.reset_limit as *const c_void),
            (after_minor, ours.after_minor as *const c_void),
        ] {
            let function = required(name).map_err(missing)?;
            hooks.push(FunctionHook { name, function, size: size_of_function(name), ours });
        }
        let certain = hooks.len();
        let optional =
            memory::ALLOCATE_LARGE.into_iter().zip(ours.large.map(|f| f as *const c_void));
        let others = [
            (memory::COMPACT, ours.compact as *const c_void),
            (memory::ALLOCATE_CUSTOM_COUNTED, ours.counted as *const c_void),
        ];
        let is_there = |name| {
            let is_needed = name != memory::ALLOCATE_CUSTOM_COUNTED || version.can_sample();
            is_needed && !symbol(name).is_null()
        };
        for (name, ours) in optional.chain(others) {
            if is_there(name) {
                let function = symbol(name);
                hooks.push(FunctionHook { name, function, size: size_of_function(name), ours });
            }
        }
        let prepared =
            prepare(&hooks).map_err(|error| format!("its code is not as expected: {error}"))?;
        let [small, custom, reset_limit, after_minor] = *prepared
            .originals
            .first_chunk()
            .ok_or_else(|| "its code is not as expected".to_owned())?;
        let mut rest = prepared.originals[certain..].iter().copied();
        let mut next = |name| if is_there(name) { rest.next() } else { None };
        let large = memory::ALLOCATE_LARGE.map(&mut next);
        let compact = next(memory::COMPACT);
        let counted = next(memory::ALLOCATE_CUSTOM_COUNTED);
        // SAFETY: the runtime declares the functions with these types (see `symbols`); at these addresses
        // they begin as it compiled them.
        let functions = unsafe {
            Self {
                small: transmute::<u64, Small>(small),
                large: large.map(|at| at.map(|at| transmute::<u64, Large>(at))),
                custom: transmute::<u64, Custom>(custom),
                reset_limit: transmute::<u64, OfDomain>(reset_limit),
                after_minor: transmute::<u64, OfDomain>(after_minor),
                compact: compact.map(|at| transmute::<u64, Compact>(at)),
                counted: counted.map(|at| transmute::<u64, Counted>(at)),
                darken: required(heap::DARKEN).map_err(missing)? as u64,
                colours: required(memory::COLOURS).map_err(missing)? as u64,
            }
        };
        Ok((functions, prepared))
    }
}
