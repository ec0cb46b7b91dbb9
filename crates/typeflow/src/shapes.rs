//! What a block of a type with a tag and a size is: found once for each.

use hashbrown::HashMap;
use memtrail_heap::tag;
use memtrail_ocaml::variants;
use memtrail_types::term::{Constructor, DeclarationId, Definition, Term, TermId, TypeTable};
use rustc_hash::FxBuildHasher;

use crate::builtin::Builtin;
use crate::instances::{Instances, Type, TypeId};
use crate::last_checks::LastChecks;
use crate::shape::{Check, Fields, Part, Role, Shape, ShapeId};
use crate::units::{UnitBlock, of_slot};

/// OCaml 5: a lazy value that is being forced.
const FORCING: u8 = 244;

/// Lazy values of lazy values are followed so far.
const MAX_FORCED: usize = 100;

/// All shapes that were met.
#[derive(Debug)]
pub(crate) struct Shapes<'t> {
    pub(crate) instances: Instances<'t>,
    pub(crate) units: &'t [UnitBlock<'t>],
    known: Vec<Shape>,
    checked: HashMap<(TypeId, u8, u32), Check, FxBuildHasher>,
    last: LastChecks,
    extensions: HashMap<(TypeId, u32, u32), Option<ShapeId>, FxBuildHasher>,
    pub(crate) function: TypeId,
    pub(crate) name: TypeId,
}

impl<'t> Shapes<'t> {
    pub(crate) fn new(table: &'t TypeTable, units: &'t [UnitBlock<'t>]) -> Self {
        let mut instances = Instances::new(table);
        let function = instances.id(Type::Function);
        let name = instances.texts.id("string");
        let name = instances.id(Type::String(name));
        Self {
            instances,
            units,
            known: Vec::new(),
            checked: HashMap::default(),
            last: LastChecks::default(),
            extensions: HashMap::default(),
            function,
            name,
        }
    }

    /// How many shapes were met.
    pub(crate) const fn len(&self) -> usize {
        self.known.len()
    }

    /// A shape.
    #[inline]
    pub(crate) fn get(&self, id: ShapeId) -> &Shape {
        // Numbers come from `add` alone.
        &self.known[id.0 as usize]
    }

    fn add(&mut self, ty: TypeId, part: Part, fields: Fields) -> Check {
        let unknowns = self.instances.unknowns(ty);
        let role = self.role(ty);
        self.known.push(Shape { ty, part, fields, unknowns, role });
        Check::Is(ShapeId(self.known.len() as u32 - 1))
    }

    /// Whether a block with this tag and size can be of a type, and what it is then.
    #[inline]
    pub(crate) fn check(&mut self, ty: TypeId, tag: u8, wosize: u64) -> Check {
        if let Some(check) = self.last.get(ty, tag, wosize) {
            return check;
        }
        let check = self.check_anew(ty, tag, wosize);
        self.last.set(ty, tag, wosize, check);
        check
    }

    fn check_anew(&mut self, ty: TypeId, tag: u8, wosize: u64) -> Check {
        let any_size = matches!(
            self.instances.get(ty),
            Type::Array(_) | Type::String(_) | Type::Function | Type::Arrow(..) | Type::Unknown(_)
        );
        let size = if any_size { 0 } else { u32::try_from(wosize).unwrap_or(u32::MAX) };
        if let Some(check) = self.checked.get(&(ty, tag, size)) {
            return *check;
        }
        let head = self.instances.head(ty);
        let check =
            if head == ty { self.look(ty, tag, wosize) } else { self.check(head, tag, wosize) };
        self.checked.insert((ty, tag, size), check);
        check
    }

    /// The same for a type that is expanded.
    fn look(&mut self, ty: TypeId, tag: u8, wosize: u64) -> Check {
        let of_tag = |shapes: &mut Self, wanted: u8, fields: Fields| {
            if tag == wanted { shapes.add(ty, Part::Whole, fields) } else { Check::Contradiction }
        };
        match self.instances.get(ty).clone() {
            // Whatever the type is, this is a function.
            Type::Unknown(_) if tag == tag::CLOSURE => self.check(self.function, tag, wosize),
            Type::Unknown(reason) => Check::Unknown(reason),
            Type::String(_) => of_tag(self, tag::STRING, Fields::None),
            Type::Float => of_tag(self, tag::DOUBLE, Fields::None),
            Type::Boxed(_) => of_tag(self, tag::CUSTOM, Fields::None),
            Type::FloatArray => of_tag(self, tag::DOUBLE_ARRAY, Fields::None),
            Type::Function | Type::Arrow(..) => of_tag(self, tag::CLOSURE, Fields::Environment),
            Type::Tuple(types) => match (tag, types.len() as u64 == wosize) {
                (0, true) => self.add(ty, Part::Whole, Fields::Each(types)),
                _ => Check::Contradiction,
            },
            Type::Array(element) => match tag {
                0 => self.add(ty, Part::Whole, Fields::All(element)),
                tag::DOUBLE_ARRAY if self.may_be_float(element) => {
                    self.add(ty, Part::Whole, Fields::None)
                }
                _ => Check::Contradiction,
            },
            Type::Lazy(value) => match tag {
                tag::LAZY | FORCING => self.add(ty, Part::Thunk, Fields::All(self.function)),
                tag::FORWARD if wosize == 1 => {
                    self.add(ty, Part::Whole, Fields::Each([value].into()))
                }
                tag::FORWARD => Check::Contradiction,
                _ => self.forced(value, tag, wosize),
            },
            Type::Declared(declaration, arguments) => {
                self.declared(ty, declaration, &arguments, tag, wosize)
            }
            Type::PolymorphicVariant(term, types) => {
                if tag != 0 || wosize != 2 || types.is_empty() {
                    return Check::Contradiction;
                }
                let fields = self.argument(term, types.into_vec());
                self.add(ty, Part::Whole, fields)
            }
            Type::Object(..) => {
                let reason = self.instances.texts.id("instance variables of an object");
                of_tag(self, tag::OBJECT, Fields::Unknown(reason))
            }
            Type::Module(module) => {
                let Some(layout) = self.instances.table.module(module) else {
                    return Check::Contradiction;
                };
                if tag != 0 || layout.slots.len() as u64 != wosize {
                    return Check::Contradiction;
                }
                let slots = layout.slots.iter();
                let types = slots.map(|slot| of_slot(&mut self.instances, slot)).collect();
                self.add(ty, Part::Whole, Fields::Each(types))
            }
            Type::Unit(unit) => {
                let Some(unit) = self.units.get(unit as usize) else { return Check::Contradiction };
                let types = unit.fields(&mut self.instances, wosize);
                if tag != 0 || types.is_empty() {
                    return Check::Contradiction;
                }
                self.add(ty, Part::Whole, Fields::Each(types.into()))
            }
            Type::Extension(_) if tag == tag::OBJECT => self.extension_constructor(ty),
            Type::Constant(_) | Type::Extension(_) => Check::Contradiction,
            Type::OneOf(types) => self.one_of(&types, tag, wosize),
        }
    }

    /// What a polymorphic variant carries, by its tag; `types` are those of tags that carry something.
    fn argument(&mut self, term: TermId, mut types: Vec<TypeId>) -> Fields {
        let tags = match self.instances.table.term(term) {
            Some(Term::PolymorphicVariant(tags)) => tags.as_slice(),
            _ => &[],
        };
        let carrying = tags.iter().filter(|tag| tag.argument.is_some());
        let hashes = carrying.map(|tag| variants::hash(tag.name.as_bytes()));
        let by_hash = hashes.zip(types.iter().copied()).collect();
        types.sort_unstable();
        types.dedup();
        let otherwise = match types.as_slice() {
            [only] => *only,
            _ => self.instances.id(Type::OneOf(types.into())),
        };
        let of_others = self.instances.unknown("argument of a polymorphic variant");
        Fields::Argument { by_hash, of_others, otherwise }
    }

    /// The block of an extension's constructor: its name, and its number.
    fn extension_constructor(&mut self, ty: TypeId) -> Check {
        let number = self.instances.unknown("number of an extension constructor");
        self.add(ty, Part::Whole, Fields::Each([self.name, number].into()))
    }

    /// A lazy value that is its value: the collector puts that in its place, unless it is not forced itself.
    fn forced(&mut self, value: TypeId, tag: u8, wosize: u64) -> Check {
        let mut at = self.instances.head(value);
        for _ in 0..MAX_FORCED {
            match self.instances.get(at) {
                Type::Lazy(value) => at = self.instances.head(*value),
                _ => return self.check(at, tag, wosize),
            }
        }
        Check::Contradiction
    }

    /// Whether an array of these may be one of floats.
    fn may_be_float(&mut self, element: TypeId) -> bool {
        let head = self.instances.head(element);
        match self.instances.get(head) {
            Type::Float | Type::Unknown(_) => true,
            Type::Declared(declaration, _) => {
                let declaration = self.instances.table.declaration(*declaration);
                declaration.is_none_or(|of| of.definition == Definition::Abstract)
            }
            _ => false,
        }
    }

    /// The only one of several types that the block can be of.
    fn one_of(&mut self, types: &[TypeId], tag: u8, wosize: u64) -> Check {
        let mut found = Check::Contradiction;
        for ty in types {
            let check = self.check(*ty, tag, wosize);
            if check == Check::Contradiction || check == found {
                continue;
            }
            if found != Check::Contradiction {
                return Check::Unknown(self.instances.texts.id("one of several types"));
            }
            found = check;
        }
        found
    }

    fn declared(
        &mut self,
        ty: TypeId,
        id: DeclarationId,
        arguments: &[TypeId],
        tag: u8,
        wosize: u64,
    ) -> Check {
        let table = self.instances.table;
        let Some(declaration) = table.declaration(id) else { return Check::Contradiction };
        match (self.instances.builtin(id), arguments) {
            (Builtin::Anything, _) => {
                return Check::Unknown(self.instances.texts.id(&declaration.name));
            }
            (Builtin::Weak, [element]) if tag == tag::ABSTRACT => {
                return self.add(ty, Part::Whole, Fields::Weak { keys: *element, data: None });
            }
            (Builtin::Ephemeron, [keys @ .., data]) if tag == tag::ABSTRACT => {
                let keys = match keys {
                    [only] => *only,
                    several => self.instances.id(Type::OneOf(several.into())),
                };
                return self.add(ty, Part::Whole, Fields::Weak { keys, data: Some(*data) });
            }
            (Builtin::Atomic, [value]) if tag == 0 && wosize == 1 => {
                return self.add(ty, Part::Whole, Fields::Each([*value].into()));
            }
            (Builtin::None, _) => {}
            _ => return Check::Contradiction,
        }
        match &declaration.definition {
            Definition::Record { fields, is_floats } => {
                let wanted = if *is_floats { tag::DOUBLE_ARRAY } else { 0 };
                if tag != wanted || fields.len() as u64 != wosize {
                    return Check::Contradiction;
                }
                if *is_floats {
                    return self.add(ty, Part::Whole, Fields::None);
                }
                let bindings = self.instances.bind(id, arguments);
                let reason = format!("type variable of {}", declaration.name);
                let of = |instances: &mut Instances<'_>, term| {
                    instances.instantiate(term, &bindings, &reason)
                };
                let types = fields.iter().map(|field| of(&mut self.instances, field.ty)).collect();
                self.add(ty, Part::Whole, Fields::Each(types))
            }
            Definition::Variant(constructors) => {
                let with_tag =
                    |(_, constructor): &(usize, &Constructor)| constructor.tag == Some(tag);
                let Some((number, found)) = constructors.iter().enumerate().find(with_tag) else {
                    return Check::Contradiction;
                };
                if found.arguments.len() as u64 != wosize {
                    return Check::Contradiction;
                }
                let bindings = match &found.result {
                    None => self.instances.bind(id, arguments),
                    Some(patterns) => {
                        let mut bindings = Vec::new();
                        self.instances.match_all(patterns, arguments, &mut bindings);
                        bindings
                    }
                };
                let reason = format!("existential of {}.{}", declaration.name, found.name);
                let of = |instances: &mut Instances<'_>, term| {
                    instances.instantiate(term, &bindings, &reason)
                };
                let types = found.arguments.iter();
                let types: Box<[TypeId]> =
                    types.map(|field| of(&mut self.instances, field.ty)).collect();
                let known = self.dynamic(found, &types).or_else(|| self.map_node(&types));
                let fields = known.unwrap_or(Fields::Each(types));
                self.add(ty, Part::Constructor(number as u32), fields)
            }
            Definition::Open if tag == 0 && wosize > 0 => {
                self.add(ty, Part::Whole, Fields::Extensible)
            }
            Definition::Open if tag == tag::OBJECT => {
                let check = self.extension_constructor(ty);
                // The constructor says more.
                if let Some(shape) = self.known.last_mut() {
                    shape.unknowns = shape.unknowns.max(1);
                }
                check
            }
            Definition::Open => Check::Contradiction,
            Definition::Abstract if tag >= tag::ABSTRACT => self.add(ty, Part::Whole, Fields::None),
            // What has no end was not expanded.
            Definition::Abstract | Definition::Alias(_) | Definition::Unboxed(_) => {
                let reason = format!("abstract type {}", declaration.name);
                let reason = self.instances.texts.id(&reason);
                self.add(ty, Part::Whole, Fields::Unknown(reason))
            }
        }
    }

    /// What a constructor with these types holds if it is that of dynamic values whose tags are known:
    /// `Dyn : 'a tag * 'a -> t`.
    fn dynamic(&mut self, constructor: &Constructor, types: &[TypeId]) -> Option<Fields> {
        let (Some(results), [tag, value]) = (&constructor.result, &constructor.arguments[..])
        else {
            return None;
        };
        let (Some(Term::Declared(of, arguments)), [tag_type, otherwise]) =
            (self.instances.table.term(tag.ty), types)
        else {
            return None;
        };
        if *arguments != [value.ty] || results.contains(&value.ty) {
            return None;
        }
        let table = self.instances.table;
        let known = table.dynamic.iter().filter(|known| known.of == *of);
        let reason = "type variable of a dynamic value";
        let mut by_tag: Vec<(i64, TypeId)> = known
            .map(|known| {
                (i64::from(known.hash), self.instances.instantiate(known.ty, &Vec::new(), reason))
            })
            .collect();
        by_tag.sort_unstable();
        let (tag, otherwise) = (*tag_type, *otherwise);
        (!by_tag.is_empty()).then(|| Fields::Dynamic { tag, by_tag: by_tag.into(), otherwise })
    }

    /// What a block of an extensible type is with this constructor; `None` if it cannot be that.
    pub(crate) fn extension(&mut self, ty: TypeId, extension: u32, wosize: u64) -> Option<ShapeId> {
        let key = (ty, extension, u32::try_from(wosize).unwrap_or(u32::MAX));
        if let Some(known) = self.extensions.get(&key) {
            return *known;
        }
        let shape = self.look_at_extension(ty, extension, wosize);
        self.extensions.insert(key, shape);
        shape
    }

    fn look_at_extension(&mut self, ty: TypeId, number: u32, wosize: u64) -> Option<ShapeId> {
        let table = self.instances.table;
        let extension = table.extensions.get(number as usize)?;
        let Type::Declared(declaration, arguments) = self.instances.get(ty) else { return None };
        if extension.of != *declaration || extension.arguments.len() as u64 + 1 != wosize {
            return None;
        }
        let arguments = arguments.clone();
        let mut bindings = Vec::new();
        let parameters = table.declaration(extension.of).map(|of| of.parameters.as_slice());
        let patterns = extension.result.as_deref().or(parameters).unwrap_or(&[]);
        self.instances.match_all(patterns, &arguments, &mut bindings);
        let reason = format!("existential of {}", extension.name);
        let mut types = vec![self.instances.id(Type::Extension(number))];
        for argument in &extension.arguments {
            types.push(self.instances.instantiate(argument.ty, &bindings, &reason));
        }
        match self.add(ty, Part::Extension(number), Fields::Each(types.into())) {
            Check::Is(shape) => Some(shape),
            _ => None,
        }
    }

    /// What a block of a type is to others.
    pub(crate) fn role(&self, ty: TypeId) -> Role {
        match self.instances.get(ty) {
            Type::Extension(extension) => Role::Extension(*extension),
            Type::Module(_) | Type::Unit(_) => Role::Module,
            _ => Role::Value,
        }
    }

    /// The term that a polymorphic variant or an object is an instance of.
    pub(crate) fn term_of(&self, ty: TypeId) -> Option<&'t Term> {
        match self.instances.get(ty) {
            Type::PolymorphicVariant(term, _) | Type::Object(term, _) => {
                self.instances.table.term(*term)
            }
            _ => None,
        }
    }
}
