#![no_main]

use std::sync::LazyLock;

use memtrail_engine::{Engine, fuzz};

const TRACE: &[u8] = include_bytes!("../../../trace/tests/fixtures/lists_and_sets-v1.ctf");

static ENGINE: LazyLock<Engine> = LazyLock::new(|| fuzz::engine(TRACE));

libfuzzer_sys::fuzz_target!(|query: &[u8]| fuzz::query(&ENGINE, query));
