//! Tables of types and heaps that are made by hand.
#![allow(dead_code, reason = "each test uses a part")]

use memtrail_heap::model::{Heap, Made, Value};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::{BlockIndex, Bytes, LabelRole, RootKind, Space};
use memtrail_typeflow::{Coverage, Flowed, UnitBlock, flow};
use memtrail_types::term::{
    Constructor, Content, Declaration, DeclarationId, Definition, LabelledField, Term, TermId,
    TypeTable,
};
use memtrail_types::{Evidence, Layout, Slot, SlotKind};

/// A program: its types, one unit, and a heap.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) table: TypeTable,
    pub(crate) heap: Heap,
    variables: Vec<(Content, SlotKind, Value)>,
}

pub(crate) fn block(made: Made) -> Value {
    Value::Block(made)
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { heap: Heap::new(), ..Self::default() }
    }

    /// A term, once.
    pub(crate) fn term(&mut self, term: Term) -> TermId {
        let known = self.table.terms.iter().position(|known| *known == term);
        TermId(known.unwrap_or_else(|| {
            self.table.terms.push(term);
            self.table.terms.len() - 1
        }) as u32)
    }

    pub(crate) fn int(&mut self) -> TermId {
        self.term(Term::Constant("int".into()))
    }

    pub(crate) fn string(&mut self) -> TermId {
        self.term(Term::String("string".into()))
    }

    pub(crate) fn variable(&mut self, number: u32) -> TermId {
        self.term(Term::Variable(number))
    }

    pub(crate) fn declared(&mut self, declaration: DeclarationId, arguments: &[TermId]) -> TermId {
        self.term(Term::Declared(declaration, arguments.to_vec()))
    }

    /// A declaration with so many parameters.
    pub(crate) fn declare(
        &mut self,
        name: &str,
        parameters: u32,
        definition: Definition,
    ) -> DeclarationId {
        let parameters: Vec<TermId> = (0..parameters).map(|number| self.variable(number)).collect();
        self.table.declarations.push(Declaration {
            name: name.into(),
            position: None,
            variables: parameters.len() as u32,
            parameters,
            definition,
        });
        DeclarationId(self.table.declarations.len() as u32 - 1)
    }

    pub(crate) fn list(&mut self) -> DeclarationId {
        let id = self.declare("list", 1, Definition::Abstract);
        let element = self.variable(0);
        let tail = self.declared(id, &[element]);
        self.table.declarations[id.0 as usize].definition = Definition::Variant(vec![
            constructor("[]", None, &[]),
            constructor("::", Some(0), &[("", element), ("", tail)]),
        ]);
        id
    }

    /// A variable of the unit.
    pub(crate) fn global(&mut self, ty: TermId, value: Value) {
        self.variables.push((Content::Value(ty), SlotKind::Value, value));
    }

    pub(crate) fn global_content(&mut self, content: Content, value: Value) {
        self.variables.push((content, SlotKind::Value, value));
    }

    /// A variable of the unit that is the unit's own block, which is made next.
    pub(crate) fn global_is_unit(&mut self, content: Content) {
        let unit = Heap::clone(&self.heap).block_in(Space::Static, 0, &[]);
        self.variables.push((content, SlotKind::Module, block(unit)));
    }

    /// The unit's block, whose fields are roots, and what they hold.
    fn unit(&self) -> (Heap, Layout) {
        let mut heap = self.heap.clone();
        let fields: Vec<Value> = self.variables.iter().map(|(_, _, value)| *value).collect();
        let unit = heap.block_in(Space::Static, 0, &fields);
        let name = heap.labels.add(None, RootKind::Global, LabelRole::Unit, b"Unit", b"", 0);
        heap.root_at(name, block(unit), Strength::Weak, None);
        for (field, value) in (0..).zip(&fields) {
            let label =
                heap.labels.add(Some(name), RootKind::Global, LabelRole::Field, b"", b"", field);
            heap.root_at(label, *value, Strength::Strong, Some((unit, field)));
        }
        let slots = self.variables.iter().enumerate().map(|(number, (content, kind, _))| Slot {
            kind: *kind,
            path: vec![format!("v{number}")],
            ty: String::new(),
            position: None,
            stamp: None,
            content: *content,
        });
        let layout = Layout {
            interface_file: "unit.cmi".into(),
            implementation_file: "unit.cmt".into(),
            evidence: Evidence::Interface,
            method_cache: false,
            exported: slots.collect(),
            hidden: Vec::new(),
        };
        (heap, layout)
    }

    /// The types of all blocks in the order of making, `type` or `type.Constructor`; those without are `?`. And how
    /// far they reach.
    pub(crate) fn types(&self) -> (Vec<String>, Coverage) {
        let (found, coverage) = self.flowed(Bytes(u64::MAX));
        assert_eq!(found, self.flowed(Bytes(0)).0, "without room for any section");
        (found, coverage)
    }

    fn flowed(&self, room: Bytes) -> (Vec<String>, Coverage) {
        let (heap, layout) = self.unit();
        let bytes = heap.bytes();
        let snapshot = Snapshot::read(&bytes).unwrap();
        let graph = memtrail_heap::graph::Graph::new(&snapshot, 1).unwrap();
        let numbers = heap.numbers();
        let unit = BlockIndex(numbers[heap.len() - 1]);
        let units = [UnitBlock { block: unit, name: "Unit", layout: &layout }];
        let Flowed { types, coverage, .. } =
            flow(&snapshot, &self.table, &units, room, Some(&graph)).unwrap();
        let found = numbers[..self.heap.len()].iter().map(|number| {
            types.of(BlockIndex(*number)).map_or("?".to_owned(), |ty| match &ty.constructor {
                Some(constructor) => format!("{}.{constructor}", ty.name),
                None => ty.name.clone(),
            })
        });
        (found.collect(), coverage.unwrap())
    }
}

pub(crate) fn constructor(
    name: &str,
    tag: Option<u8>,
    arguments: &[(&str, TermId)],
) -> Constructor {
    Constructor { name: name.into(), tag, arguments: fields(arguments), result: None }
}

pub(crate) fn fields(fields: &[(&str, TermId)]) -> Vec<LabelledField> {
    let field = |(name, ty): &(&str, TermId)| LabelledField { name: (*name).into(), ty: *ty };
    fields.iter().map(field).collect()
}

pub(crate) fn record(of: &[(&str, TermId)]) -> Definition {
    Definition::Record { fields: fields(of), is_floats: false }
}
