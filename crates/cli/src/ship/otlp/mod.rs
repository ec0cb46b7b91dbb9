//! OpenTelemetry's profiles: a profile of pprof as a request of OTLP, with one profile for each of its values.
//!
//! The protocol is in development (`v1development`), and a later version may number fields otherwise.

mod messages;

use std::collections::HashMap;

use memtrail_export::pprof;
use prost::Message as _;

use super::labels::Labels;
use messages::{
    AnyValue, Attribute, Dictionary, Function, KeyValue, Line, Link, Location, Mapping, Profile,
    Request, Resource, ResourceProfiles, Response, Sample, Scope, ScopeProfiles, Stack, Value,
    ValueType,
};

/// Path of the interface.
pub(super) const PATH: &str = "/v1development/profiles";

/// A request with the values of a profile. `id` is a UUID, of which each value's profile has a variant.
pub(super) fn request(profile: &pprof::Profile, labels: &Labels, id: &str) -> Vec<u8> {
    let mut tables = Tables::new(profile);
    let stacks: Vec<i32> =
        profile.sample.iter().map(|sample| tables.stack(&sample.location_id)).collect();
    let types = profile.sample_type.iter().enumerate();
    let profiles = types
        .map(|(at, value_type)| {
            let values = profile.sample.iter().map(|sample| sample.value.get(at).copied());
            Profile {
                sample_type: Some(tables.value_type(value_type)),
                samples: samples(&stacks, values),
                time_unix_nano: profile.time_nanos.max(0) as u64,
                duration_nano: profile.duration_nanos.max(0) as u64,
                period_type: profile.period_type.as_ref().map(|of| tables.value_type(of)),
                period: profile.period,
                profile_id: profile_id(id, at),
            }
        })
        .collect();
    let scope =
        Scope { name: "memtrail".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let resource = Resource { attributes: labels.iter().map(attribute).collect() };
    let of_resource = ResourceProfiles {
        resource: Some(resource),
        scope_profiles: vec![ScopeProfiles { scope: Some(scope), profiles }],
    };
    let request =
        Request { resource_profiles: vec![of_resource], dictionary: Some(tables.dictionary) };
    request.encode_to_vec()
}

/// Why a server did not take a profile of a request that it answered with success.
pub(super) fn refusal(answer: &[u8]) -> Option<String> {
    let partial = Response::decode(answer).ok()?.partial_success?;
    (partial.rejected_profiles > 0).then(|| {
        format!("{} profiles rejected: {}", partial.rejected_profiles, partial.error_message)
    })
}

fn attribute((name, value): &(String, String)) -> KeyValue {
    let number = (name == "process.pid").then(|| value.parse().ok()).flatten();
    let value = number.map_or_else(|| Value::Text(value.clone()), Value::Number);
    KeyValue { key: name.clone(), value: Some(AnyValue { value: Some(value) }) }
}

/// Values by stack. A stack has one sample.
fn samples(stacks: &[i32], values: impl Iterator<Item = Option<i64>>) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut of_stack: HashMap<i32, usize> = HashMap::new();
    for (&stack_index, value) in stacks.iter().zip(values) {
        let value = value.unwrap_or(0);
        if value == 0 {
            continue;
        }
        if let Some(sample) = of_stack.get(&stack_index).and_then(|&at| samples.get_mut(at)) {
            sample.values[0] += value;
        } else {
            of_stack.insert(stack_index, samples.len());
            samples.push(Sample { stack_index, values: vec![value] });
        }
    }
    samples
}

/// The window's id with the number of the value in its last byte.
fn profile_id(id: &str, at: usize) -> Vec<u8> {
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).unwrap_or(1);
    ((number & !0xff) | (at as u128 + 1)).to_be_bytes().to_vec()
}

/// The dictionary under way.
struct Tables<'a> {
    profile: &'a pprof::Profile,
    dictionary: Dictionary,
    strings: HashMap<&'a str, i32>,
    /// By the ids of locations.
    locations: HashMap<u64, i32>,
    stacks: HashMap<Vec<i32>, i32>,
}

impl<'a> Tables<'a> {
    /// Mappings, functions and locations of a profile.
    fn new(profile: &'a pprof::Profile) -> Self {
        let dictionary = Dictionary {
            mapping_table: vec![Mapping::default()],
            location_table: vec![Location::default()],
            function_table: vec![Function::default()],
            // Decoders that are strict about lengths take these zeros.
            link_table: vec![Link { trace_id: vec![0; 16], span_id: vec![0; 8] }],
            string_table: vec![String::new()],
            attribute_table: vec![Attribute::default()],
            stack_table: vec![Stack::default()],
        };
        let mut tables = Self {
            profile,
            dictionary,
            strings: HashMap::from([("", 0)]),
            locations: HashMap::new(),
            stacks: HashMap::from([(Vec::new(), 0)]),
        };
        let mut mappings = HashMap::new();
        for mapping in &profile.mapping {
            let filename_strindex = tables.string(mapping.filename);
            let index = push(&mut tables.dictionary.mapping_table, Mapping { filename_strindex });
            mappings.insert(mapping.id, index);
        }
        let mut functions = HashMap::new();
        for function in &profile.function {
            let entry = Function {
                name_strindex: tables.string(function.name),
                system_name_strindex: tables.string(function.system_name),
                filename_strindex: tables.string(function.filename),
            };
            functions.insert(function.id, push(&mut tables.dictionary.function_table, entry));
        }
        for location in &profile.location {
            let line = |line: &pprof::Line| Line {
                function_index: functions.get(&line.function_id).copied().unwrap_or(0),
                line: line.line,
                column: line.column,
            };
            let entry = Location {
                mapping_index: mappings.get(&location.mapping_id).copied().unwrap_or(0),
                address: location.address,
                lines: location.line.iter().map(line).collect(),
            };
            let index = push(&mut tables.dictionary.location_table, entry);
            tables.locations.insert(location.id, index);
        }
        tables
    }

    fn string(&mut self, index: i64) -> i32 {
        let profile = self.profile;
        let found = usize::try_from(index).ok().and_then(|index| profile.string_table.get(index));
        let text = found.map_or("", String::as_str);
        let table = &mut self.dictionary.string_table;
        *self.strings.entry(text).or_insert_with(|| push(table, text.to_owned()))
    }

    fn value_type(&mut self, of: &pprof::ValueType) -> ValueType {
        ValueType { type_strindex: self.string(of.r#type), unit_strindex: self.string(of.unit) }
    }

    fn stack(&mut self, locations: &[u64]) -> i32 {
        let location = |id| self.locations.get(id).copied().unwrap_or(0);
        let path: Vec<i32> = locations.iter().map(location).collect();
        if let Some(&known) = self.stacks.get(&path) {
            return known;
        }
        let entry = Stack { location_indices: path.clone() };
        let index = push(&mut self.dictionary.stack_table, entry);
        self.stacks.insert(path, index);
        index
    }
}

/// Adds an entry and gives its index.
fn push<T>(table: &mut Vec<T>, entry: T) -> i32 {
    table.push(entry);
    (table.len() - 1) as i32
}
