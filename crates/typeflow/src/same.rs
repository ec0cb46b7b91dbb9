//! Whether two types mean the same, however they are written.

use hashbrown::HashSet;
use memtrail_types::Slot;
use memtrail_types::term::{DeclarationId, Definition, Term};
use rustc_hash::FxBuildHasher;

use crate::instances::{Instances, Type, TypeId};

/// Pairs of parts that are compared; types that need more are taken to differ.
const MAX_PAIRS: usize = 1000;

impl Instances<'_> {
    /// Whether two types mean the same, with unknown parts taken to be whatever the other has. Types that refer to
    /// themselves are the same unless a difference is found.
    pub(crate) fn same(&mut self, a: TypeId, b: TypeId) -> bool {
        let mut seen: HashSet<(TypeId, TypeId), FxBuildHasher> = HashSet::default();
        let mut pairs = vec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            let (a, b) = (self.head(a), self.head(b));
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            if seen.len() > MAX_PAIRS || !self.same_outside(a, b, &mut pairs) {
                return false;
            }
        }
        true
    }

    /// Whether expanded types are the same but for their parts, which are added to `pairs`.
    fn same_outside(&self, a: TypeId, b: TypeId, pairs: &mut Vec<(TypeId, TypeId)>) -> bool {
        let table = self.table;
        let mut all = |a: &[TypeId], b: &[TypeId]| {
            pairs.extend(a.iter().copied().zip(b.iter().copied()));
            a.len() == b.len()
        };
        match (self.get(a), self.get(b)) {
            // `bytes` may have been made a string without a copy.
            (Type::Unknown(_), _) | (_, Type::Unknown(_)) | (Type::String(_), Type::String(_)) => {
                true
            }
            (Type::Tuple(a), Type::Tuple(b)) => all(a, b),
            (Type::Array(a), Type::Array(b)) | (Type::Lazy(a), Type::Lazy(b)) => all(&[*a], &[*b]),
            (Type::Declared(of_a, a), Type::Declared(of_b, b)) => {
                let name = |of: &DeclarationId| table.declaration(*of).map_or("", |of| &of.name);
                (of_a == of_b || is_instance(name(of_a), name(of_b))) && all(a, b)
            }
            (Type::PolymorphicVariant(of_a, a), Type::PolymorphicVariant(of_b, b)) => {
                match (table.term(*of_a), table.term(*of_b)) {
                    (Some(Term::PolymorphicVariant(x)), Some(Term::PolymorphicVariant(y))) => {
                        let key = |tag: &memtrail_types::term::PolymorphicTag| {
                            (tag.name.clone(), tag.argument.is_some())
                        };
                        x.iter().map(key).eq(y.iter().map(key)) && all(a, b)
                    }
                    _ => false,
                }
            }
            (Type::Object(of_a, a), Type::Object(of_b, b)) => {
                match (table.term(*of_a), table.term(*of_b)) {
                    (Some(Term::Object(x)), Some(Term::Object(y))) => {
                        x.iter().map(|m| &m.name).eq(y.iter().map(|m| &m.name)) && all(a, b)
                    }
                    _ => false,
                }
            }
            // A constructor without arguments is the exception itself.
            (Type::Extension(_), Type::Declared(of, _))
            | (Type::Declared(of, _), Type::Extension(_)) => {
                table.declaration(*of).is_some_and(|of| of.definition == Definition::Open)
            }
            // A constructor under another name.
            (Type::Extension(a), Type::Extension(b)) => {
                let of = |number: &u32| table.extensions.get(*number as usize);
                of(a)
                    .zip(of(b))
                    .is_some_and(|(a, b)| a.of == b.of && a.arguments.len() == b.arguments.len())
            }
            // One module, met under several signatures that have the same fields.
            (Type::Module(a), Type::Module(b)) => match (table.module(*a), table.module(*b)) {
                (Some(a), Some(b)) => {
                    let names = |slot: &Slot| slot.path.last().cloned();
                    a.slots.iter().map(names).eq(b.slots.iter().map(names))
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether one of two names is that of a type in a functor's body, and the other that of the same type in one of its
/// results: `Make(_).t` and `Make(String).t`.
fn is_instance(a: &str, b: &str) -> bool {
    let of_body = |body: &str, result: &str| {
        let Some((functor, _)) = body.split_once("(_)") else { return false };
        let inside = body.rsplit_once("(_)").map_or("", |(_, inside)| inside);
        let rest = result.strip_prefix(functor).and_then(|rest| rest.strip_prefix('('));
        rest.and_then(|rest| rest.strip_suffix(inside)).is_some_and(|rest| rest.ends_with(')'))
    };
    of_body(a, b) || of_body(b, a)
}

#[cfg(test)]
mod tests {
    use super::is_instance;

    #[test]
    fn types_in_functors_and_in_their_results() {
        for (body, result, wanted) in [
            ("Make(_).t", "Make(String).t", true),
            ("M.Make(_)(_).In.t", "M.Make(A)(B.C(D)).In.t", true),
            ("Make(_).t", "Make(String).u", false),
            ("Make(_).t", "Other(String).t", false),
            ("Make(_).t", "Make.t", false),
            ("Make(Int).t", "Make(String).t", false),
        ] {
            assert_eq!(is_instance(body, result), wanted, "{body} {result}");
            assert_eq!(is_instance(result, body), wanted, "{result} {body}");
        }
    }
}
