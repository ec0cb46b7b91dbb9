//! Debug events of bytecode (`bytecomp/instruct.ml`): functions, places in the source, and variables on the stack.

use super::marshal::{MarshalError, Value, Values};

/// Fields of `debug_event`.
mod field {
    pub(super) const POSITION: u32 = 0;
    pub(super) const MODULE: u32 = 1;
    pub(super) const PLACE: u32 = 2;
    pub(super) const DEFINITION: u32 = 4;
    pub(super) const ENVIRONMENT: u32 = 8;
    pub(super) const STACK_SIZE: u32 = 9;
}

/// Nodes of a table of identifiers that are looked at.
const MAX_NODES: usize = 1 << 16;
/// An executable has no more lists of events than this.
const MAX_LISTS: u32 = 1 << 16;

/// All events of a program.
#[derive(Debug)]
pub struct Events<'a> {
    /// The lists, with what is added to their positions.
    lists: Vec<Values<'a>>,
    /// Position in the code, list and event, in the order of positions.
    events: Vec<(u64, u32, Value)>,
}

/// An event: a place in the code.
#[derive(Clone, Copy, Debug)]
pub struct Event<'e, 'a> {
    values: &'e Values<'a>,
    value: Value,
}

impl<'a> Events<'a> {
    /// Reads the section [`super::sections::DEBUG`]: for each unit where its code is, its events, and folders of sources.
    pub fn read(section: &'a [u8]) -> Result<Self, MarshalError> {
        let number = |at: usize| {
            let bytes = section.get(at..).and_then(|rest| rest.first_chunk());
            let bytes = bytes.ok_or(MarshalError::Truncated { offset: section.len() })?;
            Ok(u32::from_be_bytes(*bytes))
        };
        let (mut lists, mut events) = (Vec::new(), Vec::new());
        let mut at = 4;
        for list in 0..number(0)?.min(MAX_LISTS) {
            let origin = u64::from(number(at)?);
            let (values, end) = Values::read(section, at + 4)?;
            let (_, end) = Values::read(section, end)?;
            let mut cell = values.root();
            while let (Some(event), Some(rest)) = (values.field(cell, 0), values.field(cell, 1)) {
                if let Some(Value::Integer(position)) = values.field(event, field::POSITION) {
                    events.push((origin.wrapping_add_signed(position), list, event));
                }
                cell = rest;
                // A list that leads to itself has no end.
                if events.len() > section.len() {
                    return Err(MarshalError::Damaged { offset: at, cause: "a circular list" });
                }
            }
            lists.push(values);
            at = end;
        }
        events.sort_by_key(|(position, ..)| *position);
        Ok(Self { lists, events })
    }

    /// The first event at a position in the code or behind it.
    pub fn from(&self, position: u64) -> Option<Event<'_, 'a>> {
        let place = self.events.partition_point(|(known, ..)| *known < position);
        self.at(place)
    }

    /// The event of a return address. The compiler may move an event behind the next instruction.
    pub fn of_return(&self, position: u64) -> Option<Event<'_, 'a>> {
        const INSTRUCTION: u64 = 4;
        let place = self.events.partition_point(|(known, ..)| *known < position);
        let (known, ..) = self.events.get(place)?;
        (*known <= position.saturating_add(INSTRUCTION)).then(|| self.at(place))?
    }

    fn at(&self, place: usize) -> Option<Event<'_, 'a>> {
        let &(_, list, value) = self.events.get(place)?;
        Some(Event { values: self.lists.get(list as usize)?, value })
    }
}

impl<'a> Event<'_, 'a> {
    /// The unit.
    pub fn module(&self) -> &'a [u8] {
        self.text(field::MODULE)
    }

    /// The function, with its unit in front; the unit alone where it is initialised.
    pub fn function(&self) -> &'a [u8] {
        self.text(field::DEFINITION)
    }

    /// File, line and column where the expression begins.
    pub fn place(&self) -> Option<(&'a [u8], u32, u32)> {
        let values = self.values;
        let start = values.field(values.field(self.value, field::PLACE)?, 0)?;
        let integer = |index| match values.field(start, index)? {
            Value::Integer(number) => Some(number),
            _ => None,
        };
        let file = values.string(values.field(start, 0)?)?;
        let column = integer(3)?.checked_sub(integer(2)?)?;
        Some((file, u32::try_from(integer(1)?).ok()?, u32::try_from(column).unwrap_or(0)))
    }

    /// Variables on the stack: their names, and how many words above the innermost one of the frame they are.
    pub fn variables(&self) -> Vec<(&'a [u8], u64)> {
        let values = self.values;
        let Some(Value::Integer(size)) = values.field(self.value, field::STACK_SIZE) else {
            return Vec::new();
        };
        let environment = values.field(self.value, field::ENVIRONMENT);
        let mut todo: Vec<Value> =
            environment.and_then(|it| values.field(it, 0)).into_iter().collect();
        let mut found = Vec::new();
        for _ in 0..MAX_NODES {
            let Some(node) = todo.pop() else { break };
            let field = |index| values.field(node, index);
            todo.extend([field(0), field(2)].into_iter().flatten());
            // An identifier with its data; others of the same name are hidden by it.
            let entry = field(1);
            let name =
                entry.and_then(|entry| values.string(values.field(values.field(entry, 0)?, 0)?));
            let place = entry.and_then(|entry| values.field(entry, 1));
            if let (Some(name), Some(Value::Integer(place))) = (name, place)
                && let Ok(above) = u64::try_from(size.saturating_sub(place))
            {
                found.push((name, above));
            }
        }
        found
    }

    fn text(&self, field: u32) -> &'a [u8] {
        let text = self.values.field(self.value, field);
        text.and_then(|text| self.values.string(text)).unwrap_or_default()
    }
}
