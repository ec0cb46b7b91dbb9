//! What a declared type stands for: its outermost abbreviations and unboxed types expanded, its arguments not.

use memtrail_types::term::{DeclarationId, Definition, Term, TermId};

use crate::builtin::Builtin;
use crate::instances::{Instances, NO_TYPE, Type, TypeId};
use crate::instantiate::Bindings;

/// Abbreviations of abbreviations are followed so far.
const MAX_EXPANSIONS: usize = 100;
/// Steps of matching a pattern with a type; more are those of a damaged file.
const MAX_MATCHED: usize = 10_000;
/// Variables of a declaration.
const MAX_VARIABLES: u32 = 1 << 12;

impl Instances<'_> {
    /// What a type stands for. All types of functions stand for that of any function.
    pub(crate) fn head(&mut self, ty: TypeId) -> TypeId {
        match self.heads.get(ty.0 as usize) {
            Some(&NO_TYPE) => {}
            Some(&head) => return TypeId(head),
            None => return ty,
        }
        let mut at = ty;
        let mut steps = 0;
        while let Some(next) = self.expand(at) {
            steps += 1;
            if steps > MAX_EXPANSIONS {
                at = self.unknown("an abbreviation without end");
                break;
            }
            at = next;
        }
        if let Type::Arrow(..) = self.get(at) {
            at = self.id(Type::Function);
        }
        self.heads[ty.0 as usize] = at.0;
        at
    }

    /// What a declared type is an abbreviation of, or the type of what it holds without a box.
    fn expand(&mut self, ty: TypeId) -> Option<TypeId> {
        let Type::Declared(id, arguments) = self.get(ty) else { return None };
        let (id, table) = (*id, self.table);
        if self.builtin(id) != Builtin::None {
            return None;
        }
        let declaration = table.declaration(id)?;
        let (Definition::Alias(term) | Definition::Unboxed(term)) = &declaration.definition else {
            return None;
        };
        let arguments = arguments.clone();
        let bindings = self.bind(id, &arguments);
        let reason = format!("type variable of {}", declaration.name);
        Some(self.instantiate(*term, &bindings, &reason))
    }

    /// What the variables of a declaration stand for, with these arguments.
    pub(crate) fn bind(&mut self, declaration: DeclarationId, arguments: &[TypeId]) -> Bindings {
        let table = self.table;
        let Some(declaration) = table.declaration(declaration) else { return Vec::new() };
        let mut bindings = vec![None; declaration.variables.min(MAX_VARIABLES) as usize];
        self.match_all(&declaration.parameters, arguments, &mut bindings);
        bindings
    }

    /// Binds the variables of patterns to the parts of types that they match.
    pub(crate) fn match_all(
        &mut self,
        patterns: &[TermId],
        types: &[TypeId],
        bindings: &mut Bindings,
    ) {
        let table = self.table;
        let mut pairs: Vec<(TermId, TypeId)> =
            patterns.iter().copied().zip(types.iter().copied()).rev().collect();
        let mut steps = 0;
        while let Some((pattern, ty)) = pairs.pop() {
            steps += 1;
            if steps > MAX_MATCHED {
                return;
            }
            match table.term(pattern) {
                Some(Term::Variable(variable)) if *variable < MAX_VARIABLES => {
                    let place = *variable as usize;
                    if place >= bindings.len() {
                        bindings.resize(place + 1, None);
                    }
                    bindings[place].get_or_insert(ty);
                }
                Some(Term::Tuple(patterns)) => {
                    let head = self.head(ty);
                    if let Type::Tuple(types) = self.get(head)
                        && types.len() == patterns.len()
                    {
                        pairs.extend(patterns.iter().copied().zip(types.iter().copied()));
                    }
                }
                Some(Term::Array(pattern)) => {
                    let head = self.head(ty);
                    if let Type::Array(ty) = self.get(head) {
                        pairs.push((*pattern, *ty));
                    }
                }
                Some(Term::Arrow(arrow)) => {
                    if let Some((argument, result)) = self.arrow_of(ty) {
                        pairs.extend([(arrow.argument, argument), (arrow.result, result)]);
                    }
                }
                Some(Term::Lazy(pattern)) => {
                    let head = self.head(ty);
                    if let Type::Lazy(ty) = self.get(head) {
                        pairs.push((*pattern, *ty));
                    }
                }
                Some(Term::Declared(declaration, patterns)) => {
                    if let Some(types) = self.arguments_of(ty, *declaration)
                        && types.len() == patterns.len()
                    {
                        pairs.extend(patterns.iter().copied().zip(types));
                    }
                }
                Some(Term::Object(methods)) => {
                    let head = self.head(ty);
                    if let Type::Object(object, types) = self.get(head)
                        && let Some(Term::Object(found)) = table.term(*object)
                    {
                        for (method, ty) in found.iter().zip(types) {
                            if let Some(like) = methods.iter().find(|m| m.name == method.name) {
                                pairs.push((like.ty, *ty));
                            }
                        }
                    }
                }
                Some(Term::PolymorphicVariant(tags)) => {
                    let head = self.head(ty);
                    if let Type::PolymorphicVariant(variant, types) = self.get(head)
                        && let Some(Term::PolymorphicVariant(found)) = table.term(*variant)
                    {
                        let carrying = found.iter().filter(|tag| tag.argument.is_some());
                        for (tag, ty) in carrying.zip(types) {
                            let like = tags.iter().find(|like| like.name == tag.name);
                            if let Some(pattern) = like.and_then(|like| like.argument) {
                                pairs.push((pattern, *ty));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What the functions of a type take and return; [`Instances::head`] leaves that out.
    fn arrow_of(&mut self, ty: TypeId) -> Option<(TypeId, TypeId)> {
        let mut at = ty;
        for _ in 0..MAX_EXPANSIONS {
            if let Type::Arrow(_, argument, result) = self.get(at) {
                return Some((*argument, *result));
            }
            at = self.expand(at)?;
        }
        None
    }

    /// The arguments of a type that is an instance of a declaration, or an abbreviation of one.
    fn arguments_of(&mut self, ty: TypeId, wanted: DeclarationId) -> Option<Vec<TypeId>> {
        let mut at = ty;
        for _ in 0..MAX_EXPANSIONS {
            if let Type::Declared(declaration, arguments) = self.get(at)
                && *declaration == wanted
            {
                return Some(arguments.to_vec());
            }
            at = self.expand(at)?;
        }
        None
    }
}
