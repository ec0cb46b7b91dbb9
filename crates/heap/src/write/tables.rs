//! The tables that name things, as they are in the file.

use crate::facts::{Facts, SnapshotReason};
use crate::format::{
    IS_BETWEEN, IS_OF_CLASS, IS_PARTIAL, IS_START, VERSION, WITH_BETWEEN, WITH_CLASSES,
    WITH_SYMBOLS,
};
use crate::label::Labels;
use crate::write::Function;
use memtrail_leb128::{put, put_bytes};

pub(crate) fn facts(facts: &Facts) -> Vec<u8> {
    let mut raw = Vec::new();
    let reason = SnapshotReason::code(facts.reason);
    for number in [facts.taken_at, facts.clock, facts.number, reason, facts.pid] {
        put(&mut raw, number);
    }
    put_bytes(&mut raw, &facts.program);
    put_bytes(&mut raw, &facts.runtime);
    put(&mut raw, facts.counters.len() as u64);
    for (name, value) in &facts.counters {
        put_bytes(&mut raw, name);
        put(&mut raw, *value);
    }
    put_bytes(&mut raw, &facts.label);
    raw
}

pub(crate) fn labels(labels: &Labels) -> Vec<u8> {
    let mut raw = Vec::new();
    put(&mut raw, labels.texts.len() as u64);
    for text in 0..labels.texts.len() as u32 {
        put_bytes(&mut raw, labels.texts.get(text));
    }
    put(&mut raw, labels.labels.len() as u64);
    for label in &labels.labels {
        put(&mut raw, label.parent.map_or(0, |parent| u64::from(parent.0) + 1));
        raw.push(label.kind.code());
        raw.push(label.part.code());
        put(&mut raw, u64::from(label.name));
        put(&mut raw, u64::from(label.file));
        put(&mut raw, label.number);
    }
    raw
}

/// Appends a function to the table of functions.
pub(crate) fn function(raw: &mut Vec<u8>, code: u64, is_partial: bool, function: &Function) {
    function_of(VERSION, raw, code, is_partial, function);
}

/// The same, as files of a version have it.
pub(crate) fn function_of(
    version: u16,
    raw: &mut Vec<u8>,
    code: u64,
    is_partial: bool,
    function: &Function,
) {
    put(raw, code);
    let between = function.between.filter(|_| version >= WITH_BETWEEN);
    if version >= WITH_SYMBOLS {
        let flags = [
            (is_partial, IS_PARTIAL),
            (function.is_start && version >= WITH_BETWEEN, IS_START),
            (between.is_some(), IS_BETWEEN),
            (between.is_some() && function.is_of_class && version >= WITH_CLASSES, IS_OF_CLASS),
        ];
        raw.push(flags.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum());
        put_bytes(raw, &function.symbol);
    }
    put_bytes(raw, &function.name);
    put_bytes(raw, &function.file);
    put(raw, u64::from(function.line));
    if version >= WITH_SYMBOLS {
        put(raw, u64::from(function.column));
    }
    if let Some(between) = between {
        put(raw, u64::from(between.first));
        put(raw, u64::from(between.last.unwrap_or(0)));
    }
}
