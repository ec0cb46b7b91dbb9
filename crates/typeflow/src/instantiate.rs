//! Terms with types for their variables.

use hashbrown::HashMap;
use memtrail_types::term::{Term, TermId};
use rustc_hash::FxBuildHasher;

use crate::instances::{Instances, NO_TYPE, Type, TypeId};

/// What variables stand for.
pub(crate) type Bindings = Vec<Option<TypeId>>;

/// The parts of a term.
pub(crate) fn parts(term: &Term) -> Vec<TermId> {
    match term {
        Term::Tuple(parts) | Term::Declared(_, parts) => parts.clone(),
        Term::Array(part) | Term::Lazy(part) => vec![*part],
        Term::Arrow(arrow) => vec![arrow.argument, arrow.result],
        Term::PolymorphicVariant(tags) => tags.iter().filter_map(|tag| tag.argument).collect(),
        Term::Object(methods) => methods.iter().map(|method| method.ty).collect(),
        _ => Vec::new(),
    }
}

/// A term to look at, or one whose parts are done: how many.
enum Step {
    Enter(TermId),
    Leave(TermId, usize),
}

impl Instances<'_> {
    /// The type of a term that has no variables, or whose variables nothing binds.
    pub(crate) fn closed(&mut self, term: TermId) -> TypeId {
        if let Some(&ty) = self.ground.get(term.0 as usize)
            && ty != NO_TYPE
        {
            return TypeId(ty);
        }
        self.instantiate(term, &Vec::new(), "type variable")
    }

    /// The type of a term; variables that have no binding are not known because they are `unbound`.
    pub(crate) fn instantiate(
        &mut self,
        term: TermId,
        bindings: &Bindings,
        unbound: &str,
    ) -> TypeId {
        let mut done: HashMap<TermId, (TypeId, bool), FxBuildHasher> = HashMap::default();
        // With each type whether its term is without variables.
        let mut results: Vec<(TypeId, bool)> = Vec::new();
        let mut steps = vec![Step::Enter(term)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(id) => {
                    match self.ground.get(id.0 as usize).copied() {
                        Some(NO_TYPE) => {}
                        Some(ty) => {
                            results.push((TypeId(ty), true));
                            continue;
                        }
                        None => {
                            results.push((self.unknown("damaged type"), false));
                            continue;
                        }
                    }
                    if let Some(result) = done.get(&id) {
                        results.push(*result);
                        continue;
                    }
                    let below = self.table.term(id).map(parts).unwrap_or_default();
                    // Parts come before what they are parts of, so this ends.
                    if below.iter().any(|part| *part >= id) {
                        results.push((self.unknown("damaged type"), false));
                        continue;
                    }
                    steps.push(Step::Leave(id, below.len()));
                    steps.extend(below.into_iter().rev().map(Step::Enter));
                }
                Step::Leave(id, count) => {
                    let parts = results.split_off(results.len() - count);
                    let is_ground = parts.iter().all(|(_, is_ground)| *is_ground);
                    let parts: Box<[TypeId]> = parts.into_iter().map(|(ty, _)| ty).collect();
                    let result = self.build(id, parts, is_ground, bindings, unbound);
                    if result.1 {
                        self.ground[id.0 as usize] = result.0.0;
                    }
                    done.insert(id, result);
                    results.push(result);
                }
            }
        }
        match results.pop() {
            Some((ty, _)) => ty,
            None => self.unknown("damaged type"),
        }
    }

    fn build(
        &mut self,
        id: TermId,
        parts: Box<[TypeId]>,
        is_ground: bool,
        bindings: &Bindings,
        unbound: &str,
    ) -> (TypeId, bool) {
        let table = self.table;
        let Some(term) = table.term(id) else { return (self.unknown("damaged type"), false) };
        let only = parts.first().copied();
        let ty = match term {
            Term::Variable(variable) => {
                let bound = bindings.get(*variable as usize).copied().flatten();
                return (bound.unwrap_or_else(|| self.unknown(unbound)), false);
            }
            Term::Unknown(reason) => Type::Unknown(self.texts.id(reason)),
            Term::Constant(name) => Type::Constant(self.texts.id(name)),
            Term::String(name) => Type::String(self.texts.id(name)),
            Term::Boxed(name) => Type::Boxed(self.texts.id(name)),
            Term::Float => Type::Float,
            Term::Function => Type::Function,
            Term::Arrow(arrow) => match parts[..] {
                [argument, result] => Type::Arrow(self.texts.id(&arrow.label), argument, result),
                _ => return (self.unknown("damaged type"), false),
            },
            Term::FloatArray => Type::FloatArray,
            Term::Tuple(_) => Type::Tuple(parts),
            Term::Array(_) | Term::Lazy(_) => match (term, only) {
                (Term::Array(_), Some(part)) => Type::Array(part),
                (_, Some(part)) => Type::Lazy(part),
                (_, None) => return (self.unknown("damaged type"), false),
            },
            Term::Declared(declaration, _) => Type::Declared(*declaration, parts),
            Term::PolymorphicVariant(_) => Type::PolymorphicVariant(id, parts),
            Term::Object(_) => Type::Object(id, parts),
            Term::Package(module) => Type::Module(*module),
        };
        (self.id(ty), is_ground)
    }
}
